/* Threads: their names, totals and times. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_THREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_THREADS_H

#include "formats/common/arena.h"
#include "fs/views/model/model.h"

/*
 * The totals of a thread by column (columns->n cells, NaN = no value): inclusive costs as stored
 * for the whole thread or else of its top-level contexts, others summed over its contexts. Reads
 * all values of the thread on the first call.
 */
int pmfs_thread_totals(
	struct pmfs_model *m, uint32_t thread, pm_number *cells, struct pm_error *err);

/*
 * Only the totals that are stored for the whole thread, in the same cells: values of context 0,
 * which come first. Reads nothing else.
 */
int pmfs_thread_stored(
	struct pmfs_model *m, uint32_t thread, pm_number *cells, struct pm_error *err);

/* The start of the measured execution, or PM_NO_TIME. */
int pmfs_time_origin(struct pmfs_model *m, uint64_t *ret, struct pm_error *err);

/* Whether both are times, and the first is at most INT64_MAX before the second. */
static inline bool pmfs_is_time(uint64_t time_ns, uint64_t origin_ns)
{
	return time_ns != PM_NO_TIME && origin_ns != PM_NO_TIME &&
		(time_ns >= origin_ns || origin_ns - time_ns <= INT64_MAX);
}

/* A time relative to the origin; empty unless pmfs_is_time. */
static inline void pmfs_set_time(struct pm_cell *cell, uint64_t time_ns, uint64_t origin_ns)
{
	if (!pmfs_is_time(time_ns, origin_ns))
		pm_set_empty(cell);
	else if (time_ns < origin_ns)
		pm_set_i64(cell, (int64_t)(time_ns - origin_ns));
	else
		pm_set_u64(cell, time_ns - origin_ns);
}

/* Whether a thread's failure is one of the source, which other threads need not have. */
static inline bool pmfs_is_unreadable(int r)
{
	return r == -EIO || r == -EINVAL;
}

/* Of a thread alone: 0 for such a failure, else `r`, of which `err` then has the reason. */
static inline int pmfs_unless_unreadable(int r, const struct pm_error *why, struct pm_error *err)
{
	if (pmfs_is_unreadable(r))
		return 0;
	if (r < 0 && err && !err->code)
		*err = *why;
	return r;
}

/*
 * Reads threads on all cores, some ahead, and takes the results in order: sums are the same however
 * many cores there are. A thread that cannot be read has a zeroed result.
 */
struct pmfs_all_threads {
	uint32_t n;
	size_t size; /* of a result, which begins with its arena */
	/* Builds result i, which is zeroed before, in its arena; called by several threads. */
	void (*make)(
		struct pm_arena *a, void *self, uint32_t i, void *result, struct pm_error *err);
	void (*take)(void *self, uint32_t i, const void *result);
	void *self;
};

/* In a build of `a`, which `take` is a part of. */
void pmfs_read_all_threads(
	struct pm_arena *a, const struct pmfs_all_threads *all, struct pm_error *err);

/*
 * The number of the first of these keys that a thread's identity has, + 1; 0 if it has none. `keys`
 * ends with NULL.
 */
uint64_t pmfs_thread_key(
	const struct pm_threads *threads, uint32_t thread, const char *const *keys);

/* The same of its process: a rank, else a process. */
uint64_t pmfs_thread_process(const struct pm_threads *threads, uint32_t thread);

/* Fills the identity columns of a thread's row. Returns the cell after the last. */
struct pm_cell *pmfs_identity_cells(
	const struct pm_threads *threads, uint32_t thread, struct pm_cell *cells);

/* For views of traces: whether this thread, or any thread, has a trace. Cheap. */
int pmfs_thread_has_trace(struct pmfs_model *m, uint32_t thread, struct pm_error *err);
int pmfs_some_thread_has_trace(struct pmfs_model *m, uint32_t item, struct pm_error *err);

/*
 * ---- threads without any cost ----
 *
 * Threads without any cost (stored zeros do not count), which are counted separately; in
 * filters, those without any in the whole.
 */

struct pmfs_empty_threads {
	uint32_t n_threads; /* without lanes */
	uint32_t n_empty;   /* threads without a cost in any column */
	const bool *empty;  /* by thread, and lane */
};

/*
 * Computed on the first call; owned by the model. For quantities with inclusive costs only
 * top-level contexts are read; only counts require reading all values of each thread.
 */
int pmfs_empty_threads(
	struct pmfs_model *m, const struct pmfs_empty_threads **ret, struct pm_error *err);

#endif
