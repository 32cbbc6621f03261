/*
 * Costs of contexts by thread, as exact sums: 28 bytes for the three metrics of a context on a
 * thread, more beyond 39 hours. They are made in a build (arena.h), which fails in place of the
 * functions.
 */
#ifndef PROFMOUNT_CALLCOSTS_H
#define PROFMOUNT_CALLCOSTS_H

#include "formats/common/costs.h"
#include "profmount/profile.h"

/* Sums of 64-bit times that cannot overflow. */
typedef __int128 pm_sum;

/*
 * Metrics by id. Samples have no calls to count: there `calls` is another own time, for flat
 * tables, with that of all contexts that are nested in this one (struct pm_frame).
 */
enum { PM_CALLS_INCL, PM_CALLS_EXCL, PM_CALLS_CALLS, PM_CALLS_N_METRICS };
enum { PM_SAMPLED_FLAT = PM_CALLS_CALLS };

/*
 * Time that is not a processor's (enum pm_time) is another quantity, `gpu`, `async` or `sampled`:
 * its metrics have these numbers + time × PM_CALLS_N_METRICS. Calls are counted together.
 */
enum { PM_CALLS_MOST_METRICS = PM_CALLS_N_METRICS * PM_N_TIMES };

struct pm_callcost {
	uint32_t thread, context;
	uint64_t calls;
	pm_sum incl, excl;
	uint8_t time; /* enum pm_time; one cost for each that a context has on a thread */
};

/* Empty: all but the arena is zeroed. */
struct pm_callcosts {
	struct pm_arena *arena;
	bool counted;           /* set by the caller: `calls` are calls, whatever the time is of */
	size_t n;               /* costs: of a context on a thread */
	uint32_t *thread_start; /* once frozen: the first cost of each thread, n_threads + 1 */
	/* Private: */
	struct pm_callcost_item *items; /* by thread, then context */
	size_t room;
	struct pm_callcost *wide; /* costs that do not fit into an item */
	size_t n_wide, wide_room;
	size_t n_threads, thread_room;
	uint32_t *by_context;    /* items by context, then thread */
	uint32_t *context_start; /* in by_context: n_contexts + 1 */
};

/* pm_parts.metrics of such costs, in nanoseconds. */
extern const struct pm_metrics pm_callcosts_metrics, pm_callcosts_sampled;

/*
 * The same with those of the other times: of `times`, a bit for each, only these have values.
 * `leads`: whose time is primary. `list` is filled.
 */
struct pm_metrics pm_callcosts_list(bool calls, unsigned times, enum pm_time leads,
	struct pm_metric list[PM_CALLS_MOST_METRICS]);

/* Adds the costs of a context, by rank, thread by thread in their order. */
void pm_callcosts_add(struct pm_callcosts *c, const struct pm_callcost *cost);

/* Before they are frozen: adds the inclusive costs on all threads to `weight`, by rank. */
void pm_callcosts_weigh(const struct pm_callcosts *c, double *weight);

/* Ranks become contexts: index[rank]. O(n log n_threads). */
void pm_callcosts_freeze(
	struct pm_callcosts *c, const uint32_t *index, uint32_t n_threads, uint32_t n_contexts);

/* Frees them before the arena. */
void pm_callcosts_done(struct pm_callcosts *c);

/* Of a context over all threads, whatever the time is of. */
struct pm_callcost pm_callcosts_sum(const struct pm_callcosts *c, uint32_t context);

/* As run_costs and values of pm_profile_ops; `context` of a value is its index + 1. */
int64_t pm_callcosts_of_run(
	const struct pm_callcosts *c, uint32_t context, struct pm_value *ret, size_t room);
int64_t pm_callcosts_values(const struct pm_callcosts *c, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room);

/* Announces all of them (`expects`), or adds them, where costs of other kinds are, too. */
void pm_callcosts_pour(
	const struct pm_callcosts *c, uint32_t n_threads, struct pm_costs *to, bool expects);

#endif
