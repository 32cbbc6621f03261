/* Traces as nested slices of time, for timeline viewers. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SLICES_H
#define PROFMOUNT_FS_VIEWS_SUMS_SLICES_H

#include "fs/views/model/model.h"

/* A frame that was on a thread's stack from start to end. Times are relative to the time origin. */
struct pmfs_slice {
	uint64_t start_ns, end_ns; /* equal for calls without duration */
	uint64_t seq;              /* of a call: see struct pm_sample */
	uint32_t thread;
	uint32_t frame; /* of the tree */
	uint32_t depth; /* frames above it */
	uint32_t lane;  /* slices with the same thread and lane nest; 0 unless calls overlap */
};

struct pmfs_slices {
	size_t n;
	struct pmfs_slice *slices; /* by thread; by start, outer slices first */
	uint32_t max_depth;        /* frames deeper than that are left out; PM_NONE: none are */
	uint64_t n_left_out;       /* number of other slices left out */
	struct pm_arena arena;     /* has the slices */
};

/*
 * The slices of a thread, or of all threads (PM_NONE): at most PM_LIMIT_TRACE_SLICES, those of the
 * topmost frames if there are more. The caller frees `ret`; a failure leaves nothing allocated.
 * Reads the traces twice.
 */
int pmfs_slices_make(
	struct pmfs_model *m, uint32_t thread, struct pmfs_slices *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_slices_done(struct pmfs_slices *s);

enum { PMFS_MAX_LANES = 64 /* of a thread; calls for which there is none are left out */ };

#endif
