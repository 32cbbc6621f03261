/*
 * Costs of contexts by thread in memory, for formats without an index on disk. Announce each value,
 * place them, add each (in any order), freeze, then read by thread or by context. Takes 20 bytes
 * per value from the start. pm_value.context is the context's index + 1. They are made in a build
 * (arena.h), which fails in place of the functions.
 */
#ifndef PROFMOUNT_COSTS_H
#define PROFMOUNT_COSTS_H

#include "formats/common/arena.h"
#include "profmount/profile.h"

struct pm_costs {
	struct pm_arena *arena;
	struct pm_cost *items;   /* by context, then thread, then metric */
	uint32_t *by_thread;     /* positions in items, thread by thread, each in order */
	uint32_t *context_start; /* in items: n_contexts + 1 */
	uint32_t *thread_start;  /* in by_thread: n_threads + 1 */
	uint32_t *room;          /* while adding: the next free position, by context */
	uint32_t n_threads, n_contexts;
	uint64_t n;
};

struct pm_costs pm_costs_in(struct pm_arena *a, uint32_t n_threads, uint32_t n_contexts);

/* Announces a value of a context below n_contexts. */
void pm_costs_expect(struct pm_costs *c, uint32_t context);

/* Call after all values have been announced. */
void pm_costs_place(struct pm_costs *c);

/*
 * Adds an announced value; values with the same thread, context and metric (below 2^31) are added
 * up, integers apart from doubles, within 64 bits.
 */
void pm_costs_add(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, double value);
void pm_costs_add_whole(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, int64_t value);

/* Call after all values have been added. */
void pm_costs_freeze(struct pm_costs *c);

/* Like pm_profile_ops.values of a thread: by context, then metric. */
int64_t pm_costs_of_thread(const struct pm_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room);

/* Like pm_profile_ops.values of a context: by thread, then metric. */
int64_t pm_costs_of_context(const struct pm_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room);

/*
 * Contexts and values of a thread. O(its values × log n_contexts). 0, or -ENOMEM if the work is
 * cancelled.
 */
int pm_costs_counts(const struct pm_costs *c, uint32_t thread, struct pm_thread_counts *ret);

#endif
