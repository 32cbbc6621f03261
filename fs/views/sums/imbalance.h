/* The distribution of a context's costs over threads. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_IMBALANCE_H
#define PROFMOUNT_FS_VIEWS_SUMS_IMBALANCE_H

#include "fs/views/sums/spreads.h"

/* Reads contexts one by one. */
struct pmfs_imbalance {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	const struct pmfs_spreads *all; /* NULL: contexts are read one by one */
	uint32_t round;                 /* counts reads */
	uint32_t *seen;          /* thread → the last context read at which it had a value */
	struct pmfs_spread *own; /* by column, if not in `all` */
	uint32_t n_threads;      /* number of threads with a value at the context read last */
	const struct pmfs_spread *spreads; /* of it, by column */
};

int pmfs_imbalance_new(struct pmfs_model *m, struct pmfs_imbalance **ret, struct pm_error *err);

/* Accepts NULL. */
void pmfs_imbalance_free(struct pmfs_imbalance *s);

/* Fills n_threads and spreads for a context (by index). */
int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err);

#endif
