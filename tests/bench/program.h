/*
 * A program with a wide call tree, as a stream of calls and returns, the same on every run. First
 * each path is called once, so that their number is known, then the program walks up and down at
 * random among these paths; functions are chosen by Zipf's law.
 */
#ifndef PROFMOUNT_TESTS_BENCH_PROGRAM_H
#define PROFMOUNT_TESTS_BENCH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct program_shape {
	uint32_t functions, paths;
	uint32_t depth; /* at most */
	double skew;    /* exponent of Zipf's law: 1 as in real programs, 0 = all alike */
};

struct program_event {
	bool call; /* else a return */
	uint32_t function;
	uint32_t depth; /* 1 at the top */
};

/*
 * `PATHS[,FUNCTIONS[,DEPTH[,SKEW]]]`, by default 2000 functions, 30 deep, 1. Ends the program where
 * it is no shape, or where there are not so many paths.
 */
struct program_shape program_parse(const char *text);

struct program *program_new(struct program_shape shape);
struct program *program_free(struct program *w); /* returns NULL */

/* The next event; there is always one, until program_end was called and all calls have returned. */
bool program_next(struct program *w, struct program_event *ret);

/* From now on there are returns alone. */
void program_end(struct program *w);

/* Has each path been called once? */
bool program_is_complete(const struct program *w);

#endif
