/*
 * The cost of each function in each run, in the primary quantity: for the tables that show all runs
 * side by side. Functions are matched as in compare/: what any comparison has in one row is one
 * function here.
 */
#ifndef PROFMOUNT_FS_RUNS_MATRIX_H
#define PROFMOUNT_FS_RUNS_MATRIX_H

#include "fs/runs/internal.h"

/* A function as spelled in the baseline, else in the first run that has it. */
struct pmfs_shared_function {
	struct pm_bytes name, module, file;
	double sum;  /* of exclusive costs over all runs */
	bool joined; /* the name says of how many */
	bool used;   /* it is in functions.csv of a comparison */
};

/* Its exclusive cost in one run. */
struct pmfs_run_share {
	uint32_t function;
	double own; /* NaN: not stored */
};

struct pmfs_matrix {
	const char *quantity; /* the primary one, cputime_sec; NULL: none */
	uint32_t n;           /* functions, largest sum first */
	struct pmfs_shared_function *functions;
	struct pmfs_run_share **of; /* by run, ordered by function */
	uint32_t *n_of;             /* by run */
	double *totals;             /* by run; NaN: the run lacks the quantity */
	const char *const *wide_header;
	uint32_t n_wide_header;
};

/* Compares every run on the first call. */
int pmfs_matrix(
	const struct pmfs_ensemble *e, const struct pmfs_matrix **ret, struct pm_error *err);

/* The name of the primary quantity of the ensemble, in the arena; NULL if it has none. */
int pmfs_lead_name(const struct pmfs_ensemble *e, struct pm_arena *arena, const char **ret,
	struct pm_error *err);

#endif
