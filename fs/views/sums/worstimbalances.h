/* The contexts with the worst load imbalance. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_WORSTIMBALANCES_H
#define PROFMOUNT_FS_VIEWS_SUMS_WORSTIMBALANCES_H

#include "fs/views/sums/work.h"

enum { PMFS_N_WORST = 5 };

struct pmfs_worst_list {
	const struct pmfs_work *work; /* by context */
	uint32_t n;
	uint32_t contexts[PMFS_N_WORST]; /* that lose the most first */
};

/*
 * The calls that lose the most (max - mean), those that wait or those that do not. A call chain is
 * in the list once, as its deepest call with at least 90 % of what the chain loses. Only contexts
 * with at least 1 % of `whole` are considered.
 */
int pmfs_worst_imbalances(struct pmfs_model *m, double whole, bool waiting,
	struct pmfs_worst_list *ret, struct pm_error *err);

#endif
