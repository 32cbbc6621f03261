/*
 * Work of known cost, for test_law.py:
 *
 *     planted KIND N
 *
 * does what KIND says for a source of N bytes, and prints it as count does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cost/counted.h"

enum { ONE = 64 }; /* bytes of an item of the source */

static volatile unsigned sink;

static void loop(size_t times)
{
	for (size_t i = 0; i < times; i++)
		if (i % 3 == 0)
			sink = sink + 1;
}

static void work_unasked(size_t n)
{
	loop(n);
}

static void work_linear(size_t n)
{
	for (size_t i = 0; i < n / ONE; i++) {
		loop(ONE);
		counted_asked();
	}
}

/* Each item looks through all before it. */
static void work_quadratic(size_t n)
{
	for (size_t i = 0; i < n / ONE; i++) {
		loop(i);
		counted_asked();
	}
}

/* The same without a loop of our own: what the C library does is work, too. */
static void work_copies(size_t n)
{
	char *from = calloc(1, n), *to = malloc(n);
	if (!from || !to)
		exit(1);
	for (size_t i = 0; i < n / ONE; i++) {
		memcpy(to, from, i * ONE);
		counted_asked();
	}
	sink = sink + (unsigned char)to[n / 2];
	free(from);
	free(to);
}

/* One block of n²: 20 MB for n = 100,000. */
static void work_memory(size_t n)
{
	char *block = malloc(n / 20 * (n / 25));
	if (!block)
		exit(1);
	block[0] = 1;
	sink = sink + (unsigned char)block[0];
	free(block);
	loop(n);
}

static const struct {
	const char *name;
	void (*work)(size_t n);
} kinds[] = {
	{"linear", work_linear},
	{"unasked", work_unasked},
	{"quadratic", work_quadratic},
	{"copies", work_copies},
	{"memory", work_memory},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		uint64_t before = counted_work();
		kinds[i].work(strtoull(argv[2], NULL, 10));
		uint64_t done = counted_work() - before, where, unasked = counted_unasked(&where);
		printf("%llu 0 %llu %llu@%llx (check)\n", (unsigned long long)done,
			(unsigned long long)counted_peak_bytes(), (unsigned long long)unasked,
			(unsigned long long)where);
		return 0;
	}
	fprintf(stderr, "usage: planted linear|unasked|quadratic|copies|memory N\n");
	return 2;
}
