/* Paths are numbered as in a heap: those below path p are p * width + 1 and so on. */
#include "tests/bench/wide.h"

#include "tests/bench/make.h"

enum { FUNCTIONS = 2000, DEPTH = 8, MOST_CALLS = 4 };

void wide_init(struct wide *w, int argc, char **argv)
{
	uint64_t depth = argc > 2 ? make_number(argv[2]) : DEPTH, paths = 0;
	*w = (struct wide){.functions = FUNCTIONS};
	if (argc > 0)
		w->paths = (uint32_t)make_number(argv[0]);
	if (argc > 1)
		w->functions = (uint32_t)make_number(argv[1]);
	while (w->paths && paths < w->paths) {
		uint64_t level = 1;
		w->width++;
		paths = 0;
		for (uint64_t i = 0; i < depth && paths < w->paths; i++)
			paths += level *= w->width;
	}
}

/* 0 to 2^32 - 1 */
static uint32_t draw(struct wide *w)
{
	w->state += 0x9e3779b9;
	return make_mix((uint32_t)w->state ^ make_mix((uint32_t)(w->state >> 32)));
}

/* 0 to n - 1, the smaller ones more often: the n-th share of all draws goes as 1 / sqrt. */
static uint32_t skew(uint32_t random, uint32_t n)
{
	uint64_t square = (uint64_t)random * random >> 32;
	return (uint32_t)(square * n >> 32);
}

uint32_t wide_child(struct wide *w, uint32_t path)
{
	uint64_t child = (uint64_t)path * w->width + 1 + skew(draw(w), w->width);
	return child < w->paths ? (uint32_t)child : 0;
}

uint32_t wide_calls(struct wide *w)
{
	return draw(w) % (MOST_CALLS + 1);
}

uint32_t wide_function(const struct wide *w, uint32_t path)
{
	return skew(make_mix(path), w->functions);
}
