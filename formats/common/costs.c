/*
 * Costs in two orders, both made by counting: never by comparing all with all.
 *
 * While values are added, both arrays grow side by side, in order of arrival: by_thread[i] holds
 * the context of value i, by_context[i] its thread. pm_costs_freeze distributes them over the
 * contexts, from there over the threads, merges what is equal and distributes the rest over the
 * contexts again. A distribution keeps the order of what falls on one place.
 */
#include "formats/common/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

struct pm_cost {
	uint32_t other; /* the context in by_thread, the thread in by_context */
	uint32_t metric;
	double value;
};

int pm_costs_add(
	struct pm_costs *c, uint32_t thread, uint32_t context, uint32_t metric, double value)
{
	size_t room = c->room;
	if (pm_list_room(&c->by_thread, c->n, &room, sizeof(*c->by_thread)) < 0 ||
		pm_list_room(&c->by_context, c->n, &c->room, sizeof(*c->by_context)) < 0)
		return -ENOMEM;
	c->by_thread[c->n] = (struct pm_cost){context, metric, value};
	c->by_context[c->n] = (struct pm_cost){thread, metric, value};
	c->n++;
	return 0;
}

/* ---- freezing ---- */

/* Where the values of each of `n` places begin, when `costs` is distributed over them. */
static int count_places(
	const struct pm_cost *costs, uint64_t n_costs, uint32_t n, uint64_t **ret_start)
{
	uint64_t *start = calloc((size_t)n + 1, sizeof(*start));
	if (!start)
		return -ENOMEM;
	for (uint64_t i = 0; i < n_costs; i++) {
		if (costs[i].other >= n) {
			free(start);
			return -EINVAL;
		}
		start[costs[i].other + 1]++;
	}
	for (uint32_t place = 0; place < n; place++)
		start[place + 1] += start[place];
	*ret_start = start;
	return 0;
}

/*
 * A distribution moves each start to its end, which is the next one's start: this undoes it,
 * without a second array of n.
 */
static void restore_starts(uint64_t *start, uint32_t n)
{
	for (uint32_t place = n; place > 0; place--)
		start[place] = start[place - 1];
	start[0] = 0;
}

/* From arrival to contexts: `to` has the thread of each. */
static void arrivals_to_contexts(struct pm_costs *c, struct pm_cost *to)
{
	for (uint64_t i = 0; i < c->n; i++)
		to[c->context_start[c->by_thread[i].other]++] = c->by_context[i];
	restore_starts(c->context_start, c->n_contexts);
}

/* From one order to the other; each value's `other` becomes the place where it lay. */
static void distribute(const struct pm_cost *from, const uint64_t *from_start, uint32_t n_from,
	struct pm_cost *to, uint64_t *to_start)
{
	for (uint32_t place = 0; place < n_from; place++)
		for (uint64_t i = from_start[place]; i < from_start[place + 1]; i++)
			to[to_start[from[i].other]++] =
				(struct pm_cost){place, from[i].metric, from[i].value};
}

static int by_metric(const void *a, const void *b)
{
	const struct pm_cost *x = a, *y = b;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Orders the values from `first` to `last` of one thread and context, mostly in order already. */
static void sort_metrics(struct pm_cost *costs, uint64_t first, uint64_t last)
{
	for (uint64_t i = first + 1; i < last; i++)
		if (costs[i].metric < costs[i - 1].metric) {
			qsort(costs + first, last - first, sizeof(*costs), by_metric);
			return;
		}
}

/* Merges equal (context, metric) of one thread in place, to `at`; returns the new end. */
static uint64_t merge_thread(struct pm_cost *costs, uint64_t first, uint64_t last, uint64_t at)
{
	uint64_t begin = at;
	while (first < last) {
		uint64_t next = first + 1;
		while (next < last && costs[next].other == costs[first].other)
			next++;
		sort_metrics(costs, first, next);
		for (; first < next; first++) {
			struct pm_cost *before = at > begin ? &costs[at - 1] : NULL;
			if (before && before->other == costs[first].other &&
				before->metric == costs[first].metric)
				before->value += costs[first].value;
			else
				costs[at++] = costs[first];
		}
	}
	return at;
}

static void merge_equal(struct pm_costs *c)
{
	uint64_t at = 0, first = 0;
	for (uint32_t thread = 0; thread < c->n_threads; thread++) {
		uint64_t last = c->thread_start[thread + 1];
		at = merge_thread(c->by_thread, first, last, at);
		c->thread_start[thread + 1] = at;
		first = last;
	}
	c->n = at;
}

/* Gives back what a smaller `n` left over; staying larger is no failure. */
static struct pm_cost *shrunk(struct pm_cost *costs, uint64_t n)
{
	struct pm_cost *smaller = realloc(costs, (n ? n : 1) * sizeof(*costs));
	return smaller ? smaller : costs;
}

int pm_costs_freeze(struct pm_costs *c, uint32_t n_threads, uint32_t n_contexts)
{
	c->n_threads = n_threads;
	c->n_contexts = n_contexts;
	int r = count_places(c->by_thread, c->n, n_contexts, &c->context_start);
	if (r == 0)
		r = count_places(c->by_context, c->n, n_threads, &c->thread_start);
	if (r < 0 || c->n == 0)
		return r;
	struct pm_cost *other = malloc(c->n * sizeof(*other));
	if (!other)
		return -ENOMEM;
	arrivals_to_contexts(c, other);
	distribute(other, c->context_start, n_contexts, c->by_thread, c->thread_start);
	restore_starts(c->thread_start, n_threads);
	free(other);
	merge_equal(c);
	free(c->context_start);
	c->context_start = NULL;
	r = count_places(c->by_thread, c->n, n_contexts, &c->context_start);
	if (r < 0)
		return r;
	distribute(c->by_thread, c->thread_start, n_threads, c->by_context, c->context_start);
	restore_starts(c->context_start, n_contexts);
	c->by_thread = shrunk(c->by_thread, c->n);
	c->by_context = shrunk(c->by_context, c->n);
	return 0;
}

/* ---- reading ---- */

int64_t pm_costs_of_thread(const struct pm_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room)
{
	if (thread >= c->n_threads)
		return 0;
	uint64_t begin = c->thread_start[thread], n = c->thread_start[thread + 1] - begin;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++) {
		const struct pm_cost *cost = &c->by_thread[begin + first];
		ret[filled] = (struct pm_value){
			.context = (uint64_t)cost->other + 1,
			.metric = cost->metric,
			.thread = thread,
			.f = cost->value,
		};
	}
	return (int64_t)filled;
}

int64_t pm_costs_of_context(const struct pm_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room)
{
	if (context >= c->n_contexts)
		return 0;
	uint64_t begin = c->context_start[context], n = c->context_start[context + 1] - begin;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++) {
		const struct pm_cost *cost = &c->by_context[begin + first];
		ret[filled] = (struct pm_value){
			.context = (uint64_t)context + 1,
			.metric = cost->metric,
			.thread = cost->other,
			.f = cost->value,
		};
	}
	return (int64_t)filled;
}

/*
 * Adds a cost to the sums, which are ordered by metric, at *at or behind. Where there are more
 * metrics than room, those with the lowest ids stay. Returns how many sums there are.
 */
static size_t add_to_sums(
	struct pm_value *sums, size_t n, size_t room, const struct pm_value *one, size_t *at)
{
	while (*at < n && sums[*at].metric < one->metric)
		++*at;
	if (*at < n && sums[*at].metric == one->metric) {
		sums[*at].f += one->f;
		return n;
	}
	if (*at == room)
		return n;
	n -= n == room;
	memmove(sums + *at + 1, sums + *at, (n - *at) * sizeof(*sums));
	sums[*at] = *one;
	return n + 1;
}

int64_t pm_costs_of_run(
	const struct pm_costs *c, uint32_t context, struct pm_value *ret, size_t room)
{
	if (context >= c->n_contexts)
		return 0;
	size_t n = 0, at = 0;
	uint32_t thread = PM_NONE;
	for (uint64_t i = c->context_start[context]; i < c->context_start[context + 1]; i++) {
		const struct pm_cost *cost = &c->by_context[i];
		struct pm_value one = {
			.context = (uint64_t)context + 1,
			.metric = cost->metric,
			.thread = PM_NONE,
			.f = cost->value,
		};
		if (cost->other != thread)
			at = 0; /* metrics begin anew with each thread */
		thread = cost->other;
		n = add_to_sums(ret, n, room, &one, &at);
	}
	return (int64_t)n;
}

void pm_costs_done(struct pm_costs *c)
{
	free(c->by_thread);
	free(c->by_context);
	free(c->thread_start);
	free(c->context_start);
	*c = (struct pm_costs){.n = 0};
}
