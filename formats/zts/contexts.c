/*
 * Divides the traces that remain after the scan into as many ranges as there are cores; a thread
 * adds up each, and all results are joined. Contexts are numbered in the order of first occurrence
 * in a single pass over the traces, store by store.
 */
#include "formats/zts/contexts.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "formats/zts/partial.h"
#include "formats/zts/samples.h"
#include "profmount/limits.h"

/* ==== what all threads have added up: paths are numbered by where each was first ==== */

/* Makes an aggregate of one partial, which the others were joined with. */
struct joining {
	struct zts_aggregate *a;
	struct zts_partial *p;
	struct zts_stores *stores;
	struct pm_tree_builder *builder;
	struct zts_sums *sums; /* of each path, in the builder's order */
	enum zts_again again;  /* why a pass is made */
};

/* ---- the tree ---- */

/* A path by where it was first. */
struct place {
	uint64_t first;
	uint32_t path;
};

static int by_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

/* All paths in order of first use, parents before children; NULL if out of memory. */
static struct place *sort_paths(const struct joining *j)
{
	uint32_t n = j->p->tally.paths.n;
	struct place *places = malloc(n * sizeof(*places) + 1);
	bool sorted = true;
	for (uint32_t i = 0; places && i < n; i++) {
		places[i] = (struct place){j->p->tally.first[i], i};
		sorted = sorted && (i == 0 || places[i - 1].first <= places[i].first);
	}
	if (places && (sorted || pm_sort(places, n, sizeof(*places), by_first) == 0))
		return places;
	free(places);
	return NULL;
}

static uint32_t frame_of(struct joining *j, uint32_t method)
{
	uint32_t *frame = &j->a->frames[method];
	if (*frame == PM_NONE) {
		uint32_t name = pm_tree_text(j->builder, zts_method_name(j->stores, method), true);
		struct pm_function function = {.name = name, .id = PM_NONE};
		struct pm_frame made = {.kind = PM_KIND_FUNCTION,
			.function = pm_tree_function(j->builder, &function),
			.name = name};
		*frame = pm_tree_intern(j->builder, &made);
	}
	return *frame;
}

/* Gives the paths to the builder. 0 or -ENOMEM. */
static int add_paths(struct joining *j, double *weight)
{
	const struct zts_tally *t = &j->p->tally;
	uint32_t n = t->paths.n;
	struct place *places = sort_paths(j);
	uint32_t *place_of = malloc(n * sizeof(*place_of) + 1);
	int r = places && place_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		const struct pm_path *path = &t->paths.items[places[i].path];
		uint32_t parent = path->parent == PM_NONE ? PM_NONE : place_of[path->parent];
		place_of[places[i].path] = i;
		j->sums[i] = t->sums[places[i].path].sums;
		weight[i] = (double)j->sums[i].inclusive_ns;
		pm_tree_add(j->builder, parent, frame_of(j, path->key), 0);
	}
	for (size_t i = 0; i < j->a->n_methods && j->a->left_out && r == 0; i++)
		frame_of(j, j->a->methods[i].number); /* some may have no path */
	free(places);
	free(place_of);
	return r;
}

static int freeze(struct joining *j, struct pm_error *err)
{
	struct zts_aggregate *a = j->a;
	uint32_t n = j->p->tally.paths.n, *index = NULL;
	double *weight = malloc(n * sizeof(*weight) + 1);
	j->builder = pm_tree_builder_new();
	a->n_frames = j->p->n_methods;
	a->frames = malloc(((size_t)a->n_frames + 1) * sizeof(*a->frames));
	j->sums = malloc(n * sizeof(*j->sums) + 1);
	int r = weight && j->builder && a->frames && j->sums ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < a->n_frames; i++)
		a->frames[i] = PM_NONE;
	if (r == 0)
		r = add_paths(j, weight);
	zts_tally_done(&j->p->tally);
	if (r == 0) {
		r = pm_tree_freeze(j->builder, weight, &a->tree, &index, err);
		j->builder = NULL;
	}
	a->sums = r < 0 ? NULL : malloc(n * sizeof(*a->sums) + 1);
	for (uint32_t i = 0; i < n && a->sums; i++)
		a->sums[index[i]] = j->sums[i];
	free(index);
	free(weight);
	return r == 0 && !a->sums ? -ENOMEM : r;
}

/* Leaves methods with calls, by time. 0 or -ENOMEM. */
static int list_methods(struct joining *j)
{
	struct zts_aggregate *a = j->a;
	a->methods = j->p->methods;
	j->p->methods = NULL;
	for (uint32_t i = 0; i < j->p->n_methods; i++)
		if (a->methods[i].sums.calls > 0) {
			a->methods[a->n_methods] = a->methods[i];
			a->methods[a->n_methods++].name = zts_method_name(j->stores, i);
		}
	return pm_sort(a->methods, a->n_methods, sizeof(*a->methods), zts_method_by_time);
}

/* A method is a function. */
static int list_times(struct joining *j, pm_pass pass, void *context)
{
	struct zts_aggregate *a = j->a;
	uint32_t n = j->p->n_methods;
	struct pm_call_times *times = malloc(((size_t)n + 1) * sizeof(*times));
	int r = times ? pm_percentiles(&j->p->durations, times, n, pass, context) : -ENOMEM;
	if (a->tree)
		a->times = calloc((size_t)a->tree->n_functions + 1, sizeof(*a->times));
	if (a->tree && !a->times)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < a->n_methods; i++) {
		a->methods[i].times = times[a->methods[i].number];
		if (a->tree)
			a->times[zts_function_of(a, &a->methods[i])] = a->methods[i].times;
	}
	free(times);
	return r;
}

/* The attributes or statements that a pass counts: see `again`. */
static const struct pm_strtab *joining_texts(const struct joining *j)
{
	return j->again == ZTS_AGAIN_STATEMENTS ? &j->a->statements.texts : &j->a->attributes.texts;
}

/*
 * Moves what the partial has, builds the tree, finds percentiles and sorts the lists. A `pass`
 * reads all traces again; `again` then says for what.
 */
static int finish(struct joining *j, bool whole, pm_pass pass, void *context, struct pm_error *err)
{
	struct zts_aggregate *a = j->a;
	struct zts_partial *p = j->p;
	a->left_out = p->tally.left_out;
	a->attributes = p->attributes;
	a->statements = p->statements;
	a->exceptions = p->exceptions;
	a->texts = p->texts;
	p->attributes = p->statements = (struct zts_attributes){.items = NULL};
	p->exceptions = (struct zts_exceptions){.items = NULL};
	p->texts = (struct pm_arena){.block = NULL};
	int r = list_methods(j);
	if (r == 0 && whole)
		r = freeze(j, err);
	j->again = ZTS_AGAIN_METHODS;
	if (r == 0)
		r = list_times(j, pass, context);
	j->again = ZTS_AGAIN_ATTRIBUTES;
	if (r == 0)
		r = zts_attributes_end(&a->attributes, false, pass, context);
	j->again = ZTS_AGAIN_STATEMENTS;
	if (r == 0)
		r = zts_attributes_end(&a->statements, true, pass, context);
	return r < 0 ? r : zts_exceptions_sort(&a->exceptions);
}

/* ==== gathering ==== */

struct gathering {
	struct zts_stores *stores;
	const struct zts_survey *survey;
	struct zts_adders *sums;
	const struct zts_wanted *wanted;
	uint32_t *traces; /* to be read, by place in the stores */
	uint32_t n;
	struct pm_damage_list *damage;
	const struct joining *joining;
	const struct pm_durations *found; /* by a pass that reads all traces again; else NULL */
};

static int by_place(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	const struct zts_trace *x = &v->traces[*(const uint32_t *)a];
	const struct zts_trace *y = &v->traces[*(const uint32_t *)b];
	const struct zts_part *p = &v->parts[x->part], *q = &v->parts[y->part];
	return zts_order(p->store, q->store)
		?: zts_order(p->data_offset, q->data_offset)
		?: zts_order(p->start_offset, q->start_offset)
		?: zts_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/*
 * Of the wanted traces, those whose calls count; without `all`, those that the scan has not added
 * up. 0 or -ENOMEM.
 */
static int list_traces(struct gathering *g, bool all)
{
	const struct zts_survey *v = g->survey;
	const struct zts_wanted *w = g->wanted;
	g->traces = malloc(((size_t)w->n + 1) * sizeof(*g->traces));
	g->n = 0;
	for (uint32_t i = 0; g->traces && i < w->n; i++) {
		uint32_t trace = w->traces ? w->traces[i] : w->first + i;
		const struct zts_trace *t = &v->traces[trace];
		if (!t->lost && !t->inner && (all || t->added == PM_NONE))
			g->traces[g->n++] = trace;
	}
	return g->traces
		? pm_sort_with(g->traces, g->n, sizeof(*g->traces), by_place, (void *)(uintptr_t)v)
		: -ENOMEM;
}

/* ---- adding up ---- */

static int tell_unreadable(
	struct gathering *g, const struct zts_trace *t, const struct pm_error *err)
{
	struct pm_arena names = {0};
	const char *path = zts_store_path(&g->stores->items[t->store], &names, "traces.dat");
	if (path)
		pm_damage_add(g->damage, path, g->survey->parts[t->part].data_offset, PM_NO_OFFSET,
			"a trace cannot be read: %s", err->text);
	pm_arena_done(&names);
	return path ? 0 : -ENOMEM;
}

/* Reads a trace, with the current payload if there is one, and adds it up. */
static int gather_trace(
	struct gathering *g, uint32_t trace, struct zts_adder *adder, const struct zts_held *held)
{
	const struct zts_trace *t = &g->survey->traces[trace];
	const struct zts_parts parts = {g->survey->parts + t->part, t->n_parts, held->payload};
	const struct zts_added added = {t->timestamp_ns, parts.items->start_offset,
		parts.items->store, parts.items->chunk, 0, trace};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pm_work_cancelled())
		return PM_CANCELLED;
	int r = zts_tree_read(g->stores, &parts, &adder->tree, &err);
	if (r < 0)
		return pm_is_passing(r) ? r : g->found ? 0 : tell_unreadable(g, t, &err);
	return zts_partial_add(&adder->partial, g->stores, &adder->tree, &added, t->error);
}

/* Payloads that several parts of one trace are in come out of the cache. */
static int gather_stretch(void *context, size_t i)
{
	struct gathering *g = context;
	struct zts_adder *adder = &g->sums->items[i];
	uint64_t n = g->n;
	uint32_t to = (uint32_t)(n * (i + 1) / g->sums->n);
	struct zts_held held = {.payload = NULL};
	int r = 0;
	adder->partial.only_carried = g->wanted->only_carried;
	adder->partial.window = g->wanted->window;
	if (g->found)
		r = zts_partial_again(
			&adder->partial, g->joining->again, joining_texts(g->joining), g->found);
	for (uint32_t k = (uint32_t)(n * i / g->sums->n); k < to && r == 0; k++) {
		const struct zts_trace *t = &g->survey->traces[g->traces[k]];
		zts_hold(g->stores, &g->survey->parts[t->part], t->n_parts > 1, &held);
		r = gather_trace(g, g->traces[k], adder, &held);
	}
	zts_hold(g->stores, NULL, false, &held);
	zts_tree_done(&adder->tree);
	return r < 0 ? r : zts_partial_end(&adder->partial);
}

/* ---- putting together ---- */

static void number_slowest(const struct zts_partial *p, struct zts_attributes *a)
{
	for (uint32_t i = 0; i < a->texts.n; i++)
		if (a->items[i].slowest != PM_NONE)
			a->items[i].slowest = p->added[a->items[i].slowest].trace;
}

/* Traces get the numbers of the survey in place of those in which they were added. */
static void number(const struct zts_survey *v, struct zts_partial *p)
{
	for (uint32_t i = 0; i < p->tally.paths.n; i++) {
		uint64_t *first = &p->tally.first[i];
		if (*first != UINT64_MAX)
			*first = (uint64_t)v->traces[p->added[*first >> 32].trace].place << 32 |
				(uint32_t)*first;
	}
	for (uint32_t i = 0; i < p->exceptions.texts.n; i++)
		p->exceptions.items[i].trace = p->added[p->exceptions.items[i].trace].trace;
	number_slowest(p, &p->attributes);
	number_slowest(p, &p->statements);
}

/*
 * Tells the sums of the scan which traces they are of. False if there is one that does not count,
 * because it is a part of another trace.
 */
static bool settle(const struct gathering *g)
{
	const struct zts_survey *v = g->survey;
	for (uint32_t i = 0; i < v->n; i++) {
		const struct zts_trace *t = &v->traces[i];
		if (t->added != PM_NONE && t->inner)
			return false;
		if (t->added != PM_NONE)
			g->sums->items[t->adder].partial.added[t->added].trace = i;
	}
	for (unsigned i = 0; i < g->sums->n; i++) {
		const struct zts_partial *p = &g->sums->items[i].partial;
		for (size_t k = 0; k < p->n_added; k++)
			if (p->added[k].trace == PM_NONE)
				return false;
	}
	return true;
}

/* Adds the durations of all calls once more: a pm_pass. */
static int read_again(void *context, struct pm_durations *ret)
{
	struct gathering g = *(const struct gathering *)context;
	g.found = ret;
	g.sums = zts_adders_new(g.stores);
	int r = g.sums ? list_traces(&g, true) : -ENOMEM;
	if (r == 0)
		r = pm_crew_each(g.sums->n, gather_stretch, &g);
	for (unsigned i = 0; r == 0 && i < g.sums->n; i++)
		r = zts_partial_join_again(ret, &g.sums->items[i].partial);
	zts_adders_free(g.sums);
	free(g.traces);
	return r;
}

/* Joins what threads have added up with what the first one has. */
static int join(struct gathering *g, struct zts_aggregate *a, struct pm_error *err)
{
	struct zts_partial *first = &g->sums->items[0].partial;
	struct joining j = {.a = a, .p = first, .stores = g->stores};
	int r = 0;
	for (unsigned i = 0; i < g->sums->n && r == 0; i++) {
		struct zts_partial *p = &g->sums->items[i].partial;
		number(g->survey, p);
		for (size_t k = 0; k < p->n_added && a->calls_of; k++)
			a->calls_of[p->added[k].trace] = p->added[k].calls;
		if (p == first)
			continue;
		r = zts_partial_join(first, p);
		zts_partial_done(p);
	}
	g->joining = &j;
	if (r == 0)
		r = finish(&j, g->wanted->whole, read_again, g, err);
	pm_tree_builder_free(j.builder);
	free(j.sums);
	return r;
}

int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, const struct zts_wanted *wanted, struct zts_adders *sums,
	struct pm_error *err)
{
	struct gathering g = {.stores = stores,
		.survey = survey,
		.sums = sums,
		.wanted = wanted,
		.damage = &a->damage};
	*a = (struct zts_aggregate){.damage = PM_DAMAGE_LIST_INIT};
	bool all = !sums || !settle(&g);
	if (all) {
		zts_adders_free(sums);
		g.sums = zts_adders_new(stores);
	}
	if (wanted->whole)
		a->calls_of = calloc((size_t)survey->n + 1, sizeof(*a->calls_of));
	bool made = g.sums && (a->calls_of || !wanted->whole);
	int r = made ? list_traces(&g, all) : -ENOMEM;
	if (r == 0)
		r = pm_crew_each(g.sums->n, gather_stretch, &g);
	free(g.traces);
	if (r == 0)
		r = a->damage.no_memory ? -ENOMEM : join(&g, a, err);
	zts_adders_free(g.sums);
	bool again = r == 0 && !all && a->left_out > 0; /* which calls, depends on the order */
	if (r < 0 || again)
		zts_aggregate_done(a);
	if (again)
		return zts_aggregate_build(a, stores, survey, wanted, NULL, err);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory to add up traces") : 0;
}

void zts_aggregate_done(struct zts_aggregate *a)
{
	pm_tree_free(a->tree);
	free(a->sums);
	free(a->frames);
	free(a->methods);
	free(a->times);
	free(a->calls_of);
	zts_attributes_done(&a->attributes);
	zts_attributes_done(&a->statements);
	zts_exceptions_done(&a->exceptions);
	pm_arena_done(&a->texts);
	pm_damage_done(&a->damage);
	*a = (struct zts_aggregate){.tree = NULL};
}
