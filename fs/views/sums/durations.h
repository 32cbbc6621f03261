/*
 * How long the calls of each function took, if they are recorded one by one: a histogram, and, if
 * the format knows when they were, the longest calls.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_DURATIONS_H
#define PROFMOUNT_FS_VIEWS_SUMS_DURATIONS_H

#include "fs/views/model/model.h"

enum { PMFS_SLOWEST = 100 };

struct pmfs_slow_call {
	uint64_t duration_ns, time_ns; /* as stored */
	uint64_t order; /* among all calls: of equally long calls the first are kept */
	uint64_t seq;   /* see struct pm_sample */
	uint32_t context, thread;
};

/* Of a row of functions.csv. */
struct pmfs_durations {
	struct pmfs_slow_call *slowest; /* longest first, PMFS_SLOWEST at most */
	size_t n_slowest, room_slowest;
	struct pm_call_bucket *buckets; /* those that are not empty, shortest first */
	size_t n_buckets, room_buckets;
};

/*
 * Computed on the first call for all functions, in one pass over the traces; owned by the model.
 * -ENOTSUP if that takes more than PM_LIMIT_DURATIONS bytes.
 */
int pmfs_durations(struct pmfs_model *m, uint32_t row, const struct pmfs_durations **ret,
	struct pm_error *err);

/*
 * The buckets of a row that are not empty, shortest calls first: of pmfs_durations, or of the
 * format where it knows how long calls took, but not when. Owned by the model or the profile.
 */
int pmfs_histogram(struct pmfs_model *m, uint32_t row, const struct pm_call_bucket **ret,
	size_t *ret_n, struct pm_error *err);

#endif
