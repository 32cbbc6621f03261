/* The stacks of both sides of a comparison, on the union of their trees. */
#ifndef PROFMOUNT_FS_COMPARE_STACKS_H
#define PROFMOUNT_FS_COMPARE_STACKS_H

#include "fs/compare/union.h"
#include "fs/views/sums/stacks.h"

struct pmfs_two_stacks {
	struct pmfs_stacks side[PMFS_N_SIDES]; /* `self`: means of exclusive costs */
	struct pmfs_column column;
	struct pm_metric metric; /* of the column */
};

/*
 * `ret` must not be moved. Exclusive costs are those of the runs' own exports, so totals are the
 * same; with `shares`, of a run with a cost, its total is 100. The caller frees `ret`, also after a
 * failure.
 */
int pmfs_two_stacks_make(struct pmfs_compare *c, const struct pmfs_tree_union *u, uint32_t quantity,
	bool shares, struct pmfs_two_stacks *ret, struct pm_error *err);

void pmfs_two_stacks_done(struct pmfs_two_stacks *s);

/* Whether the quantity has costs on some side, and on each side in all repetitions or in none. */
bool pmfs_quantity_is_shown(const struct pmfs_costs *costs, uint32_t quantity);

#endif
