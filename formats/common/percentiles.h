/*
 * Percentiles of the durations of calls, of each function, method or label: exact, in bounded
 * memory. Durations are counted while calls are read for other reasons. Clocks have ticks, so the
 * calls of one function have few different durations, and mostly all of them fit. Where they do
 * not, they are counted more coarsely, and the calls are read again for the rest: only those that
 * took about as long as a percentile.
 */
#ifndef PROFMOUNT_PERCENTILES_H
#define PROFMOUNT_PERCENTILES_H

#include <stdbool.h>
#include <stddef.h>

#include "profmount/traces.h"

struct pm_duration {
	uint64_t ns; /* PM_NO_TIME: not known */
	uint32_t of; /* the function, method or label */
};

/* Calls of about the same duration. */
struct pm_counted {
	uint64_t ns; /* mixed: the shortest that they may have */
	uint32_t of;
	uint32_t calls : 31, mixed : 1; /* mixed: they took not equally long */
};

/* Counters of the calls of a function that took 0, 1 … n - 1 ticks. */
struct pm_brief {
	uint32_t first, n; /* in pm_durations.ticks */
	uint32_t missed;   /* calls that more counters would have counted, since there are n */
};

struct pm_narrowing; /* private */

/* Zeroed = empty, and exact. Not thread-safe: each thread has one, and they are joined. */
struct pm_durations {
	struct pm_counted *items; /* open addressing; no calls: free */
	size_t n, room;
	size_t most;     /* items, but for one of each function; 0: pm_durations_most */
	unsigned coarse; /* 0: all durations are exact */
	const struct pm_narrowing *only; /* other calls are not counted; NULL: all are */
	/* Brief calls need not be looked up: they have counters. */
	unsigned tick_bits; /* durations are whole multiples of 2^tick_bits; 0: there are none */
	struct pm_brief *brief; /* by function */
	uint32_t *ticks;
	size_t n_brief, brief_room, n_ticks, tick_room;
};

/* PM_LIMIT_COUNTED, unless a test sets less. */
extern size_t pm_durations_most;

/* Counts `calls` calls of `of`, each of this duration. 0 or -ENOMEM. */
int pm_durations_add(struct pm_durations *d, uint32_t of, uint64_t ns, uint64_t calls);

/* The same for many calls, each of them once: faster. */
int pm_durations_add_all(struct pm_durations *d, const struct pm_duration *calls, size_t n);

/* Whether the call would be counted: others need not be added. */
bool pm_durations_want(const struct pm_durations *d, uint32_t of, uint64_t ns);

/*
 * Adds what another table has counted, in which function i is to[i] here; if NULL, and in a pass
 * (see below), numbers are the same. 0 or -ENOMEM.
 */
int pm_durations_join(struct pm_durations *d, const struct pm_durations *from, const uint32_t *to);

void pm_durations_done(struct pm_durations *d);

/*
 * Adds all calls once more, in any order, to `ret`, or to tables with the same `only` that are
 * joined with it; functions have the same numbers as before. 0 or a negative errno.
 */
typedef int (*pm_pass)(void *context, struct pm_durations *ret);

/*
 * Percentiles and the longest call of each function below `n`; unknown for those without calls or
 * with a call of unknown duration. `d` is empty afterwards. Sorts on all processors; if `d` is
 * coarse, makes passes: mostly one. 0, what a pass returned, -EIO if a pass had fewer calls, or
 * -ENOMEM.
 */
int pm_percentiles(
	struct pm_durations *d, struct pm_call_times *ret, uint32_t n, pm_pass pass, void *context);

#endif
