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

#endif
