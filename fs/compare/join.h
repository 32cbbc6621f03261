/*
 * Two lists of runs, joined row by row: the cost of a row on each side, whether a difference is
 * noise, and the order of rows. The caller defines what a row is.
 */
#ifndef PROFMOUNT_FS_COMPARE_JOIN_H
#define PROFMOUNT_FS_COMPARE_JOIN_H

#include "fs/compare/internal.h"

/* The rows of a run, with the caller's keys. Several rows may have the same key. */
struct pmfs_run_rows {
	uint32_t n;
	uint32_t *key;
	double *cells; /* costs->n per row; NaN = none */
	size_t room_key, room_cells;
};

/* A row, as it is shown. */
struct pmfs_joined_row {
	struct pm_bytes text[3];     /* as many as the table has columns for them */
	uint32_t line[PMFS_N_SIDES]; /* 0: unknown */
	uint8_t sides;
	uint8_t matched; /* enum pmfs_matched */
};

struct pmfs_joined {
	const struct pmfs_costs *costs;
	uint32_t n;
	struct pmfs_joined_row *rows;
	double *mean[PMFS_N_SIDES];    /* costs->n per row, of the repetitions; NaN: none */
	double *squares[PMFS_N_SIDES]; /* see struct pmfs_sample; NULL without repetitions */
	double *p, *q;                 /* of `own`; NaN: not tested */
	uint32_t own; /* the cost in question: costs->own, or another of its unit if rows lack it */
	uint32_t *order; /* largest difference of that cost first */
	uint32_t n_tested, n_changed;
	struct pmfs_match match; /* of the texts */
	uint32_t **of;           /* of functions, by run and its identity: a spelling */
	uint32_t *n_of;
	uint32_t *row_of; /* of functions: by row of the match; PM_NONE: it has no costs */
	double **own_of;  /* by run: the kept cost by row; NULL for each if none is kept */
	uint32_t kept;    /* the cost, or PM_NONE */
};

/*
 * A new row of a run with that key; the caller fills its cells, which have no values. NULL if out
 * of memory.
 */
double *pmfs_run_rows_add(struct pmfs_run_rows *rows, uint32_t key, uint32_t n_costs);
void pmfs_run_rows_done(struct pmfs_run_rows *rows);

/*
 * Fills everything except n, rows and match. `of_key` is the row of each key; `runs` has the rows
 * of each run of the costs. 0 or -ENOMEM.
 */
int pmfs_joined_sum(
	struct pmfs_joined *j, const struct pmfs_run_rows *runs, const uint32_t *of_key);

/* Accepts NULL and partly built ones. */
void pmfs_joined_free(void *joined);

uint64_t pmfs_joined_bytes(const struct pmfs_joined *j);

/* A cell of a row on one side as a sample. */
struct pmfs_sample pmfs_joined_sample(
	const struct pmfs_joined *j, uint32_t row, uint32_t cost, enum pmfs_side side);

/* The difference of a cell; missing values count as 0. */
double pmfs_joined_difference(const struct pmfs_joined *j, uint32_t row, uint32_t cost);

/*
 * Whether the difference is beyond the noise; if there are no tests, whether there is a difference.
 */
bool pmfs_joined_changed(const struct pmfs_joined *j, uint32_t row);

/* Whether two costs differ by more than the order in which they were added up. */
bool pmfs_is_change(double base, double other, double whole);

/* ---- columns.c: the columns of costs in all tables of a comparison ---- */

/* Fills costs->columns and n_columns. 0 or -ENOMEM. */
int pmfs_compare_headers(struct pmfs_costs *costs);

/* A cost on both sides. */
struct pmfs_pair {
	double value[PMFS_N_SIDES], stddev[PMFS_N_SIDES];
};

/* Fills the cells of a cost; returns the cell after them. */
struct pm_cell *pmfs_pair_cells(const struct pmfs_costs *costs, uint32_t cost,
	const struct pmfs_pair *pair, struct pm_cell *cells);

/* value / base: 1 if they are equal, NaN if the result is not finite. */
double pmfs_ratio(double base, double value);

/* ---- derived.c ---- */

/*
 * Fills the cells of the derived columns, behind those of all costs. `mean` has the means of the
 * row, costs->n a side; NULL: those of the whole. Returns the cell after them.
 */
struct pm_cell *pmfs_compared_derived_cells(const struct pmfs_costs *costs,
	const double *const mean[PMFS_N_SIDES], struct pm_cell *cells);
enum { PMFS_DERIVED_CELLS = 4 }; /* of each: baseline, other side, difference, ratio */

#endif
