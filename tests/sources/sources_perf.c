/* perf.data: a file and a pipe, in both byte orders, with forks, exec, kernel and BPF. */
#include "tests/sources/make_sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/text.h"

enum { MMAP = 1, COMM = 3, FORK = 7, SAMPLE = 9, KSYMBOL = 17, ATTR = 64, FINISHED_INIT = 82 };

struct out {
	struct pm_text text;
	bool big;
};

static void put(struct out *o, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		pm_text_char(&o->text, (char)(value >> 8 * (o->big ? bytes - 1 - i : i)));
}

static void put_text(struct out *o, const char *text)
{
	size_t n = strlen(text) + 1;
	pm_text_add(&o->text, text, n);
	for (; n % 8; n++)
		pm_text_char(&o->text, 0);
}

/* perf_event_attr of 64 bytes: cpu-clock with IP, TID, TIME, CALLCHAIN, PERIOD; ids and times on
 * all records. */
static void put_attr(struct out *o)
{
	static const uint8_t little[8] = {0x00, 0x04, 0x04, 0, 0, 0, 0, 0};
	static const uint8_t other[8] = {0x00, 0x20, 0x20, 0, 0, 0, 0, 0};
	put(o, 1, 4);
	put(o, 64, 4);
	put(o, 0, 8);
	put(o, 99, 8);
	put(o, 0x127, 8);
	put(o, 0, 8);
	pm_text_add(&o->text, o->big ? other : little, 8);
	put(o, 0, 8);
	put(o, 0, 8);
}

/* A record's head; `size` is that of what follows it. */
static void head(struct out *o, unsigned type, unsigned misc, unsigned size)
{
	put(o, type, 4);
	put(o, misc, 2);
	put(o, size + 8, 2);
}

static void trailer(struct out *o, unsigned pid, unsigned tid, uint64_t time)
{
	put(o, pid, 4);
	put(o, tid, 4);
	put(o, time, 8);
}

static unsigned padded(const char *text)
{
	return (unsigned)(strlen(text) + 8) & ~7u;
}

static void map(struct out *o, unsigned mode, uint32_t pid, uint64_t start, uint64_t length,
	const char *name, uint64_t time)
{
	head(o, MMAP, mode, 32 + padded(name) + 16);
	put(o, pid, 4);
	put(o, pid, 4);
	put(o, start, 8);
	put(o, length, 8);
	put(o, 0x1000, 8);
	put_text(o, name);
	trailer(o, pid, pid, time);
}

static void comm(
	struct out *o, unsigned misc, unsigned pid, unsigned tid, const char *name, uint64_t time)
{
	head(o, COMM, misc, 8 + padded(name) + 16);
	put(o, pid, 4);
	put(o, tid, 4);
	put_text(o, name);
	trailer(o, pid, tid, time);
}

static void forked(struct out *o, unsigned pid, unsigned parent, unsigned tid, uint64_t time)
{
	head(o, FORK, 0, 24 + 16);
	put(o, pid, 4);
	put(o, parent, 4);
	put(o, tid, 4);
	put(o, parent, 4);
	put(o, time, 8);
	trailer(o, pid, tid, time);
}

static void sample(struct out *o, unsigned mode, unsigned pid, unsigned tid, uint64_t time,
	const uint64_t *chain, unsigned n)
{
	head(o, SAMPLE, mode, 8 + 8 + 8 + 8 + 8 + 8 * n);
	put(o, n > 1 ? chain[1] : 0x77, 8);
	put(o, pid, 4);
	put(o, tid, 4);
	put(o, time, 8);
	put(o, 1000000 + tid, 8);
	put(o, n, 8);
	for (unsigned i = 0; i < n; i++)
		put(o, chain[i], 8);
}

/* Names that are in the file itself, as those of BPF programs are; each is 256 bytes of code. */
static void symbol(struct out *o, uint64_t start, const char *name)
{
	head(o, KSYMBOL, 0, 16 + padded(name) + 16);
	put(o, start, 8);
	put(o, 0x100, 4);
	put(o, 1, 2);
	put(o, 0, 2);
	put_text(o, name);
	trailer(o, UINT32_MAX, UINT32_MAX, 0);
}

static void records(struct out *o)
{
	const uint64_t kernel = (uint64_t)-128, user = (uint64_t)-512;
	const uint64_t work[] = {user, 0x400123, 0x400456, 0x400789};
	const uint64_t deep[] = {kernel, UINT64_C(0xffffffff81000300), UINT64_C(0xffffffffa0010020),
		user, 0x400456, 0x400789};
	const uint64_t other[] = {user, 0x500010};
	map(o, 1, UINT32_MAX, UINT64_C(0xffffffff81000000), 0x1000000, "[kernel.kallsyms]_text", 0);
	symbol(o, UINT64_C(0xffffffffa0010000), "bpf_prog_7 trace");
	comm(o, 0x2000, 10, 10, "prog", 5);
	map(o, 2, 10, 0x400000, 0x10000, "/opt/x/prog", 6);
	sample(o, 2, 10, 10, 20, work, 4);
	sample(o, 1, 10, 10, 30, deep, 6);
	forked(o, 10, 10, 11, 40);
	comm(o, 0, 10, 11, "worker one", 41);
	sample(o, 2, 10, 11, 50, work, 4);
	forked(o, 20, 10, 20, 60);
	sample(o, 2, 20, 20, 70, work, 4);
	comm(o, 0x2000, 20, 20, "child", 80);
	sample(o, 2, 20, 20, 90, work, 4); /* its maps are gone */
	sample(o, 2, 20, 20, 110, other, 2);
	map(o, 2, 20, 0x500000, 0x1000, "//anon", 100); /* written late */
	sample(o, 2, 10, 10, 25, work, 4);
	sample(o, 2, 0, 0, 120, work, 0);
}

/* A file with these records. */
static void write_data(const char *name, const struct out *data)
{
	struct out o = {.big = data->big};
	pm_text_add(&o.text, o.big ? "2ELIFREP" : "PERFILE2", 8);
	put(&o, 104, 8);
	put(&o, 80, 8);
	put(&o, 104, 8);
	put(&o, 80, 8);
	put(&o, 184, 8);
	put(&o, data->text.len, 8);
	for (int i = 0; i < 6; i++)
		put(&o, 0, 8);
	put_attr(&o);
	put(&o, 0, 8);
	put(&o, 0, 8);
	pm_text_bytes(&o.text, pm_text_view(&data->text));
	sources_file(name, pm_text_view(&o.text));
	pm_text_done(&o.text);
}

static void write_file(const char *name, bool big, bool with_records)
{
	struct out data = {.big = big};
	if (with_records)
		records(&data);
	else
		head(&data, FINISHED_INIT, 0, 0);
	write_data(name, &data);
	pm_text_done(&data.text);
}

/* A sample each ms, in parse() and then in print(); recordings of one build are not all alike. */
void sources_write_builds(void)
{
	static const int noise[] = {0, 1, -1, 2, -2, 1, 0, -1, 1, 0};
	const uint64_t parse = UINT64_C(0xffffffffa0010000), print = UINT64_C(0xffffffffa0020000);
	for (unsigned i = 0; i < 20; i++) {
		struct out data = {.big = false};
		bool after = i >= 10;
		int n_parse = (after ? 150 : 100) + noise[i % 10], n_print = 50 - noise[9 - i % 10];
		char name[40];
		symbol(&data, parse, "parse");
		symbol(&data, print, "print");
		comm(&data, 0x2000, 7, 7, "app", 5);
		map(&data, 2, 7, 0x400000, 0x10000, "/bin/app", 6);
		for (int k = 0; k < n_parse + n_print; k++)
			sample(&data, 1, 7, 7, 1000000000 + (uint64_t)k * 1000000,
				(uint64_t[]){(uint64_t)-128, k < n_parse ? parse + 16 : print + 16,
					(uint64_t)-512, 0x400789},
				4);
		snprintf(name, sizeof(name), "builds/%s-%u.data", after ? "after" : "before",
			i % 10 + 1);
		write_data(name, &data);
		pm_text_done(&data.text);
	}
}

void sources_write_perf(void)
{
	struct out o = {.big = false};
	write_file("new.perf.data", false, true);
	write_file("big.perf.data", true, true);
	pm_text_add(&o.text, "PERFILE2", 8);
	put(&o, 16, 8);
	head(&o, ATTR, 0, 64);
	put_attr(&o);
	records(&o);
	o.text.len -= 5; /* cut within the last record */
	sources_file("pipe.perf.data", pm_text_view(&o.text));
	/* A directory of perf record --threads: the header apart, and a stream of records. */
	if (mkdir(sources_path("perf.dir"), 0777) != 0 && errno != EEXIST)
		sources_die("perf.dir");
	write_file("perf.dir/data", false, false);
	o.text.len = 0;
	records(&o);
	sources_file("perf.dir/data.0", pm_text_view(&o.text));
	pm_text_done(&o.text);
}
