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
	const struct pmfs_peers *peers;
	const struct pmfs_spreads *all; /* NULL: contexts are read one by one */
	uint64_t *kinds;                /* by column: of the context read last */
	struct pmfs_spread *spreads;    /* by column, over the peers: of the context read last */
};

int pmfs_imbalance_new(struct pmfs_model *m, struct pmfs_imbalance **ret, struct pm_error *err);

/* Accepts NULL. */
void pmfs_imbalance_free(struct pmfs_imbalance *s);

/* Fills `spreads` for a context (by index): 1, 0 if no thread has a value, or a negative errno. */
int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err);

#endif
