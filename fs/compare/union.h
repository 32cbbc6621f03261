/*
 * The union of the trees of both sides. Calls are matched by path, loops and lines by their
 * position in the function (places.h), in one pass over both trees.
 */
#ifndef PROFMOUNT_FS_COMPARE_UNION_H
#define PROFMOUNT_FS_COMPARE_UNION_H

#include "fs/compare/frames.h"
#include "fs/compare/join.h"

struct pmfs_tree_union {
	struct pm_tree tree; /* frames by key; texts are those of `frames` */
	const struct pmfs_costs *costs;
	struct pmfs_frames frames;
	uint8_t *sides;                /* by context */
	uint32_t *key[PMFS_N_SIDES];   /* by context: its frame on a side, or PM_NONE */
	double *mean[PMFS_N_SIDES];    /* costs->n per context; NaN: none */
	double *squares[PMFS_N_SIDES]; /* NULL without repetitions */
	uint32_t **of; /* by run and its context: the context here. PM_NONE: fold.h */
	uint32_t *n_of;
	struct pmfs_union shared; /* the result for compare.h */
};

/* Built on the first call; owned by the comparison. */
int pmfs_union_get(
	struct pmfs_compare *c, const struct pmfs_tree_union **ret, struct pm_error *err);

/* contexts.csv. */
struct pm_table pmfs_union_table(struct pmfs_compare *c);

#endif
