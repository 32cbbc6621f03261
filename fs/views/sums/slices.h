/* Traces as slices of time, one inside the other, for viewers of timelines. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SLICES_H
#define PROFMOUNT_FS_VIEWS_SUMS_SLICES_H

#include "fs/views/model/model.h"

/* A frame that was on a thread's stack from start to end. Times count from the time origin. */
struct pmfs_slice {
	uint64_t start_ns, end_ns; /* the same for calls that took no time */
	uint64_t seq;              /* of a call: see struct pm_sample */
	uint32_t thread;
	uint32_t frame; /* of the tree */
	uint32_t depth; /* frames above it */
	uint32_t lane;  /* slices of one thread and lane nest; not 0 only where calls overlap */
};

struct pmfs_slices {
	size_t n;
	struct pmfs_slice *slices; /* by thread; by start, what contains another before it */
	uint32_t max_depth;        /* frames deeper than that are left out; PM_NONE: none are */
	uint64_t n_left_out;       /* slices that are left out besides */
};

/*
 * The slices of a thread, or of all threads (PM_NONE): at most PM_LIMIT_TRACE_SLICES, of the
 * topmost frames where there are more. `ret` is the caller's to give back; a failure leaves nothing
 * allocated. Reads the traces twice.
 */
int pmfs_slices_make(
	struct pmfs_model *m, uint32_t thread, struct pmfs_slices *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_slices_done(struct pmfs_slices *s);

#endif
