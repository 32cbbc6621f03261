/* The distribution of costs over threads, for one context or for all at once. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H

#include "fs/views/model/views.h"

/* For one column, over the threads with a value in it at the context. */
struct pmfs_spread {
	uint32_t n; /* number of threads with a value */
	uint32_t
		slowest; /* index of the thread with the maximum; the lowest if there are several */
	double min, max, mean;
	double squares; /* sum of (value - mean)² */
};

/* Adds a thread's value; call once per thread. */
void pmfs_spread_add(struct pmfs_spread *s, double value, uint32_t thread);

/* One that is not kept in a table: where few contexts have a value of a column. */
struct pmfs_lone_spread {
	uint64_t place; /* context × columns + column */
	struct pmfs_spread spread;
};

/* For all contexts, for profiles with costs stored thread by thread. */
struct pmfs_spreads {
	uint32_t *n_threads;            /* by context: number of threads with a value */
	struct pmfs_spread *spreads;    /* by context, then column; NULL: see `alone` */
	struct pmfs_lone_spread *alone; /* by place */
	size_t n_alone;
};

/*
 * Those of a context by column: in place, or copied to `own`, room for `n_columns`. O(n_columns +
 * log n).
 */
const struct pmfs_spread *pmfs_spreads_of(const struct pmfs_spreads *s, uint32_t context,
	uint32_t n_columns, struct pmfs_spread *own);

/* Reads the costs of every thread once, in parallel, and keeps the result. */
int pmfs_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err);

#endif
