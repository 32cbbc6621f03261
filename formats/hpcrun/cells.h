/*
 * Computes exclusive and inclusive costs of contexts from the costs of values. A thread visits only
 * a small part of the tree; contexts without values at or below them have no costs.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_CELLS_H
#define PROFMOUNT_FORMATS_HPCRUN_CELLS_H

#include "profmount/profile.h"

/* An exclusive cost of a context. */
struct hpcrun_own {
	uint32_t context, group;
	double cost; /* NaN: none */
};

struct hpcrun_cell {
	uint32_t context, metric; /* 2 × group, + 1 for inclusive */
	double cost;
};

struct hpcrun_cells {
	struct hpcrun_cell *items; /* by context, then metric */
	size_t n;
};

/*
 * Adds up `own`: equal ones in order, children from the last one on. 0 or -ENOMEM; beyond
 * PM_LIMIT_SUMS, also sets `err`, which may be NULL. O(n + contexts above them + contexts of the
 * tree / 64), for each group O(its own costs and the contexts above them).
 */
int hpcrun_cells_make(struct hpcrun_cells *ret, const struct pm_tree *tree, uint32_t n_groups,
	const struct hpcrun_own *own, size_t n, struct pm_error *err);

/* The first cell of a context, or the position where it would be. O(log n). */
size_t hpcrun_cells_find(const struct hpcrun_cells *c, uint32_t context);

/* Accepts a zeroed one. */
void hpcrun_cells_done(struct hpcrun_cells *c);

#endif
