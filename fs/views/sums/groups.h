/*
 * Costs of the whole run by anything that contexts fall into: functions, lines, modules, call
 * edges. Every context's own cost is added to one row; inclusive costs count once, at the outermost
 * context of a row.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_GROUPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_GROUPS_H

#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"

/* Where a context's costs go. */
struct pmfs_share {
	uint32_t row;   /* of its own cost */
	uint32_t above; /* of its parent's own cost, or PM_NONE: it has no parent */
	bool nested;    /* what is stored as its parent's own cost holds its own, too */
	bool counts;    /* it is an instance of the row, not just a part of its own cost … */
	bool outer;     /* … and its inclusive cost is in no other one of the row */
};

/*
 * Adds a context's cells to the rows of a table with c->n cells a row. What is taken from a row
 * again is added to its cell in `taken`, unless that is NULL.
 */
void pmfs_share_costs(const struct pmfs_columns *c, double *rows, double *taken,
	const struct pmfs_share *share, const double *cells);

/* That of a context in a table with a row for each function. */
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

/* Brings the context nothing to a row, so that its costs need not be read? */
static inline bool pmfs_share_is_empty(const struct pmfs_columns *c, const struct pmfs_share *share)
{
	return share->nested && share->above == share->row && !share->counts && !c->has_counts;
}

struct pmfs_grouping {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	uint32_t first, end; /* of the contexts that are looked at: a subtree, or all */
	/*
	 * Fills `row` and `counts` of a context's share: the row is made by pmfs_sums_row, or
	 * PM_NONE where the context has no cost of its own. The other fields are filled; `outer`
	 * may be denied, otherwise the row decides. `above` is PM_NONE for the first context.
	 * 0 or -ENOMEM.
	 */
	int (*place)(void *self, uint32_t context, struct pmfs_share *share);
	/* Optional: the costs that are added then. 0 or -ENOMEM. */
	int (*added)(
		void *self, uint32_t context, const double *cells, const struct pmfs_share *share);
	void *self;
};

/* Adds all up into `sums`, which may have rows already. */
int pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err);

#endif
