/*
 * What contexts cost, from what values cost there: by themselves, and with all below them. A thread
 * visits a small part of the tree, and so do its costs: what no value is at or below of costs
 * nothing.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_CELLS_H
#define PROFMOUNT_FORMATS_HPCRUN_CELLS_H

#include "profmount/profile.h"

/* A cost at a context itself. */
struct hpcrun_own {
	uint32_t context, group;
	double cost; /* NaN: none */
};

struct hpcrun_cell {
	uint32_t context, metric; /* 2 × group, + 1 with all below */
	double cost;
};

struct hpcrun_cells {
	struct hpcrun_cell *items; /* by context, then metric */
	size_t n;
};

/*
 * Adds up `own`, equal ones in their order, children from the last one on. 0 or -ENOMEM;
 * beyond PM_LIMIT_SUMS `err`, which may be NULL, says so. O(n + contexts above them + contexts of
 * the tree / 64), for each group O(its own and what is above them).
 */
int hpcrun_cells_make(struct hpcrun_cells *ret, const struct pm_tree *tree, uint32_t n_groups,
	const struct hpcrun_own *own, size_t n, struct pm_error *err);

/* Where the cells of a context begin, or would. O(log n). */
size_t hpcrun_cells_find(const struct hpcrun_cells *c, uint32_t context);

/* Also for a zeroed one. */
void hpcrun_cells_done(struct hpcrun_cells *c);

#endif
