/*
 * Costs of the whole run grouped by functions, lines, modules or call edges. The exclusive cost of
 * every context is added to one row; inclusive costs count once, at the outermost context of a row.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_GROUPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_GROUPS_H

#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"

/* Assigns a context's costs to rows. */
struct pmfs_share {
	uint32_t row;   /* row of its exclusive cost */
	uint32_t above; /* row of its parent's exclusive cost, or PM_NONE if it has no parent */
	bool nested;    /* the parent's stored exclusive cost includes its own */
	bool counts; /* it is an instance of the row rather than just part of its exclusive cost …
		      */
	bool outer;  /* … and its inclusive cost is not part of another instance's */
};

/*
 * Adds a context's cells to the rows of a table with c->n cells per row. Amounts that are
 * subtracted from a row are added to its cell in `taken`, unless that is NULL.
 */
void pmfs_share_costs(const struct pmfs_columns *c, pm_number *rows, double *taken,
	const struct pmfs_share *share, const pm_number *cells);

/* The share of a context in a table with a row for each function. */
static inline struct pmfs_share pmfs_function_share(
	const struct pmfs_identity *id, uint32_t context)
{
	uint32_t parent = id->tree->parent[context];
	return (struct pmfs_share){
		.row = pmfs_function_of(id, context),
		.above = parent == PM_NONE ? PM_NONE : pmfs_function_of(id, parent),
		.nested = pmfs_is_nested(id, context),
		.counts = pmfs_is_call(id, context),
		.outer = pmfs_is_outer(id, context),
	};
}

/* Whether the context contributes nothing, so that its costs need not be read. */
static inline bool pmfs_share_is_empty(const struct pmfs_columns *c, const struct pmfs_share *share)
{
	return share->nested && share->above == share->row && !share->counts && !c->has_counts;
}

struct pmfs_grouping {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	uint32_t first, end; /* range of contexts: a subtree, or all */
	/*
	 * Fills `row` and `counts` of a context's share: the row is created by pmfs_sums_row, or
	 * PM_NONE if the context has no cost of its own. The other fields are already filled;
	 * `outer` may be cleared. `above` is PM_NONE for the first context. 0 or -ENOMEM.
	 */
	int (*place)(void *self, uint32_t context, struct pmfs_share *share);
	/* Optional: provides the costs to be added. 0 or -ENOMEM. */
	int (*added)(void *self, uint32_t context, const pm_number *cells,
		const struct pmfs_share *share);
	void *self;
};

/* Adds everything to `sums`, which may have rows already. In its build, `place` may fail that. */
int pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err);

#endif
