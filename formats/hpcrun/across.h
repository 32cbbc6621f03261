/*
 * Values and costs of contexts over all threads. Files store them thread by thread, so a block of
 * contexts is computed at once by reading every file.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_ACROSS_H
#define PROFMOUNT_FORMATS_HPCRUN_ACROSS_H

#include "formats/hpcrun/costs.h"

enum hpcrun_across_of { HPCRUN_ACROSS_COSTS, HPCRUN_ACROSS_VALUES };

struct hpcrun_across_cell {
	uint32_t thread;
	uint32_t metric : 31, whole : 1;
	union {
		uint64_t bits; /* also of a double as it is stored */
		double cost;
	};
};

struct hpcrun_across {
	struct pm_cached cached;
	uint32_t first, n;                /* contexts */
	uint64_t *start;                  /* n + 1: of each context's cells */
	struct hpcrun_across_cell *cells; /* by context, thread, then in the order of the thread */
};

/* The block of a context. O(log n). */
uint32_t hpcrun_block_of(const struct hpcrun_merged *m, uint32_t context);

/* Reads all files, on all cores. 0 or -ENOMEM. Free with (*ret)->cached.free. */
int hpcrun_across_read(const struct hpcrun_run *run, uint32_t block, enum hpcrun_across_of of,
	struct hpcrun_across **ret);

/* As pm_profile_ops.values, of a context of that block. */
int64_t hpcrun_across_fill(const struct hpcrun_across *a, const struct hpcrun_merged *m,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room);

#endif
