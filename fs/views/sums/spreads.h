/* The distribution of costs over threads, for one context or for all at once. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_SPREADS_H

#include "fs/views/sums/peers.h"

/* One that is not kept in a table: where few contexts have a value of a column. */
struct pmfs_lone_spread {
	uint64_t place; /* context × columns + column */
	size_t made;    /* its number in the order in which they were made */
	struct pmfs_spread spread;
};

/* For all contexts, for profiles with costs stored thread by thread. */
struct pmfs_spreads {
	struct pmfs_spread *spreads;    /* by context, then column; NULL: see `alone` */
	struct pmfs_lone_spread *alone; /* by place */
	size_t n_alone;
	/* n_words of struct pmfs_peers for each spread: by place, or by `made`. NULL: no words */
	uint64_t *kinds;
};

/* Those of a context by column, over the peers: `ret` has room for `n_columns`. */
void pmfs_spreads_of(const struct pmfs_spreads *s, const struct pmfs_peers *p, uint32_t context,
	uint32_t n_columns, struct pmfs_spread *ret);

/* Reads the costs of every thread once, in parallel, and keeps the result. */
int pmfs_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err);

#endif
