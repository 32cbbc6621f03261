/*
 * What each function costs in each run, of the primary quantity: for the tables that show all runs
 * side by side.
 */
#ifndef PROFMOUNT_FS_RUNS_MATRIX_H
#define PROFMOUNT_FS_RUNS_MATRIX_H

#include "fs/runs/internal.h"

/* A function as the first run that has it shows it. */
struct pmfs_shared_function {
	struct pm_bytes name, module, file;
	uint32_t run;
	double sum; /* of own costs over all runs */
};

/* What it costs in one run. */
struct pmfs_share {
	uint32_t function;
	double own, incl; /* NaN: none is stored */
};

struct pmfs_matrix {
	const char *quantity; /* the primary one, cputime_sec; NULL: there is none */
	bool has_incl;
	uint32_t n; /* functions, those of the largest sum first */
	struct pmfs_shared_function *functions;
	struct pmfs_share **of; /* by run, in order of the functions; NULL: broken */
	uint32_t *n_of;         /* by run */
	double *wholes;         /* by run; NaN: the run lacks the quantity */
	const char *const *wide_header;
	uint32_t n_wide_header;
};

/* Opens every run on the first call. */
int pmfs_matrix(
	const struct pmfs_ensemble *e, const struct pmfs_matrix **ret, struct pm_error *err);

/* What a function costs in a run; NULL where the run does not have it. O(log n). */
const struct pmfs_share *pmfs_matrix_at(
	const struct pmfs_matrix *m, uint32_t run, uint32_t function);

/* How many of a group's runs have the quantity. */
uint32_t pmfs_matrix_count(const struct pmfs_matrix *m, const struct pmfs_group *g);

/*
 * Means over those runs, what a run lacks counted as 0; NaN where no run has the function, or none
 * the value.
 */
double pmfs_matrix_mean(
	const struct pmfs_matrix *m, const struct pmfs_group *g, uint32_t function, bool incl);

/* The mean of the wholes; NaN where no run has the quantity. */
double pmfs_matrix_whole(const struct pmfs_matrix *m, const struct pmfs_group *g);

#endif
