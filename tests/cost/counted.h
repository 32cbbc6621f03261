/*
 * What a program does, counted rather than timed: basic blocks that were entered (the compiler's
 * -fsanitize-coverage=trace-pc), a unit for each 16 bytes that the C library copies, compares or
 * looks through, and the most bytes that were allocated at once. The same on every run that does
 * the same, but for threads.
 */
#ifndef PROFMOUNT_TESTS_COST_COUNTED_H
#define PROFMOUNT_TESTS_COST_COUNTED_H

#include <stdint.h>

uint64_t counted_work(void);
uint64_t counted_peak_bytes(void);

/* This thread asks whether its work is still wanted. */
void counted_asked(void);

/*
 * The most work that a thread did without asking since this was last called, and where it was in
 * the midst of it: an address relative to the program's, 0 where it was little.
 */
uint64_t counted_unasked(uint64_t *ret_where);

#endif
