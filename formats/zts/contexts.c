/*
 * Divides the traces that remain after the scan into as many ranges as there are cores; a thread
 * adds up each, and all results are joined. Contexts are numbered in the order of first occurrence
 * in a single pass over the traces, store by store.
 */
#include "formats/zts/contexts.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/work.h"
#include "formats/zts/joining.h"
#include "formats/zts/samples.h"

struct gathering {
	struct zts_stores *stores;
	const struct zts_survey *survey;
	struct zts_adders *sums;
	bool all; /* traces that the scan has added up, too */
	struct zts_visits visits;
	struct pm_damage_list *damage;
	const struct zts_joining *joining;
	const struct pm_durations *found; /* by a pass that reads all traces again; else NULL */
};

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
	struct gathering *g, uint32_t place, struct zts_adder *adder, const struct zts_held *held)
{
	uint32_t trace = g->survey->by_store[place];
	const struct zts_trace *t = &g->survey->traces[trace];
	const struct zts_parts parts = {g->survey->parts + t->part, t->n_parts, held->payload};
	const struct zts_added added = {t->timestamp_ns, parts.items->start_offset,
		parts.items->store, parts.items->chunk, 0, trace, place};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pm_work_cancelled())
		return -ENOMEM;
	int r = zts_tree_read(g->stores, &parts, &adder->tree, &err);
	if (r < 0)
		return r == -ENOMEM ? r : g->found ? 0 : tell_unreadable(g, t, &err);
	return zts_partial_add(&adder->partial, g->stores, &adder->tree, &added, t->error);
}

static int gather_stretch(void *context, size_t i)
{
	struct gathering *g = context;
	const struct zts_survey *v = g->survey;
	struct zts_adder *adder = &g->sums->items[i];
	uint32_t from = (uint32_t)((uint64_t)v->n * i / g->sums->n);
	uint32_t to = (uint32_t)((uint64_t)v->n * (i + 1) / g->sums->n);
	struct zts_held held = {.payload = NULL};
	int r = 0;
	if (g->found)
		r = zts_partial_again(&adder->partial, g->joining->again,
			zts_joining_texts(g->joining), g->found);
	for (uint32_t k = from; k < to && r == 0; k++) {
		const struct zts_trace *t = &v->traces[v->by_store[k]];
		if (!zts_trace_remains(t, g->all))
			continue;
		zts_visits_hold(&g->visits, &v->parts[t->part], &held);
		r = gather_trace(g, k, adder, &held);
	}
	zts_visits_hold(&g->visits, NULL, &held);
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
static void number(struct zts_partial *p)
{
	for (uint32_t i = 0; i < p->tally.paths.n; i++) {
		uint64_t *first = &p->tally.first[i];
		if (*first != UINT64_MAX)
			*first = (uint64_t)p->added[*first >> 32].place << 32 | (uint32_t)*first;
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
		const struct zts_trace *t = &v->traces[v->by_store[i]];
		if (t->added == PM_NONE)
			continue;
		if (t->inner)
			return false;
		struct zts_added *added = &g->sums->items[t->adder].partial.added[t->added];
		added->trace = v->by_store[i];
		added->place = i;
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
	g.all = true;
	g.sums = zts_adders_new(g.stores);
	int r = zts_visits_init(&g.visits, g.stores, g.survey, ZTS_VISIT_ALL);
	if (r == 0)
		r = g.sums ? pm_crew_each(g.sums->n, gather_stretch, &g) : -ENOMEM;
	for (unsigned i = 0; r == 0 && i < g.sums->n; i++)
		r = zts_partial_join_again(ret, &g.sums->items[i].partial);
	zts_adders_free(g.sums);
	zts_visits_done(&g.visits);
	return r;
}

static int join(struct gathering *g, struct zts_aggregate *a, struct pm_error *err)
{
	struct zts_joining j;
	int r = zts_joining_init(&j, a);
	for (unsigned i = 0; i < g->sums->n && r == 0; i++) {
		struct zts_partial *p = &g->sums->items[i].partial;
		number(p);
		for (size_t k = 0; k < p->n_added; k++)
			a->calls_of[p->added[k].place] = p->added[k].calls;
		r = zts_joining_add(&j, p);
		zts_partial_done(p); /* replaced by the joined ones */
	}
	g->joining = &j;
	if (r == 0)
		r = zts_joining_end(&j, read_again, g, err);
	zts_joining_done(&j);
	return r;
}

/* Of all traces, or of those that remain in addition to `sums`, which it frees. */
static int build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, struct zts_adders *sums, struct pm_error *err)
{
	struct gathering g = {.stores = stores, .survey = survey, .sums = sums, .all = !sums};
	*a = (struct zts_aggregate){.damage = PM_DAMAGE_LIST_INIT};
	g.damage = &a->damage;
	if (sums && !settle(&g)) {
		zts_adders_free(sums);
		g.sums = NULL;
		g.all = true;
	}
	if (!g.sums)
		g.sums = zts_adders_new(stores);
	a->calls_of = calloc((size_t)survey->n + 1, sizeof(*a->calls_of));
	int r = zts_visits_init(&g.visits, stores, survey, g.all ? ZTS_VISIT_ALL : ZTS_VISIT_REST);
	if (r == 0)
		r = g.sums && a->calls_of ? pm_crew_each(g.sums->n, gather_stretch, &g) : -ENOMEM;
	if (r == 0)
		r = a->damage.no_memory ? -ENOMEM : join(&g, a, err);
	zts_adders_free(g.sums);
	zts_visits_done(&g.visits);
	return r;
}

int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, struct zts_adders *sums, struct pm_error *err)
{
	int r = build(a, stores, survey, sums, err);
	if (r == 0 && sums && a->left_out > 0) { /* which calls, depends on the order */
		zts_aggregate_done(a);
		r = build(a, stores, survey, NULL, err);
	}
	if (r < 0) {
		zts_aggregate_done(a);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory to add up traces");
	}
	return 0;
}

void zts_aggregate_done(struct zts_aggregate *a)
{
	pm_tree_free(a->tree);
	free(a->sums);
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
