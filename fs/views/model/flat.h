/* Adding up costs by functions, lines or call edges instead of contexts. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_FLAT_H
#define PROFMOUNT_FS_VIEWS_MODEL_FLAT_H

#include <math.h>

#include "formats/common/arena.h"
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
 * Rows that are found one by one while contexts are added up. All fields except the first two are
 * zeroed.
 */
struct pmfs_sums {
	struct pm_arena *arena; /* of the build that it is made in; NULL: pmfs_sums_done frees it */
	const struct pmfs_columns *columns;
	bool to_be_tidied; /* see pmfs_sums_tidy */
	uint32_t n;
	pm_number *cells; /* columns->n per row */
	double *taken;    /* by cell: the sum of subtracted values; only for pmfs_sums_tidy */
	uint32_t *until;  /* row → end of the last outermost subtree */
	size_t room_cells, room_taken, room_until;
};

/* Adds a row without values. 0 or -ENOMEM; in a build 0. */
int pmfs_sums_row(struct pmfs_sums *s, uint32_t *ret);

/* Sets cells to 0 in which only rounding errors remain after adding and subtracting. */
void pmfs_sums_tidy(struct pmfs_sums *s);

void pmfs_sums_done(struct pmfs_sums *s);

/* Levels of the tree: the greatest depth plus one. */
uint32_t pmfs_tree_height(const struct pm_tree *tree);

/* Converts a row of stored values by metric (as in pm_edges.values) to cells by column. */
void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const pm_number *values, pm_number *cells);

/* `n` cells without a value, in an arena; if `a` is NULL, to be freed. NULL if out of memory. */
pm_number *pmfs_cells_new(struct pm_arena *a, size_t n);

/*
 * The rows 0 … n - 1 ordered by a column of `cells`, highest first, rows without a value last, ties
 * by number. `column` PM_NONE: unordered. Memory as above.
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

#endif
