/*
 * Costs of contexts by thread, in memory: for formats that have no index of their own on disk.
 * Append in any order, freeze, then read by thread or by context. 16 bytes a value, twice. Contexts
 * have no numbers of their own there: pm_value.context is the context's index + 1.
 */
#ifndef PROFMOUNT_COSTS_H
#define PROFMOUNT_COSTS_H

#include "profmount/profile.h"

struct pm_costs {
	struct pm_cost *by_thread, *by_context; /* the same values, in two orders */
	uint64_t *thread_start;                 /* n_threads + 1 */
	uint64_t *context_start;                /* n_contexts + 1 */
	uint64_t n;
	size_t room;
	uint32_t n_threads, n_contexts;
};

/* One value; several of one (thread, context, metric) are added up by pm_costs_freeze. */
int pm_costs_add(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, double value);

/* Contexts must be below n_contexts (indexes of the frozen tree), threads below n_threads. */
int pm_costs_freeze(struct pm_costs *c, uint32_t n_threads, uint32_t n_contexts);

/* As pm_profile_ops.thread_costs: by context, then metric. */
int64_t pm_costs_of_thread(const struct pm_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room);

/* As pm_profile_ops.context_costs, for the context with that index: by thread, then metric. */
int64_t pm_costs_of_context(const struct pm_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room);

/* As pm_profile_ops.run_costs: sums over the threads, by metric. */
int64_t pm_costs_of_run(
	const struct pm_costs *c, uint32_t context, struct pm_value *ret, size_t room);

void pm_costs_done(struct pm_costs *c);

#endif
