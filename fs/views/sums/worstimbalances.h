/* The contexts with the worst load imbalance. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_WORSTIMBALANCES_H
#define PROFMOUNT_FS_VIEWS_SUMS_WORSTIMBALANCES_H

#include "fs/views/model/model.h"

struct pmfs_worst {
	uint32_t context;
	uint32_t slowest; /* thread index */
	double max, mean; /* of the primary quantity, inclusive */
};

enum { PMFS_N_WORST = 5 };

struct pmfs_worst_list {
	uint32_t n;
	struct pmfs_worst items[PMFS_N_WORST];
};

/*
 * The function contexts with the greatest max - mean, without those below one of them that lose the
 * same. Only contexts with at least 1 % of `whole` are examined, so that the work does not grow
 * with the tree.
 */
int pmfs_worst_imbalances(
	struct pmfs_model *m, double whole, struct pmfs_worst_list *ret, struct pm_error *err);

#endif
