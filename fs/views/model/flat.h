/* Adding up costs by functions, lines or call edges instead of contexts. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_FLAT_H
#define PROFMOUNT_FS_VIEWS_MODEL_FLAT_H

#include <math.h>

#include "formats/common/arena.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"

/*
 * Adds a number to a cell; NaN means no value. What doubles can be exact about is added as doubles:
 * fractions, so that their last digits are the same on every machine.
 */
static inline void pmfs_add(pm_number *cell, pm_number value)
{
	if (isnan(value))
		return;
	double a = (double)*cell, b = (double)value;
	if (isnan(a))
		*cell = value;
	else
		*cell = a == *cell && b == value && fabs(a + b) < 0x1p53 ? a + b : *cell + value;
}

/*
 * Adds a context's cells; inclusive ones only if `outer`, because they are otherwise included in an
 * outer context.
 */
void pmfs_add_cells(
	const struct pmfs_columns *c, pm_number *to, const pm_number *cells, bool outer);

/*
 * Rows that are found one by one while contexts are added up, in a build. All fields except the
 * first two are zeroed.
 */
struct pmfs_sums {
	struct pm_arena *arena; /* of the build that it is made in */
	const struct pmfs_columns *columns;
	bool to_be_tidied; /* see pmfs_sums_tidy */
	uint32_t n;
	pm_number *cells; /* columns->n per row */
	double *taken;    /* by cell: the sum of subtracted values; only for pmfs_sums_tidy */
	uint32_t *until;  /* row → end of the last outermost subtree */
	size_t room_cells, room_taken, room_until;
};

/* Adds a row without values. */
uint32_t pmfs_sums_row(struct pmfs_sums *s);

/* Sets cells to 0 in which only rounding errors remain after adding and subtracting. */
void pmfs_sums_tidy(struct pmfs_sums *s);

/* Levels of the tree: the greatest depth plus one. */
uint32_t pmfs_tree_height(const struct pm_tree *tree);

/* Converts a row of stored values by metric (as in pm_edges.values) to cells by column. */
void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const pm_number *values, pm_number *cells);

/*
 * The rows 0 … n - 1 ordered by a column of `cells`, highest first, rows without a value last, ties
 * by number. `column` PM_NONE: unordered. In a build of the arena.
 */
uint32_t *pmfs_order(struct pm_arena *a, const pm_number *cells, uint32_t n, uint32_t n_columns,
	uint32_t column);

/* The column by which flat tables are ordered: the primary exclusive cost, else the first. */
uint32_t pmfs_order_column(const struct pmfs_columns *c);

/*
 * Evals whose texts differ, or are not known, may share a file: their rows say how many texts, in a
 * column `texts` before `line` or `module`. True if there are any.
 */
static inline bool pmfs_texts_are_joined(const struct pm_evals *evals)
{
	return evals && evals->n_joined > 0;
}

/* The cell of a row with that file; empty for most. */
struct pm_cell pmfs_texts_cell(const struct pm_evals *evals, uint32_t file);

/* Whether inclusive costs at the top may overlap, so that only exclusive costs add up. */
bool pmfs_costs_overlap(const struct pmfs_model *m);

/*
 * ---- grouping ----
 *
 * Costs of the whole run grouped by functions, lines, modules or call edges. The exclusive cost of
 * every context is added to one row; inclusive costs count once, at the outermost context of a row.
 */

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
	 * `outer` may be cleared. `above` is PM_NONE for the first context.
	 */
	void (*place)(void *self, uint32_t context, struct pmfs_share *share);
	/* Optional: provides the costs to be added. */
	void (*added)(void *self, uint32_t context, const pm_number *cells,
		const struct pmfs_share *share);
	void *self;
};

/* Adds everything to `sums`, which may have rows already, in its build. */
void pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err);

#endif
