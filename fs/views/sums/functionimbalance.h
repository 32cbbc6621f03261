/* The distribution of functions' costs over threads. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONIMBALANCE_H
#define PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONIMBALANCE_H

#include "fs/views/sums/functions.h"
#include "fs/views/sums/work.h"

/*
 * Of each row of functions.csv. The peers are all threads with a cost of the quantity, so what one
 * thread does alone is seen in programs without ranks, too.
 */
struct pmfs_function_imbalance {
	const struct pmfs_functions *functions;
	const struct pmfs_peers *peers;
	struct pmfs_spread *spreads; /* by row, then column */
	struct pmfs_work *work;      /* by row */
};

/* Reads all values of all threads on the first call; owned by the model. */
int pmfs_function_imbalance(
	struct pmfs_model *m, const struct pmfs_function_imbalance **ret, struct pm_error *err);

#endif
