/* Costly perf.data and callgrind.out. */
#include <stdint.h>
#include <stdio.h>

#include "tests/cost/costly.h"

enum { IP = 1, TID = 2, TIME = 4, CALLCHAIN = 32, FRAMES = 8 };

static FILE *file;

static void end(void)
{
	if (ferror(file) || fclose(file) != 0)
		costly_die(costly_path);
}

static int goes_on(void)
{
	return (size_t)ftell(file) < costly_bytes;
}

static void put(uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		putc((int)(v >> 8 * i & 255), file);
}

static void record(unsigned type, unsigned misc, unsigned size)
{
	put(type, 4);
	put(misc, 2);
	put(8 + size, 2);
}

static void begin(void)
{
	file = fopen(costly_path, "wb");
	if (!file)
		costly_die(costly_path);
}

/* A pipe with one event, cycles. */
static void begin_perf(void)
{
	const uint64_t attr[] = {
		(uint64_t)64 << 32, 0, 1000, IP | TID | TIME | CALLCHAIN, 0, 0, 0, 0};
	begin();
	fputs("PERFILE2", file);
	put(16, 8);
	record(64, 0, sizeof(attr));
	for (unsigned i = 0; i < 8; i++)
		put(attr[i], 8);
}

static void sample(unsigned pid, uint64_t time, uint64_t ip)
{
	record(9, 2, 32 + 8 * FRAMES);
	put(ip, 8);
	put(pid, 4);
	put(pid, 4);
	put(time, 8);
	put(FRAMES, 8);
	for (unsigned i = 0; i < FRAMES; i++)
		put(ip - i, 8);
}

/* Runs of two samples, one before and one behind all others: all of them are open at once. */
void costly_perf_runs(void)
{
	begin_perf();
	for (uint64_t n = 1; goes_on(); n++) {
		sample(7, UINT64_C(1) << 40 | n % 2 << 20 | n, n % 512 * 64);
		sample(7, (UINT64_C(1) << 41) - n, n % 512 * 64 + 32);
	}
	end();
}

/* Each process is a child of the last one and maps a file more: all that its ancestors have, too.
 */
void costly_perf_forks(void)
{
	begin_perf();
	for (unsigned n = 1; goes_on(); n++) {
		const unsigned pid[] = {n + 1, n, n + 1, n};
		record(7, 0, sizeof(pid) + 8);
		for (unsigned i = 0; i < 4; i++)
			put(pid[i], 4);
		put(n, 8);
		record(1, 2, 40);
		put(n + 1, 4);
		put(n + 1, 4);
		put((uint64_t)n << 12, 8);
		put(4096, 8);
		put(0, 8);
		fwrite("/m\0\0\0\0\0", 1, 8, file);
		if (n % 64 == 0)
			sample(n + 1, n, ((uint64_t)n / 2 << 12) + n % 512 + FRAMES);
	}
	end();
}

/* Lines and calls that never come in the order of the last time. */
void costly_callgrind_orders(void)
{
	enum { FUNCTIONS = 64 };
	begin();
	fputs("# callgrind format\ncreator: callgrind-3\npositions: line\nevents: Ir\n", file);
	for (uint32_t n = 0; goes_on(); n++) {
		uint32_t x = n * 2654435761u;
		fprintf(file, "fn=f%u\n%u 1\ncfn=g%u\ncalls=1 1\n%u %u\n", x % FUNCTIONS,
			x >> 8 & 4095, x >> 12 & 1023, x >> 8 & 4095, x >> 20);
	}
	fputs("\n", file);
	end();
}
