/*
 * Times are added up by context, as in contexts.csv. The rest is not in a context's costs: where
 * the window has all calls of the run, it is that of the run; otherwise the traces that have
 * records in the window are read, on all processors.
 */
#include "formats/zts/window_methods.h"

#include <stdlib.h>

#include "formats/common/callcosts.h"
#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/percentiles.h"
#include "formats/common/sort.h"
#include "formats/zts/parts.h"
#include "formats/zts/tally.h"

enum { BETWEEN_QUESTIONS = 1 << 12 /* contexts or functions */, BATCH = 512 };

/* What is counted of the calls of a function. */
struct counted {
	uint64_t errors;
	int64_t min_ns, max_ns;
	bool ended; /* one call at least: min and max are known */
};

/* What one thread counts. */
struct counts {
	struct counted *items; /* by function */
	struct pm_durations durations;
	struct pm_duration waiting[BATCH]; /* not added yet: many at once take less time */
	uint32_t n_waiting;
};

struct building {
	const struct pm_window *window;
	const struct zts_opened *z;
	const struct pm_tree *tree; /* of the window; its functions are those of the run */
	struct zts_method *items;   /* by function */
	bool *runs;
	uint32_t *places; /* in by_store, of traces with records in the window, ascending */
	size_t n_places, room;
	struct counts *counts; /* of each thread */
	unsigned n_counts;
	const struct pm_durations *found; /* by a pass for percentiles; else NULL */
};

/* ---- times ---- */

/* Costs of windows are whole. */
static zts_sum whole(const struct pm_value *v)
{
	if (!v->whole)
		return (zts_sum)v->f;
	return v->negative ? (zts_sum)v->i : (zts_sum)v->u;
}

static int add_context(struct building *b, uint32_t context, bool outermost, struct pm_error *err)
{
	const struct pm_window *w = b->window;
	struct pm_value values[PM_CALLS_N_METRICS];
	uint32_t function = pm_tree_frame(b->tree, context)->function;
	struct zts_method *method = &b->items[function];
	int64_t n =
		w->profile->ops->run_costs(w->profile, context, values, PM_CALLS_N_METRICS, err);
	for (int64_t i = 0; i < n; i++) {
		zts_sum cost = whole(&values[i]);
		switch (values[i].metric) {
		case PM_CALLS_INCL: method->sums.inclusive_ns += outermost ? cost : 0; break;
		case PM_CALLS_EXCL: method->sums.exclusive_ns += cost; break;
		case PM_CALLS_CALLS: method->sums.calls += (uint64_t)cost; break;
		default: break;
		}
	}
	b->runs[function] = true;
	return n < 0 ? (int)n : 0;
}

/* A context is outermost if no context of the same method is open around it. */
static int add_contexts(struct building *b, struct pm_error *err)
{
	const struct pm_tree *tree = b->tree;
	uint32_t *end = calloc((size_t)tree->n_functions + 1, sizeof(*end));
	int r = end ? 0 : pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; i < tree->n_contexts && r == 0; i++) {
		uint32_t *around = &end[pm_tree_frame(tree, i)->function];
		r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()
			? pm_error_plain(err, -ENOMEM)
			: add_context(b, i, i >= *around, err);
		if (i >= *around)
			*around = tree->end[i];
	}
	free(end);
	return r;
}

/* ---- calls that begin inside ---- */

static int list_places(struct building *b, struct pm_error *err)
{
	const struct pm_window *w = b->window;
	struct zts_samples *s;
	uint64_t at = 0, first, end;
	int r = zts_get_samples(b->z, &s, err);
	while (r == 0 && (r = w->records(w, at, &first, &end, err)) > 0) {
		uint32_t place = zts_samples_place(s, first);
		for (r = 0; place < s->n_traces && s->first[place] < end; place++) {
			if (s->first[place] == s->first[place + 1])
				continue;
			if (pm_list_room(&b->places, b->n_places, &b->room, sizeof(*b->places)) < 0)
				return pm_error_plain(err, -ENOMEM);
			b->places[b->n_places++] = place;
		}
		at = s->first[place]; /* the last trace is done with, too */
	}
	return r;
}

static int add_waiting(struct counts *c)
{
	uint32_t n = c->n_waiting;
	c->n_waiting = 0;
	return pm_durations_add_all(&c->durations, c->waiting, n);
}

static int count_call(struct counts *c, uint32_t function, const struct zts_call *call)
{
	struct counted *counted = &c->items[function];
	int64_t ns;
	counted->errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	if (!zts_call_duration(call, &ns))
		return 0;
	if (!counted->ended || ns < counted->min_ns)
		counted->min_ns = ns;
	if (!counted->ended || ns > counted->max_ns)
		counted->max_ns = ns;
	counted->ended = true;
	c->waiting[c->n_waiting++] =
		(struct pm_duration){.ns = ns > 0 ? (uint64_t)ns : 0, .of = function};
	return c->n_waiting < BATCH ? 0 : add_waiting(c);
}

static int count_trace(
	struct building *b, struct counts *c, struct zts_traces *reader, uint32_t place)
{
	const struct pm_window *w = b->window;
	const struct zts_survey *v = &b->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	const struct pm_tree *tree = b->z->aggregate.tree;
	int r = zts_traces_read(reader, place, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* as where windows are cut: it has no rows */
	for (uint32_t i = 0; r == 0 && i < reader->tree.n; i++) {
		uint32_t context = reader->found[i].context;
		uint64_t time = zts_call_sample(t, &reader->tree, i).time_ns;
		bool begins = time >= w->start_ns &&
			(time < w->end_ns || (w->is_last && time == w->end_ns));
		if (begins && context != PM_NONE)
			r = count_call(
				c, pm_tree_frame(tree, context)->function, &reader->tree.calls[i]);
	}
	return r;
}

static int count_stretch(void *context, size_t i)
{
	struct building *b = context;
	struct counts *c = &b->counts[i];
	struct zts_traces reader;
	size_t from = b->n_places * i / b->n_counts, to = b->n_places * (i + 1) / b->n_counts;
	int r = zts_traces_init(&reader, b->z, NULL);
	c->durations.only = b->found ? b->found->only : NULL;
	c->items = calloc((size_t)b->tree->n_functions + 1, sizeof(*c->items));
	if (!c->items)
		r = -ENOMEM;
	for (size_t k = from; k < to && r == 0; k++)
		r = pm_work_cancelled() ? -ENOMEM : count_trace(b, c, &reader, b->places[k]);
	zts_traces_done(&reader);
	return r < 0 ? r : add_waiting(c);
}

static void counts_done(struct building *b)
{
	for (unsigned i = 0; b->counts && i < b->n_counts; i++) {
		free(b->counts[i].items);
		pm_durations_done(&b->counts[i].durations);
	}
	free(b->counts);
	b->counts = NULL;
}

/* Counts all calls, on all processors, and their durations in `ret`: also a pm_pass. */
static int count_all(void *context, struct pm_durations *ret)
{
	struct building *b = context;
	counts_done(b);
	b->found = ret->only ? ret : NULL;
	b->n_counts = pm_crew_width();
	b->counts = calloc(b->n_counts, sizeof(*b->counts));
	int r = b->counts ? pm_crew_each(b->n_counts, count_stretch, b) : -ENOMEM;
	for (unsigned i = 0; r == 0 && i < b->n_counts; i++) {
		r = pm_durations_join(ret, &b->counts[i].durations, NULL);
		pm_durations_done(&b->counts[i].durations);
	}
	return r;
}

/* Adds what was counted of the calls of each function. */
static int join_counts(struct building *b)
{
	for (size_t k = 0; k < (size_t)b->n_counts * b->tree->n_functions; k++) {
		size_t i = k % b->tree->n_functions;
		const struct counted *from = &b->counts[k / b->tree->n_functions].items[i];
		if (k % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		b->items[i].sums.errors += from->errors;
		if (from->ended)
			zts_method_ended(&b->items[i], from->min_ns, from->max_ns);
	}
	return 0;
}

/* Fills percentiles by function. */
static int find_percentiles(struct building *b)
{
	uint32_t n = b->tree->n_functions;
	struct pm_durations durations = {.n = 0};
	struct pm_call_times *times = calloc((size_t)n + 1, sizeof(*times));
	int r = times ? count_all(b, &durations) : -ENOMEM;
	if (r == 0)
		r = join_counts(b);
	if (r == 0)
		r = pm_percentiles(&durations, times, n, count_all, b);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		b->items[i].times = times[i];
	pm_durations_done(&durations);
	free(times);
	return r;
}

/* Are the calls that begin inside those of the run? 1 or 0. */
static int has_calls_of_run(const struct building *b, struct pm_error *err)
{
	const struct zts_aggregate *a = &b->z->aggregate;
	int r = b->window->has_all(b->window, err);
	if (a->left_out > 0 && r > 0) /* of these the run has no contexts, but the methods */
		r = 0;
	for (size_t i = 0; i < a->n_methods && r > 0; i++)
		r = a->methods[i].sums.calls == b->items[a->methods[i].function].sums.calls;
	return r;
}

/* What is known of the calls of the run. */
static void take_calls(struct building *b)
{
	const struct zts_aggregate *a = &b->z->aggregate;
	for (size_t i = 0; i < a->n_methods; i++) {
		const struct zts_method *from = &a->methods[i];
		struct zts_method *to = &b->items[from->function];
		to->sums.errors = from->sums.errors;
		to->ended = from->ended;
		to->min_ns = from->min_ns;
		to->max_ns = from->max_ns;
		to->times = from->times;
	}
}

static int count_calls(struct building *b, struct pm_error *err)
{
	int r = has_calls_of_run(b, err);
	if (r > 0) {
		take_calls(b);
		return 0;
	}
	if (r >= 0)
		r = list_places(b, err);
	if (r < 0)
		return r;
	r = find_percentiles(b);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- the whole ---- */

static void methods_free(void *data)
{
	struct zts_window_methods *m = data;
	free(m->items);
	free(m);
}

/* Leaves those that run, in order. */
static int finish(struct building *b, struct pm_window_part *part)
{
	struct zts_window_methods *m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->items = b->items;
	b->items = NULL;
	for (uint32_t i = 0; i < b->tree->n_functions; i++) {
		if (!b->runs[i])
			continue;
		m->items[m->n] = m->items[i];
		m->items[m->n++].name = b->tree->texts[b->tree->functions[i].name];
	}
	if (pm_sort(m->items, m->n, sizeof(*m->items), zts_method_by_time) < 0) {
		methods_free(m);
		return -ENOMEM;
	}
	part->data = m;
	part->free = methods_free;
	return 0;
}

static void building_done(struct building *b)
{
	counts_done(b);
	free(b->places);
	free(b->items);
	free(b->runs);
}

static int build(void *context, struct pm_error *err)
{
	struct building b = {.window = context};
	const struct pm_profile *p = b.window->profile;
	b.z = zts_opened_of(b.window->run);
	int r = pm_profile_tree(p, &b.tree, err);
	if (r < 0)
		return r;
	b.items = calloc((size_t)b.tree->n_functions + 1, sizeof(*b.items));
	b.runs = calloc((size_t)b.tree->n_functions + 1, sizeof(*b.runs));
	r = b.items && b.runs ? add_contexts(&b, err) : pm_error_plain(err, -ENOMEM);
	if (r == 0)
		r = count_calls(&b, err);
	if (r == 0 && (r = finish(&b, &b.window->parts[ZTS_WINDOW_METHODS])) < 0)
		pm_error_plain(err, r);
	building_done(&b);
	return r;
}

int zts_window_methods_get(
	const struct pm_window *window, const struct zts_window_methods **ret, struct pm_error *err)
{
	struct pm_window_part *part = &window->parts[ZTS_WINDOW_METHODS];
	int r = pm_lazy_get(part->once, build, (void *)(uintptr_t)window, err);
	*ret = r < 0 ? NULL : part->data;
	return r;
}
