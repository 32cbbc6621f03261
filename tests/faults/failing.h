/*
 * Memory that runs out when a test says so: stands between the program and the allocator (linked
 * with --wrap, see meson.build), counts, and fails a call of its choice. zlib's memory, threads and
 * open directories count as allocations, too.
 */
#ifndef PROFMOUNT_TESTS_FAULTS_FAILING_H
#define PROFMOUNT_TESTS_FAULTS_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/* From now on allocation `n` fails, counted from 1, and with `lasting` all that follow; 0: none. */
void failing_start(size_t n, bool lasting);

/* Allocations since failing_start. */
size_t failing_count(void);

/* Blocks that are allocated and not freed. */
long failing_held(void);

#endif
