/* Costs in two orders: as they lie, by thread, and by context through a list. */
#include "formats/htdump/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

int htd_costs_add(struct htd_costs *c, const struct htd_cost *cost)
{
	if (c->n >= PM_LIMIT_ITEMS || pm_list_room(&c->items, c->n, &c->room, sizeof(*cost)) < 0)
		return -ENOMEM;
	c->items[c->n++] = *cost;
	return 0;
}

static int context_order(const void *a, const void *b)
{
	const struct htd_cost *x = a, *y = b;
	return (x->context > y->context) - (x->context < y->context);
}

static void sort_thread(struct htd_cost *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (items[i].context < items[i - 1].context) {
			qsort(items, n, sizeof(*items), context_order);
			return;
		}
}

static void list_by_context(struct htd_costs *c, uint32_t n_contexts)
{
	uint32_t *start = c->context_start;
	for (uint32_t i = 0; i < n_contexts; i++)
		start[i + 1] += start[i];
	/* From the last one on, so that each start ends where it was. */
	for (size_t i = c->n; i-- > 0;)
		c->by_context[--start[c->items[i].context + 1]] = (uint32_t)i;
	memmove(start, start + 1, n_contexts * sizeof(*start));
	start[n_contexts] = (uint32_t)c->n;
}

int htd_costs_freeze(
	struct htd_costs *c, const uint32_t *index, uint32_t n_threads, uint32_t n_contexts)
{
	c->by_context = calloc(c->n + 1, sizeof(*c->by_context));
	c->context_start = calloc((size_t)n_contexts + 1, sizeof(*c->context_start));
	c->thread_start = calloc((size_t)n_threads + 1, sizeof(*c->thread_start));
	if (!c->by_context || !c->context_start || !c->thread_start)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		struct htd_cost *cost = &c->items[i];
		cost->context = index[cost->context];
		c->context_start[cost->context + 1]++;
		c->thread_start[cost->thread + 1]++;
	}
	for (uint32_t i = 0; i < n_threads; i++) {
		sort_thread(c->items + c->thread_start[i], c->thread_start[i + 1]);
		c->thread_start[i + 1] += c->thread_start[i];
	}
	list_by_context(c, n_contexts);
	return 0;
}

void htd_costs_done(struct htd_costs *c)
{
	free(c->items);
	free(c->by_context);
	free(c->context_start);
	free(c->thread_start);
}

/* ---- reading ---- */

static struct pm_value sum_value(htd_sum sum)
{
	if (sum >= 0 && sum <= UINT64_MAX)
		return (struct pm_value){.whole = true, .u = (uint64_t)sum};
	if (sum < 0 && sum >= INT64_MIN)
		return (struct pm_value){.whole = true, .negative = true, .i = (int64_t)sum};
	return (struct pm_value){.f = (double)sum};
}

static struct pm_value value_of(const struct htd_cost *cost, uint32_t metric)
{
	struct pm_value value = sum_value(metric == HTD_METRIC_INCL ? cost->incl
			: metric == HTD_METRIC_EXCL                 ? cost->excl
								    : cost->calls);
	value.context = (uint64_t)cost->context + 1;
	value.metric = metric;
	value.thread = cost->thread;
	return value;
}

struct htd_cost htd_costs_sum(const struct htd_costs *c, uint32_t context)
{
	struct htd_cost sum = {.thread = PM_NONE, .context = context};
	for (uint32_t i = c->context_start[context]; i < c->context_start[context + 1]; i++) {
		const struct htd_cost *cost = &c->items[c->by_context[i]];
		sum.calls += cost->calls;
		sum.incl += cost->incl;
		sum.excl += cost->excl;
	}
	return sum;
}

int64_t htd_costs_of_run(
	const struct htd_costs *c, uint32_t context, struct pm_value *ret, size_t room)
{
	struct htd_cost sum = htd_costs_sum(c, context);
	uint32_t metric = 0;
	for (; metric < HTD_N_METRICS && metric < room; metric++)
		ret[metric] = value_of(&sum, metric);
	return metric;
}

int64_t htd_costs_of_thread(const struct htd_costs *c, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room)
{
	uint32_t begin = c->thread_start[thread];
	uint64_t n = (uint64_t)(c->thread_start[thread + 1] - begin) * HTD_N_METRICS;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++)
		ret[filled] =
			value_of(&c->items[begin + first / HTD_N_METRICS], first % HTD_N_METRICS);
	return (int64_t)filled;
}

int64_t htd_costs_of_context(const struct htd_costs *c, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room)
{
	const uint32_t *listed = c->by_context + c->context_start[context];
	uint64_t n = (uint64_t)(c->context_start[context + 1] - c->context_start[context]) *
		HTD_N_METRICS;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++)
		ret[filled] =
			value_of(&c->items[listed[first / HTD_N_METRICS]], first % HTD_N_METRICS);
	return (int64_t)filled;
}
