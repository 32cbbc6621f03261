/*
 * How many calls of each method took how long. Durations are ticks of 65 µs, so a method has few
 * that differ, and counting each is exact: percentiles need no second pass over the calls.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_LENGTHS_H
#define PROFMOUNT_FORMATS_ZTS_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>

#include "profmount/traces.h"

struct zts_length {
	uint64_t key; /* method and ticks */
	uint64_t calls;
};

/* Zeroed = empty. */
struct zts_lengths {
	struct zts_length *items; /* open addressing; no calls: free */
	size_t n, room;
	bool full; /* there are more than PM_LIMIT_LENGTHS: nothing is known any more */
};

/* Counts `calls` calls of a method that took `ticks` each. 0 or -ENOMEM. */
int zts_lengths_add(struct zts_lengths *l, uint32_t method, uint64_t ticks, uint64_t calls);

/* The same for many calls, each of them once. */
struct zts_timed {
	uint64_t ticks;
	uint32_t method;
};

int zts_lengths_add_all(struct zts_lengths *l, const struct zts_timed *calls, size_t n);

/* Adds what was counted elsewhere: methods[m] is the method m there. 0 or -ENOMEM. */
int zts_lengths_join(
	struct zts_lengths *l, const struct zts_lengths *from, const uint32_t *methods);

/*
 * Percentiles and the longest call of each method below `n`; unknown for methods without calls, and
 * for all if there were too many different durations. Reorders the items, so nothing can be added
 * afterwards.
 */
void zts_lengths_times(struct zts_lengths *l, struct pm_call_times *ret, uint32_t n);

void zts_lengths_done(struct zts_lengths *l);

#endif
