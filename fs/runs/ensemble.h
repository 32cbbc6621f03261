/*
 * Several runs as one profile: its documents compare all of them, and each run and each comparison
 * is an item of a collection (docs/decisions/0007-profiles-in-profiles.md).
 */
#ifndef PROFMOUNT_FS_RUNS_ENSEMBLE_H
#define PROFMOUNT_FS_RUNS_ENSEMBLE_H

#include "fs/runs/shelf.h"

/* Strings outlive the ensemble. */
struct pmfs_ensemble_options {
	struct pmfs_shelf_options shelf;
	const char *base;       /* name of the baseline; NULL: that of the first run */
	bool repetitions;       /* names that differ in a number only are repetitions */
	bool exact;             /* names of functions are not normalised */
	bool normalize;         /* shares of the total are compared */
	const char *mountpoint; /* absolute; NULL: nothing is mounted */
	bool weak;              /* scaling.csv: work grows with the number of threads */
};

/*
 * The ensemble of the sources given by `words`: see pmfs_runs_list. Opens none of them. The caller
 * closes `*ret` with ops->close.
 */
int pmfs_ensemble_open(const char *const *words, const char *const *paths, uint32_t n,
	const struct pmfs_ensemble_options *options, struct pm_profile **ret, struct pm_error *err);

#endif
