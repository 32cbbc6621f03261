/*
 * Windows over samples that are instants with a weight. A trace of them is in the order of time, so
 * the rows of a window are one stretch, found without an index; what its samples weigh, by event,
 * is what it costs. Numbers of calls are the same at their beginnings, beside the times of calls.
 */
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/tree.h"
#include "fs/windows/internal.h"

/* ---- rows ---- */

/* The first row from `row` on that begins at `time` or later, of `n`. */
static uint64_t first_from(struct pm_arena *a, const struct pm_profile *p, uint32_t thread,
	uint64_t time, uint64_t row, uint64_t n, struct pm_error *err)
{
	while (row < n) {
		uint64_t middle = row + (n - row) / 2;
		struct pm_sample s;
		int64_t r = p->ops->samples(p, thread, middle, &s, 1, err);
		if (r <= 0)
			pm_build_fail(a, r < 0 ? (int)r : pm_error_plain(err, -EIO));
		if (s.time_ns < time)
			row = middle + 1;
		else
			n = middle;
	}
	return row;
}

void pmfs_instants_cut(struct pmfs_contents *c, uint32_t i, struct pm_error *err)
{
	const struct pm_profile *p = c->x->profile;
	struct pmfs_cut *cut = &c->cuts[i];
	struct pm_arena *a = &cut->arena;
	uint32_t thread = c->first + i;
	uint64_t n = c->x->traces[thread].n;
	uint64_t first = first_from(a, p, thread, c->span.start, 0, n, err);
	uint64_t end = c->span.is_last ? n : first_from(a, p, thread, c->span.end, first, n, err);
	if (first == end)
		return;
	pm_list_grow(a, &cut->stretches, 0, &cut->room, sizeof(*cut->stretches));
	cut->stretches[0] = (struct pmfs_stretch){.row = 0, .at = first, .whole = true};
	cut->n_stretches = 1;
	cut->n = end - first;
	cut->end = c->span.end;
}

/* ---- sums ---- */

/* A sum: whole in the scale of its event, and what is a double. */
struct amount {
	pm_sum whole;
	double real;
	bool is_real, is_known;
};

/* What the samples of an event in a context, on a thread, weigh, and how many there are. */
struct weighed {
	uint32_t thread, context, event;
	struct amount weight;
	uint64_t samples;
};

struct summing {
	struct pm_arena *a; /* while they are summed */
	struct pmfs_contents *c;
	const struct pm_profile *run;
	const struct pm_tree *whole;
	struct weighed *items; /* thread by thread */
	size_t n, room;
	struct pm_map index; /* of the thread at hand: context and event → item */
	uint32_t thread;
	/* The contexts of the thread at hand, and all above them, in order; and by context. */
	uint32_t *list, *place, n_list;
	struct amount *sums; /* by place */
	bool numbers;        /* of calls, in the tree that the window has */
};

/* The item of an event in a context of the tree at hand. */
static struct weighed *item_of(struct summing *s, uint32_t context, uint64_t event)
{
	bool fresh;
	uint32_t *item = pm_map_put(&s->index, event << 32 | context, (uint32_t)s->n, &fresh);
	if (fresh) {
		pm_build_check(s->a, s->n < PM_NONE ? 0 : PM_NO_MEMORY);
		pm_list_grow(s->a, &s->items, s->n, &s->room, sizeof(*s->items));
		s->items[s->n++] = (struct weighed){.thread = s->thread,
			.context = context,
			.event = (uint32_t)event,
			.weight.is_known = true};
	}
	return &s->items[*item];
}

static bool add_samples(void *context, const struct pm_sample *samples, size_t n)
{
	struct summing *s = context;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = pm_tree_find(s->whole, samples[i].context);
		if (at == PM_NONE)
			continue;
		struct weighed *item = item_of(s, at, samples[i].event);
		if (samples[i].weight != PM_NO_WEIGHT)
			item->weight.whole += samples[i].weight;
		item->samples++;
	}
	return false;
}

static void add_numbers(struct summing *s, const struct pm_sample *call, const struct pm_amount *of)
{
	uint32_t at = pm_tree_find(s->c->tree, call->context);
	for (uint32_t e = 0; at != PM_NONE && e < s->run->n_events; e++) {
		if (!of[e].known)
			continue;
		struct weighed *item = item_of(s, at, e);
		item->weight.is_real |= of[e].real;
		if (of[e].real)
			item->weight.real += of[e].f;
		else
			item->weight.whole += of[e].i;
	}
}

/* The calls of a thread that begin in the window, and their numbers. */
static void read_numbers(struct summing *s, struct pm_error *err)
{
	enum { SOME = 1024 };
	const struct pmfs_contents *c = s->c;
	uint32_t thread = c->first + s->thread, n_events = s->run->n_events;
	struct pm_arena *scratch = pm_arena_scratch(s->a);
	struct pm_sample *calls = pm_arena_realloc(scratch, NULL, SOME * sizeof(*calls));
	struct pm_amount *amounts =
		pm_arena_realloc(scratch, NULL, (size_t)SOME * n_events * sizeof(*amounts));
	uint64_t first = 0, end = 0;
	while (first < end ||
		pmfs_cut_records(&c->cuts[s->thread], c->x->traces[thread].n, end, &first, &end)) {
		size_t room = end - first < SOME ? (size_t)(end - first) : SOME;
		pm_build_proceed(s->a);
		int64_t n = s->run->ops->amounts(s->run, thread, first, calls, amounts, room, err);
		pm_build_check(s->a, (int)n);
		if (n == 0)
			break;
		for (int64_t i = 0; i < n; i++)
			if (pmfs_span_has_begin(&c->span, calls[i].time_ns))
				add_numbers(s, &calls[i], &amounts[(size_t)i * n_events]);
		first += (uint64_t)n;
	}
	pm_arena_done(scratch);
}

static void read_rows(struct summing *s, struct pm_error *err)
{
	struct pmfs_contents *c = s->c;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pmfs_cut *cut = &c->cuts[i];
		if (cut->n == 0)
			continue;
		s->thread = i;
		if (s->numbers)
			read_numbers(s, err);
		else
			pmfs_records_read(s->a, s->run, c->first + i, cut->stretches[0].at,
				cut->stretches[0].at + cut->n, add_samples, s, err);
		pm_map_done(&s->index);
	}
}

static void amount_add(struct amount *to, const struct amount *more)
{
	to->whole += more->whole;
	to->real += more->real;
	to->is_real |= more->is_real;
	to->is_known |= more->is_known;
}

static struct amount amount_of(const struct summing *s, const struct weighed *w, uint32_t group)
{
	const struct pm_event *e = &s->run->events[w->event];
	struct amount a = {.whole = 0};
	if (e->weights == group)
		a = w->weight;
	if (e->samples == group)
		a.whole += w->samples;
	return a;
}

/* Whether a thread has samples of an event of that quantity; else it has no value, not 0. */
static bool has_amounts(
	const struct summing *s, const struct weighed *items, size_t n, uint32_t group)
{
	for (size_t i = 0; i < n; i++) {
		const struct pm_event *e = &s->run->events[items[i].event];
		if (e->weights == group || e->samples == group)
			return true;
	}
	return false;
}

/*
 * The tree of those contexts of which there are samples, or of one below, with siblings in their
 * order; what was summed is of its contexts then.
 */
static void prune(struct summing *s, struct pm_error *err)
{
	const struct pm_tree_extra none = {PM_NONE, 0};
	const struct pm_tree *whole = s->whole;
	struct pm_arena *scratch = pm_arena_scratch(s->a);
	size_t n = (size_t)whole->n_contexts + 1;
	double *weight = pm_arena_array(scratch, n, sizeof(*weight));
	bool *kept = pm_arena_array(scratch, n, sizeof(*kept));
	uint32_t *from = NULL;
	for (size_t i = 0; i < s->n; i++) {
		kept[s->items[i].context] = true;
		weight[s->items[i].context] +=
			(double)amount_of(s, &s->items[i], whole->ordered_by).whole;
	}
	for (uint32_t i = whole->n_contexts; i-- > 0;)
		if (kept[i] && whole->parent[i] != PM_NONE) {
			kept[whole->parent[i]] = true;
			weight[whole->parent[i]] += weight[i];
		}
	pm_build_check(s->a, pm_tree_prune(whole, weight, kept, &none, &s->c->tree, &from, err));
	pm_arena_done(scratch);
	for (uint32_t i = 0; i < s->c->tree->n_contexts; i++)
		s->place[from[i]] = i;
	free(from);
	for (size_t i = 0; i < s->n; i++)
		s->items[i].context = s->place[s->items[i].context];
}

static int by_thread_and_context(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Lists the contexts of one thread's items, and those above. */
static void list_contexts(struct summing *s, const struct weighed *items, size_t n)
{
	const struct pm_tree *tree = s->c->tree;
	s->n_list = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = items[i].context; at != PM_NONE && s->place[at] == PM_NONE;
			at = tree->parent[at]) {
			s->place[at] = 0;
			s->list[s->n_list++] = at;
		}
	pm_build_check(s->a, pm_sort(s->list, s->n_list, sizeof(*s->list), ascending));
	for (uint32_t i = 0; i < s->n_list; i++)
		s->place[s->list[i]] = i;
}

/* What calls have numbers of: the event of a group. NULL: of samples. */
static const struct pm_event *number_of(const struct summing *s, uint32_t group)
{
	uint32_t e = 0;
	while (s->numbers && s->run->events[e].weights != group)
		e++;
	return s->numbers ? &s->run->events[e] : NULL;
}

static void add_cost(struct summing *s, uint32_t thread, uint32_t context, uint32_t metric,
	const struct pm_event *number, const struct amount *sum)
{
	struct pm_costs *costs = &s->c->weighed;
	long double scale = number ? powl(10, number->decimals) : 1;
	metric += number ? PM_CALLS_MOST_METRICS : 0;
	if (scale == 1 && !sum->is_real && sum->whole == (int64_t)sum->whole)
		pm_costs_add_whole(costs, thread, context, metric, (int64_t)sum->whole);
	else
		pm_costs_add(costs, thread, context, metric,
			(double)((long double)sum->whole / scale + sum->real));
}

/* A metric of one thread: own amounts, with what is below if it is inclusive, or nested. */
static void add_metric(struct summing *s, const struct pm_metric *metric,
	const struct weighed *items, size_t n, bool expects)
{
	const struct pm_tree *tree = s->c->tree;
	if (!has_amounts(s, items, n, metric->group))
		return;
	const struct pm_event *number = number_of(s, metric->group);
	memset(s->sums, 0, s->n_list * sizeof(*s->sums));
	for (size_t i = 0; i < n; i++) {
		struct amount a = amount_of(s, &items[i], metric->group);
		amount_add(&s->sums[s->place[items[i].context]], &a);
	}
	for (uint32_t i = s->n_list; i-- > 0;) {
		uint32_t at = s->list[i], parent = tree->parent[at];
		bool rises = metric->role == PM_ROLE_INCLUSIVE ||
			(!metric->in_tree && pm_tree_frame(tree, at)->nested);
		if (rises && parent != PM_NONE)
			amount_add(&s->sums[s->place[parent]], &s->sums[i]);
		if (number && !s->sums[i].is_known)
			continue;
		if (expects)
			pm_costs_expect(&s->c->weighed, at);
		else
			add_cost(s, items[0].thread, at, metric->id, number, &s->sums[i]);
	}
}

static void add_threads(struct summing *s, bool expects, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	pm_build_check(s->a, pm_profile_metrics(s->run, &metrics, err));
	for (size_t first = 0, end; first < s->n; first = end) {
		for (end = first; end < s->n && s->items[end].thread == s->items[first].thread;)
			end++;
		pm_build_proceed(s->a);
		list_contexts(s, s->items + first, end - first);
		for (uint32_t i = 0; i < metrics->n; i++)
			add_metric(s, &metrics->metrics[i], s->items + first, end - first, expects);
		for (uint32_t i = 0; i < s->n_list; i++)
			s->place[s->list[i]] = PM_NONE;
	}
}

static void add_costs(struct pm_arena *a, struct summing *s, struct pm_error *err)
{
	struct pm_costs *costs = &s->c->weighed;
	size_t n = s->c->tree->n_contexts;
	s->list = pm_arena_realloc(s->a, NULL, (n + 1) * sizeof(*s->list));
	s->sums = pm_arena_realloc(s->a, NULL, (n + 1) * sizeof(*s->sums));
	*costs = pm_costs_in(a, s->c->n, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		s->place[i] = PM_NONE;
	pm_build_check(s->a, pm_sort(s->items, s->n, sizeof(*s->items), by_thread_and_context));
	for (unsigned pass = 0; pass < 2; pass++) {
		if (pass == 1)
			pm_costs_place(costs);
		if (s->numbers)
			pm_callcosts_pour(&s->c->costs, s->c->n, costs, pass == 0);
		add_threads(s, pass == 0, err);
	}
	pm_costs_freeze(costs);
}

void pmfs_instants_gather(struct pm_arena *a, struct pmfs_contents *c, struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct summing s = {.a = scratch,
		.c = c,
		.run = c->x->profile,
		.index.arena = scratch,
		.numbers = c->tree != NULL};
	pm_build_check(a, pm_profile_tree(s.run, &s.whole, err));
	read_rows(&s, err);
	s.place = pm_arena_realloc(
		scratch, NULL, ((size_t)s.whole->n_contexts + 1) * sizeof(*s.place));
	if (!s.numbers)
		prune(&s, err);
	add_costs(a, &s, err);
	pm_callcosts_done(&c->costs);
	pm_arena_done(scratch);
}

/* ---- reading ---- */

static void add_value(struct pm_value *to, const struct pm_value *more)
{
	int64_t sum;
	if (to->whole && more->whole && !__builtin_add_overflow(to->i, more->i, &sum)) {
		to->i = sum;
		to->negative = sum < 0;
		return;
	}
	to->f = (to->whole ? (double)to->i : to->f) + (more->whole ? (double)more->i : more->f);
	to->whole = false;
}

int64_t pmfs_instants_of_run(const struct pmfs_contents *c, const struct pm_metrics *metrics,
	uint32_t context, struct pm_value *ret, size_t room)
{
	struct pm_value values[64];
	bool calls = c->x->profile->traces_are_calls;
	uint32_t n = 0;
	uint64_t at = 0;
	int64_t some;
	for (; !calls && n < metrics->n && n < room; n++)
		ret[n] = (struct pm_value){.metric = metrics->metrics[n].id, .whole = true};
	while ((some = pm_costs_of_context(&c->weighed, context, at, values, 64)) > 0) {
		for (int64_t k = 0; k < some; k++) {
			uint32_t i = 0;
			while (i < n && ret[i].metric != values[k].metric)
				i++;
			if (i < n)
				add_value(&ret[i], &values[k]);
			else if (calls && n < room)
				ret[n++] = values[k];
		}
		at += (uint64_t)some;
	}
	uint32_t kept = 0; /* numbers of calls are all of one kind */
	for (uint32_t i = 0; i < n; i++) {
		bool number = calls && ret[i].metric >= PM_CALLS_MOST_METRICS;
		if (number && c->x->profile->events->no_zeros && ret[i].i == 0)
			continue;
		ret[kept] = ret[i];
		ret[kept].context = context + 1ull;
		ret[kept++].thread = PM_NONE;
	}
	return kept;
}
