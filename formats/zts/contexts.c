/*
 * Divides the traces that remain after the scan into as many ranges as there are cores; a thread
 * adds up each, and all results are joined. Contexts are numbered in the order of first occurrence
 * in a single pass over the traces, store by store.
 */
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/sort.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "formats/zts/sums.h"
#include "formats/zts/survey.h"

/* ==== what all threads have added up: paths are numbered by where each was first ==== */

struct gathering;

/* Makes an aggregate of one partial, which the others are joined with, in its arena. */
struct joining {
	struct zts_aggregate *a;
	struct zts_partial *p;
	struct gathering *gathering;
	struct pm_tree_builder *builder;
	uint32_t *index;      /* of each path, in the builder's order: its context */
	enum zts_again again; /* why a pass is made */
};

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

/* All paths in order of first use, parents before children. */
static struct place *sort_paths(const struct zts_partial *p, struct pm_arena *arena)
{
	uint32_t n = p->paths.n;
	struct place *places = pm_arena_array(arena, (size_t)n + 1, sizeof(*places));
	bool sorted = true;
	for (uint32_t i = 0; i < n; i++) {
		places[i] = (struct place){p->first[i], i};
		sorted = sorted && (i == 0 || places[i - 1].first <= places[i].first);
	}
	if (!sorted)
		pm_build_check(arena, pm_sort(places, n, sizeof(*places), by_first));
	return places;
}

static uint32_t frame_of(struct joining *j, uint32_t method)
{
	uint32_t *frame = &j->a->frames[method];
	if (*frame == PM_NONE) {
		struct pm_bytes text = zts_method_name(j->a->adders->stores, method);
		uint32_t name = pm_tree_text(j->builder, text, true);
		struct pm_function function = {.name = name, .id = PM_NONE};
		struct pm_frame made = {.kind = PM_KIND_FUNCTION,
			.function = pm_tree_function(j->builder, &function),
			.name = name};
		*frame = pm_tree_intern(j->builder, &made);
	}
	return *frame;
}

static void free_builder(void *joining)
{
	struct joining *j = joining;
	pm_tree_builder_free(j->builder);
	free(j->index);
	j->builder = NULL;
	j->index = NULL;
}

static void make_tree(struct joining *j)
{
	struct zts_aggregate *a = j->a;
	struct zts_partial *p = j->p;
	struct pm_arena *scratch = pm_arena_scratch(&p->arena);
	uint32_t n = p->paths.n;
	double *weight = pm_arena_array(scratch, (size_t)n + 1, sizeof(*weight));
	struct zts_sums *sums = pm_arena_array(scratch, (size_t)n + 1, sizeof(*sums));
	uint32_t *place_of = pm_arena_array(scratch, (size_t)n + 1, sizeof(*place_of));
	const struct place *places = sort_paths(p, scratch);
	pm_arena_owns(scratch, free_builder, j);
	j->builder = pm_tree_builder_new();
	pm_build_check(&p->arena, j->builder ? 0 : -ENOMEM);
	a->n_frames = p->n_methods;
	a->frames = pm_arena_array(&p->arena, (size_t)a->n_frames + 1, sizeof(*a->frames));
	for (uint32_t i = 0; i < a->n_frames; i++)
		a->frames[i] = PM_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_path *path = &p->paths.items[places[i].path];
		uint32_t parent = path->parent == PM_NONE ? PM_NONE : place_of[path->parent];
		place_of[places[i].path] = i;
		sums[i] = p->sums[places[i].path].sums;
		weight[i] = (double)sums[i].inclusive_ns;
		pm_tree_add(j->builder, parent, frame_of(j, path->key), 0);
	}
	for (size_t i = 0; i < a->n_methods && p->left_out; i++)
		frame_of(j, a->methods[i].number); /* some may have no path */
	zts_partial_drop_paths(p);
	struct pm_tree_builder *builder = j->builder;
	j->builder = NULL;
	pm_build_check(&p->arena, pm_tree_freeze(builder, weight, &a->tree, &j->index, NULL));
	a->sums = pm_arena_array(&p->arena, (size_t)n + 1, sizeof(*a->sums));
	for (uint32_t i = 0; i < n; i++)
		a->sums[j->index[i]] = sums[i];
	pm_arena_done(scratch);
}

/* Leaves methods with calls, by time. */
static void list_methods(struct joining *j)
{
	struct zts_aggregate *a = j->a;
	a->methods = j->p->methods;
	for (uint32_t i = 0; i < j->p->n_methods; i++)
		if (a->methods[i].sums.calls > 0) {
			a->methods[a->n_methods] = a->methods[i];
			a->methods[a->n_methods++].name = zts_method_name(a->adders->stores, i);
		}
	pm_build_check(&j->p->arena,
		pm_sort(a->methods, a->n_methods, sizeof(*a->methods), zts_method_by_time));
}

/* A method is a function. */
static void list_times(struct joining *j, pm_pass pass)
{
	struct zts_aggregate *a = j->a;
	struct pm_arena *arena = &j->p->arena;
	uint32_t n = j->p->n_methods;
	struct pm_call_times *times =
		pm_arena_realloc(arena, NULL, ((size_t)n + 1) * sizeof(*times));
	pm_build_check(arena, pm_percentiles(&j->p->durations, times, n, pass, j));
	if (a->tree)
		a->times =
			pm_arena_array(arena, (size_t)a->tree->n_functions + 1, sizeof(*a->times));
	for (size_t i = 0; i < a->n_methods; i++) {
		a->methods[i].times = times[a->methods[i].number];
		if (a->tree)
			a->times[zts_function_of(a, &a->methods[i])] = a->methods[i].times;
	}
	pm_arena_free(arena, times);
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
	const struct joining *joining;    /* of a pass that reads all traces again; else NULL */
	const struct pm_durations *found; /* in it */
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
		return pm_is_passing(r) ? r : g->joining ? 0 : tell_unreadable(g, t, &err);
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
	if (g->joining) {
		const struct zts_partial *p = g->joining->p;
		enum zts_again again = g->joining->again;
		r = zts_partial_again(&adder->partial, again,
			again == ZTS_AGAIN_STATEMENTS ? &p->statements.texts : &p->attributes.texts,
			g->found);
	}
	for (uint32_t k = (uint32_t)(n * i / g->sums->n); k < to && r == 0; k++) {
		const struct zts_trace *t = &g->survey->traces[g->traces[k]];
		zts_hold(g->stores, &g->survey->parts[t->part], t->n_parts > 1, &held);
		r = gather_trace(g, g->traces[k], adder, &held);
	}
	zts_hold(g->stores, NULL, false, &held);
	/* What follows needs the sums alone, for as long as the source is open. */
	zts_tree_done(&adder->tree);
	zts_growing_done(&adder->growing);
	zts_records_done(&adder->values);
	return r < 0 ? r : zts_partial_end(&adder->partial);
}

/* ---- putting together ---- */

/* Traces get the numbers of the survey in place of those in which they were added. */
static void number(const struct zts_survey *v, struct zts_partial *p)
{
	struct zts_attributes *const lists[] = {&p->attributes, &p->statements};
	for (uint32_t i = 0; i < p->paths.n; i++) {
		uint64_t *first = &p->first[i];
		if (*first != UINT64_MAX)
			*first = (uint64_t)v->traces[p->added[*first >> 32].trace].place << 32 |
				(uint32_t)*first;
	}
	for (uint32_t i = 0; i < p->exceptions.texts.n; i++)
		p->exceptions.items[i].trace = p->added[p->exceptions.items[i].trace].trace;
	for (size_t k = 0; k < 2; k++)
		for (uint32_t i = 0; i < lists[k]->texts.n; i++) {
			uint32_t *slowest = &lists[k]->items[i].slowest;
			*slowest = *slowest == PM_NONE ? PM_NONE : p->added[*slowest].trace;
		}
}

/*
 * Tells the sums of the scan which traces they are of. False if there is one that does not count,
 * because it is a part of another trace.
 */
static bool settle(const struct zts_adders *sums, const struct zts_survey *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct zts_trace *t = &v->traces[i];
		if (t->added != PM_NONE && t->inner)
			return false;
		if (t->added != PM_NONE)
			sums->items[t->adder].partial.added[t->added].trace = i;
	}
	for (unsigned i = 0; i < sums->n; i++)
		for (size_t k = 0; k < sums->items[i].partial.n_added; k++)
			if (sums->items[i].partial.added[k].trace == PM_NONE)
				return false;
	return true;
}

/* Adds the durations of all calls once more: a pm_pass. */
static int read_again(void *context, struct pm_durations *ret)
{
	const struct joining *j = context;
	struct gathering g = *j->gathering;
	g.traces = NULL; /* those of the first pass are freed */
	g.joining = j;
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
static void join(void *context)
{
	struct joining *j = context;
	struct gathering *g = j->gathering;
	struct zts_aggregate *a = j->a;
	struct zts_partial *first = j->p;
	if (g->wanted->whole)
		a->calls_of = pm_arena_array(
			&first->arena, (size_t)g->survey->n + 1, sizeof(*a->calls_of));
	for (unsigned i = 0; i < g->sums->n; i++) {
		struct zts_partial *p = &g->sums->items[i].partial;
		number(g->survey, p);
		for (size_t k = 0; k < p->n_added && a->calls_of; k++)
			a->calls_of[p->added[k].trace] = p->added[k].calls;
		if (p == first)
			continue;
		zts_partial_join(first, p);
		pm_arena_done(&p->arena);
	}
	pm_arena_free(&first->arena, first->added);
	first->added = NULL;
	pm_map_done(&first->exceptions.ids);
	list_methods(j);
	if (g->wanted->whole)
		make_tree(j);
	j->again = ZTS_AGAIN_METHODS;
	list_times(j, read_again);
	j->again = ZTS_AGAIN_ATTRIBUTES;
	zts_attributes_end(&first->attributes, false, read_again, j);
	j->again = ZTS_AGAIN_STATEMENTS;
	zts_attributes_end(&first->statements, true, read_again, j);
	zts_exceptions_sort(&first->exceptions);
}

int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, const struct zts_wanted *wanted, struct zts_adders *sums,
	struct pm_error *err)
{
	bool all = !sums || !settle(sums, survey);
	if (all) {
		zts_adders_free(sums);
		sums = zts_adders_new(stores);
	}
	*a = (struct zts_aggregate){.adders = sums, .damage = PM_DAMAGE_LIST_INIT};
	struct gathering g = {stores, survey, sums, wanted, .damage = &a->damage};
	struct joining j = {.a = a, .gathering = &g};
	int r = sums ? list_traces(&g, all) : -ENOMEM;
	if (r == 0)
		r = pm_crew_each(sums->n, gather_stretch, &g);
	free(g.traces);
	if (r == 0 && a->damage.no_memory)
		r = -ENOMEM;
	if (r == 0) {
		a->all = j.p = &sums->items[0].partial;
		r = pm_build(&a->all->arena, join, &j);
	}
	bool again = r == 0 && !all && a->all->left_out > 0; /* which calls, depends on the order */
	if (r < 0 || again)
		zts_aggregate_done(a);
	if (again)
		return zts_aggregate_build(a, stores, survey, wanted, NULL, err);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory to add up traces") : 0;
}

void zts_aggregate_done(struct zts_aggregate *a)
{
	pm_tree_free(a->tree);
	zts_adders_free(a->adders);
	pm_damage_done(&a->damage);
	*a = (struct zts_aggregate){.tree = NULL};
}
