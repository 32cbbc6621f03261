/*
 * Files of stacks for viewers, of one run or of two. Two stacks have one tree and one column, and
 * the same frames: only their costs differ. `before` is of the run that is compared with, or NULL.
 */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_STACKFILES_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_STACKFILES_H

#include "fs/views/sums/stacks.h"

/* Folded stacks: `path cost`, or `path before cost`. */
int pmfs_folded_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	struct pm_text *out, struct pm_error *err);

struct pmfs_pprof_about {
	struct pm_bytes comment;
	const char *unit;
	uint64_t time_ns;     /* since the epoch */
	uint64_t duration_ns; /* of the run; 0 = unknown */
};

/* profile.proto of pprof, gzipped: costs, or differences, which may be negative. */
int pmfs_pprof_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about, struct pm_text *out, struct pm_error *err);

#endif
