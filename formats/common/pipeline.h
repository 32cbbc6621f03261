/* Processes many items on all cores, and takes their results in order. */
#ifndef PROFMOUNT_PIPELINE_H
#define PROFMOUNT_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/common/arena.h"

struct pm_pipeline {
	uint32_t n;  /* items of work */
	size_t size; /* of a result */
	/*
	 * Makes result i, which is zeroed before; called by several threads at once. A failure ends
	 * the run.
	 */
	int (*make)(void *context, uint32_t i, void *result);
	/*
	 * The same as a build (arena.h), in place of `make`. The arena is dropped with the build:
	 * it has what the result needs only while it is made.
	 */
	void (*build)(struct pm_arena *a, void *context, uint32_t i, void *result);
	/* Takes the results in order, one at a time; may take over what they own. */
	int (*take)(void *context, uint32_t i, void *result);
	/*
	 * Frees what a result still owns; also called for results that were never made. NULL:
	 * results own nothing.
	 */
	void (*drop)(void *result);
	void *context;
	/*
	 * Expected size of result i, in any unit: no further result is started while the existing
	 * ones take more than `most` together, except the one to be taken next. NULL: all have the
	 * same size.
	 */
	uint64_t (*weigh)(void *context, uint32_t i);
	uint64_t most;
};

/* 0 or the first failure. At most 64 results exist at a time. */
int pm_pipeline_run(const struct pm_pipeline *p);

#endif
