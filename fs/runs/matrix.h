/*
 * The cost of each function in each run, in the primary quantity: for the tables that show all runs
 * side by side.
 */
#ifndef PROFMOUNT_FS_RUNS_MATRIX_H
#define PROFMOUNT_FS_RUNS_MATRIX_H

#include "fs/runs/internal.h"

/* A function as shown by the first run that has it. */
struct pmfs_shared_function {
	struct pm_bytes name, module, file;
	uint32_t run;
	double sum; /* sum of exclusive costs over all runs */
};

/* Its cost in one run. */
struct pmfs_run_share {
	uint32_t function;
	double own, incl; /* NaN: not stored */
};

struct pmfs_matrix {
	const char *quantity; /* the primary one, cputime_sec; NULL: none */
	bool has_incl;
	uint32_t n; /* functions, largest sum first */
	struct pmfs_shared_function *functions;
	struct pmfs_run_share **of; /* by run, ordered by function; NULL: broken */
	uint32_t *n_of;             /* by run */
	double *totals;             /* by run; NaN: the run lacks the quantity */
	const char *const *wide_header;
	uint32_t n_wide_header;
};

/* Opens every run on the first call. */
int pmfs_matrix(
	const struct pmfs_ensemble *e, const struct pmfs_matrix **ret, struct pm_error *err);

/* ---- means.c ---- */

/* The cost of a function in a run; NULL if the run does not have it. O(log n). */
const struct pmfs_run_share *pmfs_matrix_at(
	const struct pmfs_matrix *m, uint32_t run, uint32_t function);

/* The number of runs in a group that have the quantity. */
uint32_t pmfs_matrix_count(const struct pmfs_matrix *m, const struct pmfs_group *g);

/*
 * Means over those runs, where missing values count as 0; NaN if no run has the function or the
 * value.
 */
double pmfs_matrix_mean(
	const struct pmfs_matrix *m, const struct pmfs_group *g, uint32_t function, bool incl);

/* The mean of the totals; NaN if no run has the quantity. */
double pmfs_matrix_whole(const struct pmfs_matrix *m, const struct pmfs_group *g);

#endif
