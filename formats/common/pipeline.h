/* Work on many things with all cores, whose results are taken in order. */
#ifndef PROFMOUNT_PIPELINE_H
#define PROFMOUNT_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

struct pm_pipeline {
	uint32_t n;  /* items of work */
	size_t size; /* of a result */
	/* Makes result i, which is zeroed before. Several at once. A failure ends the run. */
	int (*make)(void *context, uint32_t i, void *result);
	/* Takes results in order, one at a time, and may keep what they own. */
	int (*take)(void *context, uint32_t i, void *result);
	/* Frees what a result still owns; also one that was never made. NULL: it owns nothing. */
	void (*drop)(void *result);
	void *context;
	/*
	 * How much result i will take, in any unit: no more are begun while those that exist would
	 * take more than `most` together, but for the one that is taken next. NULL: all alike.
	 */
	uint64_t (*weigh)(void *context, uint32_t i);
	uint64_t most;
};

/* 0 or the first failure. At most 64 results exist at a time, however many there are in all. */
int pm_pipeline_run(const struct pm_pipeline *p);

#endif
