/*
 * Costs in two orders: stored by thread, and listed by context. Nearly all of them fit into 48 bits
 * each.
 */
#include "formats/common/callcosts.h"

#include "formats/common/list.h"
#include "formats/common/search.h"

enum { BETWEEN_QUESTIONS = 1 << 16 };

/* The lower 32 bits and the upper 16 of each metric; or low[0] is the index of a wide cost. */
struct pm_callcost_item {
	uint32_t context;
	uint32_t low[PM_CALLS_N_METRICS];
	int16_t high[PM_CALLS_N_METRICS];
	uint8_t is_wide, time;
};

/* The metric `of` of time; `tree` and `flat`: where it has a column. */
#define TIME(of, of_role, tree, flat, of_scope)                                                    \
	[of] = {.id = (of),                                                                        \
		.role = (of_role),                                                                 \
		.in_tree = (tree),                                                                 \
		.in_flat = (flat),                                                                 \
		.has_values = true,                                                                \
		.name = PM_BYTES("time"),                                                          \
		.unit = PM_BYTES("ns"),                                                            \
		.scope = PM_BYTES(of_scope)}

static const struct pm_metric metric_list[PM_CALLS_N_METRICS] = {
	TIME(PM_CALLS_INCL, PM_ROLE_INCLUSIVE, true, true, "inclusive"),
	TIME(PM_CALLS_EXCL, PM_ROLE_EXCLUSIVE, true, true, "exclusive"),
	[PM_CALLS_CALLS] = {.id = PM_CALLS_CALLS,
		.group = 1,
		.role = PM_ROLE_COUNT,
		.in_tree = true,
		.in_flat = true,
		.has_values = true,
		.name = PM_BYTES("calls")},
};

static const struct pm_metric sampled_list[PM_CALLS_N_METRICS] = {
	TIME(PM_CALLS_INCL, PM_ROLE_INCLUSIVE, true, true, "inclusive"),
	TIME(PM_CALLS_EXCL, PM_ROLE_EXCLUSIVE, true, false, "exclusive"),
	TIME(PM_SAMPLED_FLAT, PM_ROLE_EXCLUSIVE, false, true, "function"),
};

const struct pm_metrics pm_callcosts_metrics = {PM_CALLS_N_METRICS, metric_list};
const struct pm_metrics pm_callcosts_sampled = {PM_CALLS_N_METRICS, sampled_list};

struct pm_metrics pm_callcosts_list(bool calls, unsigned times, enum pm_time leads,
	struct pm_metric list[PM_CALLS_MOST_METRICS])
{
	static const struct pm_bytes names[PM_N_TIMES] = {
		PM_BYTES("time"), PM_BYTES("gpu"), PM_BYTES("async"), PM_BYTES("sampled")};
	const struct pm_metric *of = calls ? metric_list : sampled_list;
	uint32_t n = 0, group = 0;
	for (uint32_t i = 0; i < PM_CALLS_MOST_METRICS; i++) {
		uint32_t time = i / PM_CALLS_N_METRICS, metric = i % PM_CALLS_N_METRICS;
		if (of[metric].role == PM_ROLE_COUNT || !(times >> time & 1))
			continue;
		list[n] = of[metric];
		list[n].id = i;
		list[n].name = names[time];
		group += n > 0 && !pm_bytes_equal(list[n].name, list[n - 1].name);
		list[n++].group = group;
	}
	if (calls) {
		list[n] = of[PM_CALLS_CALLS];
		list[n++].group = group + 1;
	}
	for (uint32_t i = n; i-- > 0;)
		if (list[i].role != PM_ROLE_COUNT &&
			list[i].id / PM_CALLS_N_METRICS == (uint32_t)leads)
			group = list[i].group;
	return (struct pm_metrics){.n = n, .metrics = list, .leads = group + 1};
}

/* ---- items ---- */

static bool put(struct pm_callcost_item *item, uint32_t metric, pm_sum sum)
{
	item->low[metric] = (uint32_t)sum;
	item->high[metric] = (int16_t)(sum >> 32);
	return sum >> 32 == item->high[metric];
}

static int64_t get(const struct pm_callcost_item *item, uint32_t metric)
{
	return (int64_t)item->high[metric] * ((int64_t)1 << 32) + item->low[metric];
}

/* The cost of an item, without its thread. */
static struct pm_callcost cost_of(const struct pm_callcosts *c, const struct pm_callcost_item *item)
{
	struct pm_callcost cost = {.context = item->context, .time = item->time};
	if (item->is_wide) {
		cost = c->wide[item->low[0]];
		cost.context = item->context;
		return cost;
	}
	cost.calls = (uint64_t)get(item, PM_CALLS_CALLS);
	cost.incl = get(item, PM_CALLS_INCL);
	cost.excl = get(item, PM_CALLS_EXCL);
	return cost;
}

static uint32_t thread_of(const struct pm_callcosts *c, uint32_t item)
{
	const uint32_t *start = c->thread_start;
	return (uint32_t)PM_LOWER_BOUND(i, (size_t)0, c->n_threads, start[i] <= item) - 1;
}

/* Threads up to `thread` begin at the next item, unless they have begun before. */
static void begin_threads(struct pm_callcosts *c, size_t thread)
{
	for (; c->n_threads <= thread; c->n_threads++) {
		pm_list_grow(c->arena, &c->thread_start, c->n_threads, &c->thread_room,
			sizeof(*c->thread_start));
		c->thread_start[c->n_threads] = (uint32_t)c->n;
	}
}

void pm_callcosts_add(struct pm_callcosts *c, const struct pm_callcost *cost)
{
	struct pm_callcost_item item = {.context = cost->context, .time = cost->time};
	begin_threads(c, cost->thread);
	pm_items_grow(c->arena, &c->items, c->n, &c->room, sizeof(item));
	bool fits = put(&item, PM_CALLS_CALLS, cost->calls);
	fits &= put(&item, PM_CALLS_INCL, cost->incl);
	fits &= put(&item, PM_CALLS_EXCL, cost->excl);
	if (!fits) {
		pm_list_grow(c->arena, &c->wide, c->n_wide, &c->wide_room, sizeof(*c->wide));
		item.is_wide = true;
		item.low[0] = (uint32_t)c->n_wide;
		c->wide[c->n_wide++] = *cost;
	}
	c->items[c->n++] = item;
}

static void proceed(const struct pm_callcosts *c, size_t i)
{
	if (i % BETWEEN_QUESTIONS == 0)
		pm_build_proceed(c->arena);
}

void pm_callcosts_weigh(const struct pm_callcosts *c, double *weight)
{
	for (size_t i = 0; i < c->n; i++) {
		proceed(c, i);
		weight[c->items[i].context] += (double)cost_of(c, &c->items[i]).incl;
	}
}

/* ---- freezing ---- */

/* Lists the items by context, those of a context in their order. */
static void list_by_context(struct pm_callcosts *c, uint32_t n_contexts)
{
	uint32_t *start = c->context_start;
	for (uint32_t i = 0; i < n_contexts; i++)
		start[i + 1] += start[i];
	/* Backwards, so that each start ends at its original position. */
	for (size_t i = c->n; i-- > 0;) {
		proceed(c, i);
		c->by_context[--start[c->items[i].context + 1]] = (uint32_t)i;
	}
	memmove(start, start + 1, n_contexts * sizeof(*start));
	start[n_contexts] = (uint32_t)c->n;
}

/* Moves the items of each thread, in order of their contexts. */
static void sort_by_context(struct pm_callcosts *c)
{
	struct pm_callcost_item *items = pm_arena_realloc(c->arena, NULL, c->n * sizeof(*items));
	uint32_t *next = pm_arena_realloc(c->arena, NULL, c->n_threads * sizeof(*next));
	memcpy(next, c->thread_start, c->n_threads * sizeof(*next));
	for (size_t i = 0; i < c->n; i++) {
		proceed(c, i);
		uint32_t from = c->by_context[i];
		uint32_t place = next[thread_of(c, from)]++;
		items[place] = c->items[from];
		c->by_context[i] = place;
	}
	pm_arena_free(c->arena, next);
	pm_arena_free(c->arena, c->items);
	c->items = items;
}

void pm_callcosts_freeze(
	struct pm_callcosts *c, const uint32_t *index, uint32_t n_threads, uint32_t n_contexts)
{
	c->by_context = pm_arena_realloc(c->arena, NULL, c->n * sizeof(*c->by_context));
	c->context_start =
		pm_arena_zeroed(c->arena, (size_t)n_contexts + 1, sizeof(*c->context_start));
	begin_threads(c, n_threads);
	for (size_t i = 0; i < c->n; i++) {
		struct pm_callcost_item *item = &c->items[i];
		proceed(c, i);
		item->context = index[item->context];
		c->context_start[item->context + 1]++;
	}
	list_by_context(c, n_contexts);
	sort_by_context(c);
}

void pm_callcosts_done(struct pm_callcosts *c)
{
	pm_arena_free(c->arena, c->items);
	pm_arena_free(c->arena, c->wide);
	pm_arena_free(c->arena, c->by_context);
	pm_arena_free(c->arena, c->context_start);
	pm_arena_free(c->arena, c->thread_start);
	*c = (struct pm_callcosts){.arena = c->arena};
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

/* Of costs of several times, those that have calls are their own, and the others count none. */
static struct pm_value value_of(
	const struct pm_callcosts *c, const struct pm_callcost *cost, uint32_t metric)
{
	bool counts = c->counted && metric == PM_CALLS_CALLS && cost->calls > 0;
	struct pm_value value = sum_value(metric == PM_CALLS_INCL ? cost->incl
			: metric == PM_CALLS_EXCL                 ? cost->excl
								  : cost->calls);
	value.context = (uint64_t)cost->context + 1;
	value.metric = metric + (counts ? 0 : cost->time * PM_CALLS_N_METRICS);
	value.thread = cost->thread;
	return value;
}

struct pm_callcost pm_callcosts_sum(const struct pm_callcosts *c, uint32_t context)
{
	struct pm_callcost sum = {.thread = PM_NONE, .context = context};
	for (uint32_t i = c->context_start[context]; i < c->context_start[context + 1]; i++) {
		struct pm_callcost cost = cost_of(c, &c->items[c->by_context[i]]);
		sum.calls += cost.calls;
		sum.incl += cost.incl;
		sum.excl += cost.excl;
	}
	return sum;
}

int64_t pm_callcosts_of_run(
	const struct pm_callcosts *c, uint32_t context, struct pm_value *ret, size_t room)
{
	const uint32_t *start = c->context_start + context;
	struct pm_callcost sums[PM_N_TIMES] = {{.calls = 0}};
	bool has[PM_N_TIMES] = {start[0] == start[1]};
	size_t n = 0;
	for (uint32_t i = start[0]; i < start[1]; i++) {
		struct pm_callcost cost = cost_of(c, &c->items[c->by_context[i]]);
		has[cost.time] = true;
		sums[c->counted ? 0 : cost.time].calls += cost.calls;
		sums[cost.time].incl += cost.incl;
		sums[cost.time].excl += cost.excl;
	}
	for (unsigned i = 0; i < PM_CALLS_MOST_METRICS && n < room; i++) {
		struct pm_callcost *sum = &sums[i / PM_CALLS_N_METRICS];
		bool calls = c->counted && i % PM_CALLS_N_METRICS == PM_CALLS_CALLS;
		if (calls ? i != PM_CALLS_CALLS : !has[i / PM_CALLS_N_METRICS])
			continue;
		sum->thread = PM_NONE;
		sum->context = context;
		sum->time = (uint8_t)(i / PM_CALLS_N_METRICS);
		ret[n++] = value_of(c, sum, i % PM_CALLS_N_METRICS);
	}
	return (int64_t)n;
}

int64_t pm_callcosts_values(const struct pm_callcosts *c, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room)
{
	bool thread = of.what == PM_OF_THREAD;
	const uint32_t *start = (thread ? c->thread_start : c->context_start) + of.index;
	uint64_t n = (uint64_t)(start[1] - start[0]) * PM_CALLS_N_METRICS;
	size_t filled = 0;
	while (filled < room && first < n) {
		uint32_t at = start[0] + (uint32_t)(first / PM_CALLS_N_METRICS);
		uint32_t item = thread ? at : c->by_context[at];
		struct pm_callcost cost = cost_of(c, &c->items[item]);
		cost.thread = thread ? of.index : thread_of(c, item);
		uint32_t metric = first % PM_CALLS_N_METRICS;
		for (; metric < PM_CALLS_N_METRICS && filled < room; metric++, first++)
			ret[filled++] = value_of(c, &cost, metric);
	}
	return (int64_t)filled;
}

void pm_callcosts_pour(
	const struct pm_callcosts *c, uint32_t n_threads, struct pm_costs *to, bool expects)
{
	struct pm_value batch[PM_CALLS_N_METRICS * 256];
	for (uint32_t thread = 0; thread < n_threads; thread++) {
		const struct pm_values_of of = {PM_OF_THREAD, thread, false};
		int64_t n = 0;
		for (uint64_t at = 0; (n = pm_callcosts_values(c, of, at, batch,
					       sizeof(batch) / sizeof(*batch))) > 0;
			at += (uint64_t)n) {
			for (int64_t i = 0; i < n; i++) {
				const struct pm_value *v = &batch[i];
				uint32_t context = (uint32_t)v->context - 1;
				if (expects)
					pm_costs_expect(to, context);
				else if (v->whole && (v->negative || v->u <= INT64_MAX))
					pm_costs_add_whole(to, thread, context, v->metric, v->i);
				else
					pm_costs_add(to, thread, context, v->metric,
						v->whole ? (double)v->u : v->f);
			}
			pm_build_proceed(to->arena);
		}
	}
}
