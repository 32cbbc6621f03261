/* Shared by the files of fs/windows/: spans, the index in time, and what is made of it. */
#ifndef PROFMOUNT_FS_WINDOWS_INTERNAL_H
#define PROFMOUNT_FS_WINDOWS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "formats/common/callcosts.h"
#include "formats/common/costs.h"
#include "formats/common/damage.h"
#include "formats/common/lazy.h"
#include "formats/common/tap.h"
#include "formats/common/tree.h"
#include "fs/windows/tally.h"
#include "profmount/profile.h"

/* ---- spans of time, and the parts of samples and calls inside them ---- */

/* In ns, as in samples. What begins at `end` is outside, unless the run ends there. */
struct pmfs_span {
	uint64_t start, end;
	bool is_last; /* the run ends at `end` */
};

static inline bool pmfs_span_has_begin(const struct pmfs_span *span, uint64_t time)
{
	return time >= span->start && (time < span->end || (span->is_last && time == span->end));
}

/* The end of a sample or call; its beginning if the end is unknown. Does not wrap. */
static inline uint64_t pmfs_sample_end(const struct pm_sample *s)
{
	uint64_t end;
	if (s->duration_ns == PM_NO_TIME)
		return s->time_ns;
	return __builtin_add_overflow(s->time_ns, s->duration_ns, &end) ? UINT64_MAX : end;
}

/*
 * The beginning and the duration of the run, for names of windows; both PM_NO_TIME if the beginning
 * is unknown. 0 or a negative errno.
 */
int pmfs_run_length(
	const struct pm_profile *p, uint64_t *ret_origin, uint64_t *ret_ns, struct pm_error *err);

/*
 * ---- index.c ----
 *
 * An index in time: what the records of each block of a trace cover, and their sums by context.
 * It needs no order among the records: samples of a clock that was set back and calls that
 * overlap are found by where their block begins and ends.
 *
 * A block is PMFS_BLOCK records, PMFS_FANOUT blocks are a chunk. Above chunks are levels of
 * nodes, each PMFS_FANOUT chunks or nodes, up to one node for the whole trace. All have sums
 * unless they have too many contexts; then the nodes, blocks or records in them are used. So an
 * index takes about half a byte per record, and the costs of a span are computed from the
 * blocks at its edges and the sums of the others.
 *
 * If a trace is read for another reason, its chunks are made at the same time (pmfs_index_tap).
 */

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
	pthread_mutex_t lock;  /* of the chunks of traces that are not built yet, and of */
	struct pm_arena arena; /* that has them */
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

/*
 * Calls take(context, samples, n) for the records from `first` to `end`, n > 0, until it returns
 * true; in a build of the arena, which `take` may leave.
 */
void pmfs_records_read(struct pm_arena *a, const struct pm_profile *p, uint32_t thread,
	uint64_t first, uint64_t end,
	bool (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err);

/*
 * ---- cut.c ----
 *
 * A part of a thread's trace: its sums by context, and the positions of its rows.
 */

/*
 * Rows from `row` on are records from `at` on: all of them up to the next stretch, or, within one
 * block, those that are partly inside.
 */
struct pmfs_stretch {
	uint64_t row, at;
	bool whole;
};

struct pmfs_cut {
	struct pm_arena arena, scratch; /* of all; of it, what is needed until costs are gathered */
	struct pmfs_stretch *stretches;
	size_t n_stretches, room;
	uint64_t n;   /* rows */
	uint64_t end; /* the last row's; 0: none */
	bool failed;  /* the trace cannot be read */
	struct pmfs_tally tally;
	/*
	 * Time of calls whose callers have none: added to the context of the caller, and taken off
	 * that of the call it is a part of, so that what the two and those between them add up to,
	 * from below, is what each of them took.
	 */
	struct pmfs_tally lent;
};

/* Empty before; in a build of its arena. pmfs_index_of must have succeeded. */
void pmfs_cut_make(struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, struct pm_error *err);

/* As pm_profile_ops.samples; records are clipped to the span. */
int64_t pmfs_cut_samples(const struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, uint64_t first, struct pm_sample *ret, size_t room,
	struct pm_error *err);

/* The first records from `from` on that may have rows: false if there are none. */
bool pmfs_cut_records(const struct pmfs_cut *cut, uint64_t n_records, uint64_t from,
	uint64_t *ret_first, uint64_t *ret_end);

/* Do all records lie inside, none of them in part? */
bool pmfs_cut_is_whole(const struct pmfs_cut *cut, uint64_t n_records);

/*
 * ---- cut.c ----
 *
 * The costs of a window: the sums of the parts of traces, in a tree of their own.
 */

struct pmfs_gathered {
	const struct pm_tree *whole; /* of the run */
	const struct pmfs_index *index;
	const struct pmfs_cut *cuts;
	uint32_t first, n; /* threads: a cut each */
};

/*
 * Builds the tree of the contexts that were tallied, and of their ancestors, with costs by thread.
 * Calls were tallied with their whole time, samples with that of their own context. Contexts that
 * the run's tree lacks are left out. Time in which nothing runs, by samples of context 0 or of one
 * of the tree that says so, is the cost of a context 0 at the top, where the tree has a frame for
 * it. In a build of the arena, which owns both.
 */
void pmfs_gather(struct pm_arena *a, const struct pmfs_gathered *from, struct pm_tree **ret,
	struct pm_callcosts *ret_costs, struct pm_error *err);

/* ---- profile.c: what ran in a window: the rows of its traces, its tree, and the costs ---- */

struct pmfs_contents {
	struct pmfs_index *x;
	struct pmfs_span span;
	uint32_t first, n; /* threads of the run */
	/* Made: */
	struct pm_threads threads;
	struct pm_thread *items; /* of threads */
	struct pmfs_cut *cuts;   /* by thread */
	struct pm_tree *tree;
	struct pm_callcosts costs;
	/*
	 * Instead, of samples with a weight: in the run's metrics. Where calls have numbers: of
	 * times, too, and of numbers in the run's metrics, whose ids follow.
	 */
	struct pm_costs weighed;
	struct pm_damage_list damage;
	struct pm_damages damages; /* threads whose trace cannot be read */
};

/*
 * instants.c: the rows of a thread, and then the tree and the costs, of samples with a weight: sums
 * over those that lie inside, exact until they leave 64 bits. O(log n) and O(rows). Where the tree
 * and `costs` are there, of calls: the numbers of those that begin inside, and `costs` becomes a
 * part of `weighed`. In builds: of the thread's cut, and of the arena.
 */
void pmfs_instants_cut(struct pmfs_contents *c, uint32_t i, struct pm_error *err);
void pmfs_instants_gather(struct pm_arena *a, struct pmfs_contents *c, struct pm_error *err);

/* As pm_profile_ops.run_costs, of such a window. */
int64_t pmfs_instants_of_run(const struct pmfs_contents *c, const struct pm_metrics *metrics,
	uint32_t context, struct pm_value *ret, size_t room);

/* ---- profile.c: a window as a profile ---- */

/*
 * Threads from `first` on, `n` of them, n > 0: the whole run or one. `title` is a readable name of
 * the window. Built on first use; the index must outlive it. As pm_collection.profile.
 */
int pmfs_window_open(struct pmfs_index *x, const struct pmfs_span *span, uint32_t first, uint32_t n,
	struct pm_profile **ret, struct pm_error *err);

#endif
