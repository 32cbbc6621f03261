/*
 * How many calls of each function or method took how long. Clocks have ticks, so the calls of one
 * function have few different lengths. These are counted exactly, and percentiles need no second
 * pass over the calls.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_LENGTHS_H
#define PROFMOUNT_FORMATS_COMMON_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/common/arena.h"
#include "profmount/traces.h"

struct pm_length {
	uint64_t length; /* ns; PM_NO_TIME: not known */
	uint32_t of;     /* the function or method */
	uint32_t calls;
};

/* Zeroed = empty. */
struct pm_lengths {
	struct pm_length *items; /* open addressing; no calls: free */
	size_t n, room;
	/* Those of other tables, up to 2 * PM_LIMIT_LENGTHS; a length may be there several times.
	 */
	struct pm_length *joined;
	size_t n_joined;
	bool full; /* there are more than PM_LIMIT_LENGTHS: all percentiles are unknown */
	/*
	 * Atomic; of all tables that will be joined, so that the others are not kept once one of
	 * them is full. NULL: there are no others.
	 */
	bool *any_full;
};

/* Counts `calls` calls of `of`, each of this length. 0 or -ENOMEM. */
int pm_lengths_add(struct pm_lengths *l, uint32_t of, uint64_t length, uint64_t calls);

/* The same for many calls, each of them once. */
struct pm_timed {
	uint64_t length;
	uint32_t of;
};

int pm_lengths_add_all(struct pm_lengths *l, const struct pm_timed *calls, size_t n);

/*
 * Adds the counts of another table, which nothing has been joined to, and in which function i is
 * to[i] here; if NULL, numbers are the same. O(1) for each length. 0 or -ENOMEM.
 */
int pm_lengths_join(struct pm_lengths *l, const struct pm_lengths *from, const uint32_t *to);

/*
 * Percentiles and the longest call of each function below `n`. Unknown for functions without calls
 * or with a call of unknown length, and for all if there were too many different lengths, also
 * those of joined tables together. Sorts on all processors. 0 or -ENOMEM.
 */
int pm_lengths_times(const struct pm_lengths *l, struct pm_call_times *ret, uint32_t n);

/*
 * The same for a table of one function (all items have the same `of`), with its histogram, which is
 * allocated in `arena`.
 */
int pm_lengths_histogram(
	const struct pm_lengths *l, struct pm_arena *arena, struct pm_call_times *ret);

void pm_lengths_done(struct pm_lengths *l);

#endif
