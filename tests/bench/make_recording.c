/*
 * Writes big recordings, the same bytes every time:
 *
 *     make_recording FILE perf|callgrind MEGABYTES
 *
 * perf: what `perf record -g -F` writes of a program with eight threads on four processors, by
 * frame pointers: each processor's samples are in order, those of all are not. callgrind: functions
 * with costs by line, calls, and names compressed, as valgrind --tool=callgrind has them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/make.h"

enum { FUNCTIONS = 4000, THREADS = 8, PROCESSORS = 4, ROUND = 500, DEPTH = 40 };
enum { KERNEL_MODE = 1, USER_MODE = 2 };
#define KERNEL_TEXT UINT64_C(0xffffffff81000000)
#define PROGRAM     UINT64_C(0x400000)

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	return make_mix(++seed) % n;
}

/* ---- perf ---- */

/* IP, TID, TIME, CALLCHAIN, CPU, PERIOD; with these, of other records: TID, TIME, CPU. */
enum { SAMPLE_TYPE = 1 | 2 | 4 | 32 | 128 | 256, TRAILER = 24 };
static uint64_t written;
static bool dry; /* only counted */

static void put(uint64_t v, unsigned bytes)
{
	if (!dry)
		out_int(v, bytes);
}

static void record(uint32_t type, unsigned misc, unsigned size)
{
	put(type, 4);
	put(misc, 2);
	put(size, 2);
	written += size;
}

static void trailer(unsigned tid)
{
	put(100, 4);
	put(tid, 4);
	put(1000, 8);
	put(0, 8);
}

static void map(unsigned mode, uint64_t pid, uint64_t start, uint64_t length, uint64_t offset,
	const char *name)
{
	char padded[64] = "";
	unsigned n = (unsigned)(strlen(name) + 8) & ~7u;
	strcpy(padded, name);
	record(1, mode, 8 + 32 + n + TRAILER);
	put(pid, 4);
	put(pid, 4);
	put(start, 8);
	put(length, 8);
	put(offset, 8);
	for (unsigned i = 0; i < n; i++)
		put((uint8_t)padded[i], 1);
	trailer(100);
}

/* What each thread runs: frames from the outermost on, by a hash of those up to there. */
static struct {
	uint32_t place[DEPTH];
	unsigned n;
} threads[THREADS];

/*
 * Between two samples of a thread a few calls end and others begin. A function calls one other most
 * of the time.
 */
static void sample(uint64_t time, unsigned processor)
{
	unsigned which = below(THREADS), n = threads[which].n, gone = 1 + below(3) * below(4);
	unsigned depth = 16 + below(8) + below(8), kernel = below(8) == 0 ? 4 : 0;
	uint32_t *place = threads[which].place, tid = 100 + which;
	uint64_t chain[DEPTH + 4];
	for (n = n > gone ? n - gone : 0; n < depth; n++)
		place[n] = make_mix((n ? place[n - 1] : 1) * 4 + (below(32) ? 0 : 1 + below(2)));
	threads[which].n = n;
	for (unsigned i = 0; i < n; i++)
		chain[i] = PROGRAM + (uint64_t)(place[i] % FUNCTIONS) * 256 + place[i] % 8 * 4;
	for (unsigned i = 0; i < kernel; i++)
		chain[n++] = KERNEL_TEXT + (uint64_t)(i * 7 + below(5)) * 512 + 16;
	unsigned markers = kernel ? 2 : 1;
	record(9, kernel ? KERNEL_MODE : USER_MODE, 8 + 8 + 8 + 8 + 8 + 8 + 8 + 8 * (n + markers));
	put(chain[n - 1], 8);
	put(100, 4);
	put(tid, 4);
	put(time, 8);
	put(processor, 8);
	put(1000000 + below(1000), 8);
	put(n + markers, 8);
	for (unsigned i = n; i-- > 0;) {
		if (kernel && i + 1 == n)
			put((uint64_t)-128, 8);
		if (i + 1 == n - kernel)
			put((uint64_t)-512, 8);
		put(chain[i], 8);
	}
}

/* The same records each time, the first time only counted. */
static void records(uint64_t bytes)
{
	const uint64_t ns = 2000000; /* between samples of a processor */
	written = seed = 0;
	memset(threads, 0, sizeof(threads));
	map(KERNEL_MODE, UINT32_MAX, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text");
	map(USER_MODE, 100, PROGRAM, (uint64_t)FUNCTIONS * 256, 0, "/opt/bench/program");
	for (uint64_t time = 2000000000; written < bytes; time += ns * ROUND) {
		for (unsigned p = 0; p < PROCESSORS; p++)
			for (uint64_t i = 0; i < ROUND; i++)
				sample(time + i * ns + p * 500, p);
		record(68, 0, 8); /* FINISHED_ROUND */
	}
}

static void make_perf(const char *path, uint64_t bytes)
{
	const uint64_t frequency = 1 << 10, ids_of_all = 1 << 18;
	const uint64_t attr[14] = {
		1 | (uint64_t)96 << 32, 0, 1000, SAMPLE_TYPE, 4, frequency | ids_of_all};
	dry = true;
	records(bytes);
	dry = false;
	const uint64_t head[12] = {104, 112, 104, 112, 216, written};
	out_open(NULL, path);
	out_bytes("PERFILE2", 8);
	for (size_t i = 0; i < 12; i++)
		out_int(head[i], 8);
	for (size_t i = 0; i < 14; i++)
		out_int(attr[i], 8);
	records(bytes);
	out_close();
}

/* ---- callgrind ---- */

static char line[256];

static void print(size_t n)
{
	out_bytes(line, n);
	written += n;
}

#define PRINT(...) print((size_t)snprintf(line, sizeof(line), __VA_ARGS__))

/* A name is written once, and is its number afterwards. */
static void name(
	const char *key, unsigned i, unsigned *known, const char *prefix, const char *suffix)
{
	if (known[i]++)
		PRINT("%s=(%u)\n", key, i + 1);
	else
		PRINT("%s=(%u) %s%u%s\n", key, i + 1, prefix, i, suffix);
}

/* What the cost lines of a part add up to. */
static uint64_t total[2];

static void cost(const char *where)
{
	unsigned ir = 1 + below(900), dr = below(300);
	PRINT("%s %u %u\n", where, ir, dr);
	total[0] += ir;
	total[1] += dr;
}

/* A function of a part: costs by line, and calls, from the same places in each part. */
static void function(unsigned f)
{
	static unsigned files[FUNCTIONS / 20], functions[FUNCTIONS];
	char first[16];
	snprintf(first, sizeof(first), "%u", f % 1000 + 1);
	name("fl", f / 20, files, "/src/part", ".c");
	name("fn", f, functions, "work_on_", "(int, char const*)");
	cost(first);
	for (unsigned i = 0; i < 12; i++) {
		/* Only onwards, so that there are no circles. */
		unsigned callee = f + 1 + make_mix(f * 12 + i) % (FUNCTIONS / 8);
		cost(i % 3 ? "+1" : "+2");
		if (i % 4 || callee >= FUNCTIONS)
			continue;
		name("cfi", callee / 20, files, "/src/part", ".c");
		name("cfn", callee, functions, "work_on_", "(int, char const*)");
		PRINT("calls=%u %u\n+0 %u %u\n", 1 + below(40), callee % 1000 + 1,
			1000 + below(100000), below(30000));
	}
	PRINT("\n");
}

static void make_callgrind(const char *path, uint64_t bytes)
{
	out_open(NULL, path);
	PRINT("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 100\n"
	      "cmd: /opt/bench/program\n");
	for (unsigned part = 1; written < bytes; part++) {
		total[0] = total[1] = 0;
		PRINT("\npart: %u\ndesc: Trigger: Program termination\npositions: line\n"
		      "events: Ir Dr\n\nob=(1)%s\n",
			part, part == 1 ? " /opt/bench/program" : "");
		for (unsigned f = 0; f < FUNCTIONS; f++)
			function(f);
		PRINT("totals: %llu %llu\n", (unsigned long long)total[0],
			(unsigned long long)total[1]);
	}
	out_close();
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: %s FILE perf|callgrind MEGABYTES\n", argv[0]);
		return 2;
	}
	(strcmp(argv[2], "perf") == 0 ? make_perf : make_callgrind)(
		argv[1], make_number(argv[3]) * 1000000);
	return 0;
}
