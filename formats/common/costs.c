/*
 * Costs in two orders. They are stored by context. The position of each is known in advance, so
 * costs are moved only within a context, and only if they did not come in order. Each thread has a
 * list of positions in the order of contexts.
 */
#include "formats/common/costs.h"

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { WHOLE = 1u << 31 };

struct pm_cost {
	uint32_t thread;
	uint32_t metric; /* with WHOLE: the value is an integer */
	union {
		double value;
		int64_t whole;
	};
};

/* ---- placing ---- */

struct pm_costs pm_costs_in(struct pm_arena *a, uint32_t n_threads, uint32_t n_contexts)
{
	return (struct pm_costs){.arena = a,
		.n_threads = n_threads,
		.n_contexts = n_contexts,
		.context_start = pm_arena_array(a, (size_t)n_contexts + 1, sizeof(uint32_t)),
		.thread_start = pm_arena_array(a, (size_t)n_threads + 1, sizeof(uint32_t))};
}

void pm_costs_expect(struct pm_costs *c, uint32_t context)
{
	c->context_start[context + 1]++;
	c->n++;
}

void pm_costs_place(struct pm_costs *c)
{
	pm_build_check(c->arena, c->n > PM_LIMIT_ITEMS ? PM_NO_MEMORY : 0);
	for (uint32_t i = 0; i < c->n_contexts; i++)
		c->context_start[i + 1] += c->context_start[i];
	c->items = pm_arena_realloc(c->arena, NULL, c->n * sizeof(*c->items));
	c->room = pm_arena_realloc(c->arena, NULL, c->n_contexts * sizeof(*c->room));
	memcpy(c->room, c->context_start, c->n_contexts * sizeof(*c->room));
}

void pm_costs_add(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, double value)
{
	c->items[c->room[context]++] = (struct pm_cost){thread, metric, {value}};
}

void pm_costs_add_whole(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, int64_t value)
{
	c->items[c->room[context]++] = (struct pm_cost){thread, metric | WHOLE, {.whole = value}};
}

/* ---- freezing ---- */

static int cost_order(const void *a, const void *b)
{
	const struct pm_cost *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Formats that add costs by thread, then by metric, need no sorting. */
static bool is_in_order(const struct pm_cost *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (cost_order(&items[i - 1], &items[i]) >= 0)
			return false;
	return true;
}

/* Moves the costs of a context down to *at, their end then, sorted, with equal ones merged. */
static void settle_context(struct pm_costs *c, uint32_t first, uint32_t end, uint32_t *at)
{
	struct pm_cost *items = c->items;
	uint32_t begin = *at;
	if (!is_in_order(items + first, end - first))
		pm_build_check(
			c->arena, pm_sort(items + first, end - first, sizeof(*items), cost_order));
	for (; first < end; first++) {
		bool again = *at > begin && cost_order(&items[*at - 1], &items[first]) == 0;
		if (!again)
			items[(*at)++] = items[first];
		else if (items[first].metric & WHOLE)
			items[*at - 1].whole += items[first].whole;
		else
			items[*at - 1].value += items[first].value;
	}
}

void pm_costs_freeze(struct pm_costs *c)
{
	uint32_t at = 0, *start = c->thread_start;
	for (uint32_t i = 0; i < c->n_contexts; i++) {
		uint32_t first = c->context_start[i];
		c->context_start[i] = at;
		settle_context(c, first, c->room[i], &at);
	}
	c->context_start[c->n_contexts] = at;
	c->n = at;
	pm_arena_free(c->arena, c->room);
	c->by_thread = pm_arena_realloc(c->arena, NULL, c->n * sizeof(*c->by_thread));
	for (uint32_t i = 0; i < c->n; i++)
		start[c->items[i].thread + 1]++;
	for (uint32_t i = 0; i < c->n_threads; i++)
		start[i + 1] += start[i];
	for (uint32_t i = 0; i < c->n; i++)
		c->by_thread[start[c->items[i].thread]++] = i;
	/* Each start has become its end, which is the start of the next thread. */
	memmove(start + 1, start, c->n_threads * sizeof(*start));
	start[0] = 0;
}

/* ---- reading ---- */

static struct pm_value value_of(const struct pm_cost *cost, uint32_t context)
{
	struct pm_value v = {.context = (uint64_t)context + 1,
		.metric = cost->metric & ~WHOLE,
		.thread = cost->thread,
		.whole = cost->metric & WHOLE};
	v.negative = v.whole && cost->whole < 0;
	if (v.whole)
		v.i = cost->whole;
	else
		v.f = cost->value;
	return v;
}

/* The context to which a position belongs. */
static uint32_t context_at(const struct pm_costs *c, uint32_t place)
{
	return PM_LOWER_BOUND(i, 1, c->n_contexts, c->context_start[i] <= place) - 1;
}

int64_t pm_costs_of_thread(const struct pm_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room)
{
	enum { NEAR = 8 };
	if (thread >= c->n_threads)
		return 0;
	uint32_t begin = c->thread_start[thread], n = c->thread_start[thread + 1] - begin;
	uint32_t context = first < n ? context_at(c, c->by_thread[begin + first]) : 0;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++) {
		uint32_t place = c->by_thread[begin + first];
		const struct pm_cost *cost = &c->items[place];
		/* Mostly one of the next; but a thread may have few contexts of very many. */
		for (unsigned i = 0; i < NEAR && c->context_start[context + 1] <= place; i++)
			context++;
		if (c->context_start[context + 1] <= place)
			context = context_at(c, place);
		ret[filled] = value_of(cost, context);
	}
	return (int64_t)filled;
}

int64_t pm_costs_of_context(const struct pm_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room)
{
	if (context >= c->n_contexts)
		return 0;
	uint32_t begin = c->context_start[context], n = c->context_start[context + 1] - begin;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++) {
		ret[filled] = value_of(&c->items[begin + first], context);
	}
	return (int64_t)filled;
}

int pm_costs_counts(const struct pm_costs *c, uint32_t thread, struct pm_thread_counts *ret)
{
	enum { BETWEEN = 4096 }; /* two checks for cancellation */
	uint32_t from = c->thread_start[thread], to = c->thread_start[thread + 1];
	*ret = (struct pm_thread_counts){.values = to - from};
	for (uint32_t context = 0; from < to; from++) {
		uint32_t end = c->context_start[context];
		if (from % BETWEEN == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (ret->contexts > 0 && c->by_thread[from] < end)
			continue;
		context = context_at(c, c->by_thread[from]) + 1;
		ret->contexts++;
	}
	return 0;
}
