/*
 * Memory that runs out when a test says so: stands between the program and the allocator (linked
 * with --wrap, see meson.build), counts, and fails a call of its choice. zlib's memory, threads and
 * open directories count as allocations, too.
 */
#ifndef PROFMOUNT_TESTS_FAULTS_FAILING_H
#define PROFMOUNT_TESTS_FAULTS_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What fails: allocations, which is so at the start, or questions whether work is still wanted
 * (pm_work_cancelled), which are answered as if it were not where a work is registered.
 */
void failing_choose(bool questions);

/* From now on allocation or question `n` fails, counted from 1, and with `lasting` all that
 * follow; 0: none. */
void failing_start(size_t n, bool lasting);

/* Allocations or questions since failing_start. */
size_t failing_count(void);

/* Blocks that are allocated and not freed. */
long failing_held(void);

#endif
