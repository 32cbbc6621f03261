/*
 * Several runs as one profile: its documents compare all of them, and each run and each comparison
 * is an item of a collection (docs/decisions/0007-profiles-in-profiles.md).
 */
#ifndef PROFMOUNT_FS_RUNS_ENSEMBLE_H
#define PROFMOUNT_FS_RUNS_ENSEMBLE_H

#include "fs/filters/filter.h"
#include "profmount/format.h"

/* How runs are opened. */
struct pmfs_shelf_options {
	struct pm_open_options open; /* `cache` is not used: each run has its own */
	const char *format;          /* name of the format, or NULL: the most likely one */
	const char *metric;          /* the primary quantity of runs that have it, or NULL */
	const struct pmfs_definitions *derived; /* or NULL */
	const struct pmfs_filter_what *filters; /* of each run, n_filters of them */
	unsigned n_filters;
	uint64_t cache_bytes; /* limit for runs that are not in use */
};

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
