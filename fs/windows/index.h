/*
 * An index in time: what the records of each block of a trace cover, and their sums by context. It
 * needs no order among the records: samples of a clock that was set back and calls that overlap are
 * found by where their block begins and ends.
 *
 * A block is PMFS_BLOCK records, PMFS_FANOUT blocks are a chunk. Above chunks are levels of nodes,
 * each PMFS_FANOUT chunks or nodes, up to one node for the whole trace. All have sums unless they
 * have too many contexts; then the nodes, blocks or records in them are used. So an index takes
 * about half a byte per record, and the costs of a span are computed from the blocks at its edges
 * and the sums of the others.
 *
 * If a trace is read for another reason, its chunks are made at the same time (pmfs_index_tap).
 */
#ifndef PROFMOUNT_FS_WINDOWS_INDEX_H
#define PROFMOUNT_FS_WINDOWS_INDEX_H

#include <pthread.h>

#include "formats/common/lazy.h"
#include "formats/common/tap.h"
#include "fs/windows/span.h"
#include "fs/windows/tally.h"

enum {
	PMFS_BLOCK = 4096,
	PMFS_FANOUT = 16,
	PMFS_CHUNK_RECORDS = PMFS_BLOCK * PMFS_FANOUT, /* what measuring gives to one thread */
	PMFS_A_SUM = 128,                              /* records for each sum that is kept */
	PMFS_LEVELS = 12,                              /* enough for 2^64 records */
};

/* The times of records: they begin between first and last, and all end by `end`. */
struct pmfs_cover {
	uint64_t first, last, end;
};

struct pmfs_sum {
	uint64_t ns;
	uint32_t context, calls;
};

/* The times of some records, and their sums. */
struct pmfs_block {
	struct pmfs_cover cover;
	uint32_t sum, n_sums; /* index of the first in a list; PM_NONE: too many, or too large */
};

struct pmfs_block_sums {
	struct pmfs_sum *items;
	size_t n, room;
};

struct pmfs_trace_chunk {
	struct pmfs_block all, blocks[PMFS_FANOUT];
	struct pmfs_block_sums sums;
};

/* Of some records, while they are read. */
struct pmfs_reading {
	struct pmfs_cover cover;
	struct pmfs_tally tally;
	/*
	 * More contexts than any node can have sums for, or calls whose time is not a part of their
	 * caller's (pm_sample.within): not added to what is above, which has no sums either.
	 */
	bool many;
};

struct pmfs_node {
	uint32_t missing; /* number of chunks or nodes below that have not been added; unless 0,
			     nothing is known */
	struct pmfs_reading reading; /* of those that were added; empty once all have been */
	struct pmfs_block all;
	struct pmfs_block_sums sums;
};

struct pmfs_level {
	struct pmfs_node *nodes;
	size_t n;
};

/* Of one thread's trace. */
struct pmfs_trace_index {
	struct pm_lazy lazy;
	uint64_t n; /* records */
	/*
	 * Chunks, and the levels above them, are written with the index locked. They may be read
	 * without the lock once `lazy` has been built, and not at all if that failed.
	 */
	struct pmfs_trace_chunk **chunks;
	struct pmfs_level levels[PMFS_LEVELS];
	unsigned n_levels;
};

struct pmfs_index {
	const struct pm_profile *profile;
	struct pm_lazy lazy;
	const struct pm_threads *threads;
	struct pmfs_trace_index *traces; /* by thread */
	bool gpus_apart;                 /* both processors and GPUs have traces */
	pthread_mutex_t lock;            /* of the chunks of traces that are not built yet */
};

/* Reads nothing. pmfs_index_done in any case. */
void pmfs_index_init(struct pmfs_index *x, const struct pm_profile *p);

/* Counts the threads; traces are indexed when they are first needed. */
int pmfs_index_open(struct pmfs_index *x, struct pm_error *err);

/* Indexes the traces of these threads, on all processors. Unreadable ones are left out. */
int pmfs_index_threads(struct pmfs_index *x, uint32_t first, uint32_t n, struct pm_error *err);

/* The index of a thread's trace. */
int pmfs_index_of(struct pmfs_index *x, uint32_t thread, const struct pmfs_trace_index **ret,
	struct pm_error *err);

/*
 * Whose time that of a context is on a thread of an opened index. A run of GPUs alone has one time,
 * as one of processors alone has.
 */
enum pm_time pmfs_index_time(
	const struct pmfs_index *x, uint32_t thread, const struct pm_frame *frame);

/* The times of some threads, a bit for each; `*ret_leads`: whose time is primary. */
unsigned pmfs_index_times(
	const struct pmfs_index *x, uint32_t first, uint32_t n, enum pm_time *ret_leads);

void pmfs_index_done(struct pmfs_index *x);

/*
 * Makes chunks of traces that others read. Only for calls: finding them again takes several times
 * as long as adding them up, while reading samples again takes less.
 */
struct pm_tap pmfs_index_tap(struct pmfs_index *x);

/* ---- reading records ---- */

/* Calls take(context, samples, n) for the records from `first` to `end`, n > 0, until it returns 1.
 */
int pmfs_records_read(const struct pm_profile *p, uint32_t thread, uint64_t first, uint64_t end,
	int (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err);

#endif
