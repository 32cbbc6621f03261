/* Adding up costs by something flatter than contexts: functions, lines, call edges. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_FLAT_H
#define PROFMOUNT_FS_VIEWS_MODEL_FLAT_H

#include <math.h>

#include "fs/views/model/model.h"

/* Adds a number to a cell; NaN is no value, not a number. */
static inline void pmfs_add(double *cell, double value)
{
	if (!isnan(value))
		*cell = isnan(*cell) ? value : *cell + value;
}

/* Adds a context's cells; inclusive ones only where `outer`: others are in an outer one already. */
void pmfs_add_cells(const struct pmfs_columns *c, double *to, const double *cells, bool outer);

/* Rows that are found one after the other while contexts are added up. Zeroed but for the first
 * two. */
struct pmfs_sums {
	const struct pmfs_columns *columns;
	bool to_be_tidied; /* see pmfs_sums_tidy */
	uint32_t n;
	double *cells;   /* columns->n a row */
	double *taken;   /* of each cell: how much was taken away again; only if to be tidied */
	uint32_t *until; /* row → end of the last subtree that counted as an outer one */
	size_t room_cells, room_taken, room_until;
};

/* Adds a row without values. */
int pmfs_sums_row(struct pmfs_sums *s, uint32_t *ret);

/* Makes nothing of what is left by rounding where much was added and taken away. */
void pmfs_sums_tidy(struct pmfs_sums *s);

void pmfs_sums_done(struct pmfs_sums *s);

/* Levels of the tree: one more than the greatest depth. */
uint32_t pmfs_tree_height(const struct pm_tree *tree);

/* Cells by column from a row of native values by metric (as pm_edges.values has them). */
void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const double *values, double *cells);

/* `n` cells without a value; NULL without memory. For free(). */
double *pmfs_cells_new(size_t n);

/*
 * The rows 0 … n - 1 ordered by a column of `cells`, highest first, no value last, ties by number.
 * `column` PM_NONE: as they are. NULL without memory. For free().
 */
uint32_t *pmfs_order(const double *cells, uint32_t n, uint32_t n_columns, uint32_t column);

/* The column that flat tables are ordered by: the primary own cost, else the first. */
uint32_t pmfs_order_column(const struct pmfs_columns *c);

/* Inclusive costs are of call edges: a call counts for each of its callers, they do not add up. */
bool pmfs_costs_overlap(const struct pmfs_model *m);

#endif
