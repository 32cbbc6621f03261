/* How a cost is spread over threads: of one context, or of all of them at once. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H

#include "fs/views/model/views.h"

/* Of one column over the threads with a value of it at the context. */
struct pmfs_spread {
	uint32_t n;       /* threads; 0: no thread has a value here */
	uint32_t slowest; /* thread index with the maximum, the lowest of several */
	double min, max, mean;
	double squares; /* sum of (value - mean)² */
};

/* Adds a thread's value; each thread once. */
void pmfs_spread_add(struct pmfs_spread *s, double value, uint32_t thread);

/* One that is not kept in a table: where few contexts have a value of a column. */
struct pmfs_lone_spread {
	uint64_t place; /* context × columns + column */
	struct pmfs_spread spread;
};

/* Of all contexts, for profiles that have their costs thread by thread. */
struct pmfs_spreads {
	uint32_t *n_threads;            /* by context: with a value there */
	struct pmfs_spread *spreads;    /* by context, then column; NULL: they are alone */
	struct pmfs_lone_spread *alone; /* by place */
	size_t n_alone;
};

/*
 * Those of a context by column: in place, or copied to `own`, room for `n_columns`. O(n_columns +
 * log n).
 */
const struct pmfs_spread *pmfs_spreads_of(const struct pmfs_spreads *s, uint32_t context,
	uint32_t n_columns, struct pmfs_spread *own);

/* Reads the costs of every thread once, threads in parallel, and keeps the result. */
int pmfs_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err);

#endif
