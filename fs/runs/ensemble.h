/*
 * Several runs as one profile: what all of them have in common stands in its documents, each run
 * and each comparison is an item of its collections (docs/decisions/0007-profiles-in-profiles.md).
 */
#ifndef PROFMOUNT_FS_RUNS_ENSEMBLE_H
#define PROFMOUNT_FS_RUNS_ENSEMBLE_H

#include "fs/runs/shelf.h"

/* Strings outlive the ensemble. */
struct pmfs_ensemble_options {
	struct pmfs_shelf_options shelf;
	const char *base; /* the baseline's name; NULL: the first one's */
	bool exact;       /* names of functions are matched as they are */
	bool normalize;   /* shares of the whole are compared */
	bool weak;        /* scaling.csv: work grows with the threads */
};

/*
 * The ensemble of the sources that `words` name: see pmfs_runs_list. Opens none of them. `*ret` is
 * the caller's; close it with ops->close.
 */
int pmfs_ensemble_open(const char *const *words, const char *const *paths, uint32_t n,
	const struct pmfs_ensemble_options *options, struct pm_profile **ret, struct pm_error *err);

#endif
