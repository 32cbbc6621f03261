/*
 * Costs of contexts by thread, as exact sums: 52 bytes for the three metrics of a context on a
 * thread.
 */
#ifndef PROFMOUNT_HTDUMP_COSTS_H
#define PROFMOUNT_HTDUMP_COSTS_H

#include "formats/htdump/lane.h"
#include "profmount/profile.h"

enum { HTD_METRIC_INCL, HTD_METRIC_EXCL, HTD_METRIC_CALLS, HTD_N_METRICS };

struct htd_cost {
	uint32_t thread, context;
	uint64_t calls;
	htd_sum incl, excl;
};

struct htd_costs {
	struct htd_cost *items; /* by thread, then context */
	size_t n, room;
	uint32_t *by_context;    /* items by context, then thread */
	uint32_t *context_start; /* in by_context: n_contexts + 1 */
	uint32_t *thread_start;  /* in items: n_threads + 1 */
};

/* Adds the costs of a context, by rank, thread by thread. 0 or -ENOMEM. */
int htd_costs_add(struct htd_costs *c, const struct htd_cost *cost);

/* Ranks become contexts: index[rank]. 0 or -ENOMEM. */
int htd_costs_freeze(
	struct htd_costs *c, const uint32_t *index, uint32_t n_threads, uint32_t n_contexts);
void htd_costs_done(struct htd_costs *c);

/* Of a context over all threads. */
struct htd_cost htd_costs_sum(const struct htd_costs *c, uint32_t context);

/* As the functions of pm_profile_ops, contexts by index. */
int64_t htd_costs_of_run(
	const struct htd_costs *c, uint32_t context, struct pm_value *ret, size_t room);
int64_t htd_costs_of_thread(const struct htd_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room);
int64_t htd_costs_of_context(const struct htd_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room);

#endif
