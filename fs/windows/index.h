/*
 * An index in time: what the records of each block of a trace cover, and their sums by context. It
 * needs no order among the records: samples of a clock that was set back and calls that overlap are
 * found by where their block begins and ends.
 *
 * A block is PMFS_BLOCK records, eight blocks are a group, eight groups a chunk. Each has sums
 * unless it has too many contexts: then what is in it is looked at. So an index takes about half a
 * byte for each record, and what a span costs is read from the blocks at its edges and sums of the
 * others.
 */
#ifndef PROFMOUNT_FS_WINDOWS_INDEX_H
#define PROFMOUNT_FS_WINDOWS_INDEX_H

#include "formats/common/lazy.h"
#include "fs/windows/span.h"
#include "fs/windows/tally.h"

enum {
	PMFS_BLOCK = 4096,
	PMFS_GROUP = 8,  /* blocks */
	PMFS_CHUNK = 64, /* blocks */
	PMFS_A_SUM = 96, /* records for each sum that is kept */
};

/* The range of times of records: they begin from first to last, and all end by `end`. */
struct pmfs_cover {
	uint64_t first, last, end;
};

struct pmfs_sum {
	uint64_t ns;
	uint32_t context, calls;
};

/* The sums of some records; PM_NONE: there are too many, or they are too large. */
struct pmfs_sums {
	uint32_t first, n;
};

struct pmfs_block {
	struct pmfs_cover cover;
	struct pmfs_sums sums;
};

struct pmfs_chunk {
	struct pmfs_block all, groups[PMFS_CHUNK / PMFS_GROUP], blocks[PMFS_CHUNK];
	struct pmfs_sum *sums;
	size_t n_sums, room;
};

/* Of one thread's trace. */
struct pmfs_trace_index {
	struct pm_lazy lazy;
	struct pmfs_chunk **chunks;
	uint64_t n; /* records */
};

struct pmfs_index {
	const struct pm_profile *profile;
	struct pm_lazy lazy;
	const struct pm_threads *threads;
	struct pmfs_trace_index *traces; /* by thread */
};

/* Counts the threads; traces are indexed when they are first needed. */
int pmfs_index_open(struct pmfs_index *x, struct pm_error *err);

/* Indexes the traces of these threads, on all processors. Unreadable ones are left out. */
int pmfs_index_threads(struct pmfs_index *x, uint32_t first, uint32_t n, struct pm_error *err);

/* The index of a thread's trace. */
int pmfs_index_of(struct pmfs_index *x, uint32_t thread, const struct pmfs_trace_index **ret,
	struct pm_error *err);

void pmfs_index_done(struct pmfs_index *x);

/* ---- reading records ---- */

/* Calls take(context, samples, n) for the records from `first` to `end`, n > 0, until it returns 1.
 */
int pmfs_records_read(const struct pm_profile *p, uint32_t thread, uint64_t first, uint64_t end,
	int (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err);

#endif
