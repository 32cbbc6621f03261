/*
 * Durations of the calls of each function, if calls are recorded one by one: a histogram, and the
 * longest calls.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_DURATIONS_H
#define PROFMOUNT_FS_VIEWS_SUMS_DURATIONS_H

#include "fs/views/model/model.h"

enum { PMFS_SLOWEST = 100, PMFS_BUCKETS = 129 };

struct pmfs_slow_call {
	uint64_t duration_ns, time_ns; /* as stored */
	uint64_t order; /* among all calls: of equally long calls the first are kept */
	uint64_t seq;   /* see struct pm_sample */
	uint32_t context, thread;
};

struct pmfs_bucket {
	uint32_t index; /* see pmfs_bucket_start */
	uint64_t calls;
	unsigned __int128 ns;
};

/* Of a row of functions.csv. */
struct pmfs_durations {
	struct pmfs_slow_call *slowest; /* longest first, PMFS_SLOWEST at most */
	size_t n_slowest, room_slowest;
	struct pmfs_bucket *buckets; /* those that are not empty, shortest first */
	size_t n_buckets, room_buckets;
};

/*
 * Computed on the first call for all functions, in one pass over the traces; owned by the model.
 * -ENOTSUP if that takes more than PM_LIMIT_DURATIONS bytes.
 */
int pmfs_durations(struct pmfs_model *m, uint32_t row, const struct pmfs_durations **ret,
	struct pm_error *err);

/* Bucket 0 has the calls of length 0, bucket i those from the square root of 2^(i - 1) on. */
uint64_t pmfs_bucket_start(uint32_t index);
uint32_t pmfs_bucket_of(uint64_t duration_ns);

#endif
