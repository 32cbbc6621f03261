/* The contexts where threads wait most for the slowest one. */
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
 * The contexts of functions with the greatest max - mean, without those below one of them that
 * lose the same. Only those that hold 1 % of `whole` are
 * looked at, so that the work does not grow with the tree.
 */
int pmfs_worst_imbalances(
	struct pmfs_model *m, double whole, struct pmfs_worst_list *ret, struct pm_error *err);

#endif
