/*
 * A call tree with many paths, for the generators of large sources: of a given width and depth,
 * with power-law distributions of calls and functions, always the same. It takes no memory.
 */
#ifndef PROFMOUNT_TESTS_BENCH_WIDE_H
#define PROFMOUNT_TESTS_BENCH_WIDE_H

#include <stdint.h>

struct wide {
	uint32_t paths, functions; /* paths == 0: none was asked for */
	uint32_t width;            /* children of each path */
	uint64_t state;
};

/* Takes `[PATHS [FUNCTIONS [DEPTH]]]`: 2000 functions and 8 levels if not given. */
void wide_init(struct wide *w, int argc, char **argv);

/* A path below this one (0: the top), or 0 where there is none. Few of them are taken often. */
uint32_t wide_child(struct wide *w, uint32_t path);

/* How many calls a call of that path makes now: 0 to 4. */
uint32_t wide_calls(struct wide *w);

/* Its function: few of them stand at many places. */
uint32_t wide_function(const struct wide *w, uint32_t path);

#endif
