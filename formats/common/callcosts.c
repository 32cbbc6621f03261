/* Costs in two orders: stored by thread, and listed by context. */
#include "formats/common/callcosts.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

#define TEXT(s)                                                                                    \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}
/* The metric `of` of time; `tree` and `flat`: where it has a column. */
#define TIME(of, of_role, tree, flat, of_scope)                                                    \
	[of] = {.id = (of),                                                                        \
		.role = (of_role),                                                                 \
		.in_tree = (tree),                                                                 \
		.in_flat = (flat),                                                                 \
		.has_values = true,                                                                \
		.name = TEXT("time"),                                                              \
		.unit = TEXT("ns"),                                                                \
		.scope = TEXT(of_scope)}

static const struct pm_metric metric_list[PM_CALLS_N_METRICS] = {
	TIME(PM_CALLS_INCL, PM_ROLE_INCLUSIVE, true, true, "inclusive"),
	TIME(PM_CALLS_EXCL, PM_ROLE_EXCLUSIVE, true, true, "exclusive"),
	[PM_CALLS_CALLS] = {.id = PM_CALLS_CALLS,
		.group = 1,
		.role = PM_ROLE_COUNT,
		.in_tree = true,
		.in_flat = true,
		.has_values = true,
		.name = TEXT("calls")},
};

static const struct pm_metric sampled_list[PM_CALLS_N_METRICS] = {
	TIME(PM_CALLS_INCL, PM_ROLE_INCLUSIVE, true, true, "inclusive"),
	TIME(PM_CALLS_EXCL, PM_ROLE_EXCLUSIVE, true, false, "exclusive"),
	TIME(PM_SAMPLED_FLAT, PM_ROLE_EXCLUSIVE, false, true, "function"),
};

const struct pm_metrics pm_callcosts_metrics = {PM_CALLS_N_METRICS, metric_list};
const struct pm_metrics pm_callcosts_sampled = {PM_CALLS_N_METRICS, sampled_list};

int pm_callcosts_add(struct pm_callcosts *c, const struct pm_callcost *cost)
{
	if (c->n >= PM_LIMIT_ITEMS || pm_list_room(&c->items, c->n, &c->room, sizeof(*cost)) < 0)
		return -ENOMEM;
	c->items[c->n++] = *cost;
	return 0;
}

static int context_order(const void *a, const void *b)
{
	const struct pm_callcost *x = a, *y = b;
	return (x->context > y->context) - (x->context < y->context);
}

static int sort_thread(struct pm_callcost *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (items[i].context < items[i - 1].context)
			return pm_sort(items, n, sizeof(*items), context_order);
	return 0;
}

static void list_by_context(struct pm_callcosts *c, uint32_t n_contexts)
{
	uint32_t *start = c->context_start;
	for (uint32_t i = 0; i < n_contexts; i++)
		start[i + 1] += start[i];
	/* Backwards, so that each start ends at its original position. */
	for (size_t i = c->n; i-- > 0;)
		c->by_context[--start[c->items[i].context + 1]] = (uint32_t)i;
	memmove(start, start + 1, n_contexts * sizeof(*start));
	start[n_contexts] = (uint32_t)c->n;
}

int pm_callcosts_freeze(
	struct pm_callcosts *c, const uint32_t *index, uint32_t n_threads, uint32_t n_contexts)
{
	c->by_context = calloc(c->n + 1, sizeof(*c->by_context));
	c->context_start = calloc((size_t)n_contexts + 1, sizeof(*c->context_start));
	c->thread_start = calloc((size_t)n_threads + 1, sizeof(*c->thread_start));
	if (!c->by_context || !c->context_start || !c->thread_start)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		struct pm_callcost *cost = &c->items[i];
		cost->context = index[cost->context];
		c->context_start[cost->context + 1]++;
		c->thread_start[cost->thread + 1]++;
	}
	for (uint32_t i = 0; c->n && i < n_threads; i++) {
		if (sort_thread(c->items + c->thread_start[i], c->thread_start[i + 1]) < 0)
			return -ENOMEM;
		c->thread_start[i + 1] += c->thread_start[i];
	}
	list_by_context(c, n_contexts);
	return 0;
}

void pm_callcosts_done(struct pm_callcosts *c)
{
	free(c->items);
	free(c->by_context);
	free(c->context_start);
	free(c->thread_start);
}

/* ---- reading ---- */

static struct pm_value sum_value(pm_sum sum)
{
	if (sum >= 0 && sum <= UINT64_MAX)
		return (struct pm_value){.whole = true, .u = (uint64_t)sum};
	if (sum < 0 && sum >= INT64_MIN)
		return (struct pm_value){.whole = true, .negative = true, .i = (int64_t)sum};
	return (struct pm_value){.f = (double)sum};
}

static struct pm_value value_of(const struct pm_callcost *cost, uint32_t metric)
{
	struct pm_value value = sum_value(metric == PM_CALLS_INCL ? cost->incl
			: metric == PM_CALLS_EXCL                 ? cost->excl
								  : cost->calls);
	value.context = (uint64_t)cost->context + 1;
	value.metric = metric;
	value.thread = cost->thread;
	return value;
}

struct pm_callcost pm_callcosts_sum(const struct pm_callcosts *c, uint32_t context)
{
	struct pm_callcost sum = {.thread = PM_NONE, .context = context};
	for (uint32_t i = c->context_start[context]; i < c->context_start[context + 1]; i++) {
		const struct pm_callcost *cost = &c->items[c->by_context[i]];
		sum.calls += cost->calls;
		sum.incl += cost->incl;
		sum.excl += cost->excl;
	}
	return sum;
}

int64_t pm_callcosts_of_run(
	const struct pm_callcosts *c, uint32_t context, struct pm_value *ret, size_t room)
{
	struct pm_callcost sum = pm_callcosts_sum(c, context);
	uint32_t metric = 0;
	for (; metric < PM_CALLS_N_METRICS && metric < room; metric++)
		ret[metric] = value_of(&sum, metric);
	return metric;
}

int64_t pm_callcosts_values(const struct pm_callcosts *c, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room)
{
	bool thread = of.what == PM_OF_THREAD;
	const uint32_t *start = (thread ? c->thread_start : c->context_start) + of.index;
	uint64_t n = (uint64_t)(start[1] - start[0]) * PM_CALLS_N_METRICS;
	size_t filled = 0;
	for (; filled < room && first < n; filled++, first++) {
		uint64_t at = start[0] + first / PM_CALLS_N_METRICS;
		ret[filled] = value_of(
			&c->items[thread ? at : c->by_context[at]], first % PM_CALLS_N_METRICS);
	}
	return (int64_t)filled;
}
