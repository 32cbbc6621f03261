/*
 * Divides the traces into as many ranges as there are cores; a thread adds up each, and the results
 * are joined in order, after those of the scan (early.h). Contexts are numbered in the order of
 * first occurrence in a single pass over the traces.
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
	struct zts_early *early; /* NULL: all traces are read */
	struct zts_partial *partials;
	uint32_t n_partials;
	struct zts_visits visits;
	uint32_t *calls_of; /* of the aggregate */
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

/* Reads a trace into `tree`, with the current payload if there is one, and adds it up. */
static int gather_trace(struct gathering *g, uint32_t place, struct zts_partial *partial,
	const struct zts_held *held, struct zts_tree *tree)
{
	uint32_t trace = g->survey->by_store[place];
	const struct zts_trace *t = &g->survey->traces[trace];
	const struct zts_moment moment = {trace, place, t->timestamp_ns, t->error};
	const struct zts_parts parts = {g->survey->parts + t->part, t->n_parts, held->payload};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pm_work_cancelled())
		return -ENOMEM;
	int r = zts_tree_read(g->stores, &parts, tree, &err);
	if (r < 0)
		return r == -ENOMEM ? r : g->found ? 0 : tell_unreadable(g, t, &err);
	g->calls_of[place] = tree->n;
	return zts_partial_add(partial, g->stores, tree, &moment);
}

static int gather_stretch(void *context, size_t i)
{
	struct gathering *g = context;
	const struct zts_survey *v = g->survey;
	uint32_t from = (uint32_t)((uint64_t)v->n * i / g->n_partials);
	uint32_t to = (uint32_t)((uint64_t)v->n * (i + 1) / g->n_partials);
	struct zts_held held = {.payload = NULL};
	struct zts_tree tree = {.n = 0};
	int r = zts_partial_init(&g->partials[i]);
	if (r == 0 && g->found)
		r = zts_partial_again(&g->partials[i], g->joining->again,
			zts_joining_texts(g->joining), g->found);
	for (uint32_t k = from; k < to && r == 0; k++) {
		const struct zts_trace *t = &v->traces[v->by_store[k]];
		if (!zts_trace_remains(t, g->early))
			continue;
		zts_visits_hold(&g->visits, &v->parts[t->part], &held);
		r = gather_trace(g, k, &g->partials[i], &held, &tree);
	}
	zts_visits_hold(&g->visits, NULL, &held);
	zts_tree_done(&tree);
	return r < 0 ? r : zts_partial_end(&g->partials[i]);
}

/* ---- putting together ---- */

static void translate_slowest(const struct zts_early *early, struct zts_attributes *a)
{
	for (uint32_t i = 0; i < a->texts.n; i++)
		if (a->items[i].slowest != PM_NONE)
			a->items[i].slowest = early->trace_of[a->items[i].slowest];
}

/* Ranks and traces of the survey in place of those that the scan expected. */
static void translate(const struct zts_early *early, struct zts_partial *p)
{
	for (uint32_t i = 0; i < p->tally.paths.n; i++) {
		uint64_t first = p->tally.first[i];
		if (first != UINT64_MAX)
			p->tally.first[i] =
				(uint64_t)early->rank_of[first >> 32] << 32 | (uint32_t)first;
	}
	for (uint32_t i = 0; i < p->exceptions.texts.n; i++)
		p->exceptions.items[i].trace = early->trace_of[p->exceptions.items[i].trace];
	translate_slowest(early, &p->attributes);
	translate_slowest(early, &p->statements);
}

/* Adds the durations of all calls once more: a pm_pass. */
static int read_again(void *context, struct pm_durations *ret)
{
	struct gathering g = *(const struct gathering *)context;
	g.early = NULL;
	g.found = ret;
	int r = zts_visits_init(&g.visits, g.stores, g.survey, NULL);
	g.partials = calloc(g.n_partials, sizeof(*g.partials));
	if (r == 0)
		r = g.partials ? pm_crew_each(g.n_partials, gather_stretch, &g) : -ENOMEM;
	for (uint32_t i = 0; g.partials && i < g.n_partials; i++) {
		if (r == 0)
			r = zts_partial_join_again(ret, &g.partials[i]);
		zts_partial_done(&g.partials[i]);
	}
	free(g.partials);
	zts_visits_done(&g.visits);
	return r;
}

static int join(struct gathering *g, struct zts_aggregate *a, struct pm_error *err)
{
	struct zts_joining j;
	int r = zts_joining_init(&j, a);
	for (unsigned i = 0; g->early && i < g->early->n_summings && r == 0; i++) {
		struct zts_partial *p = &g->early->summings[i].partial;
		translate(g->early, p);
		r = zts_joining_add(&j, p);
		zts_partial_done(p);
	}
	for (uint32_t i = 0; g->early && i < g->early->n && r == 0; i++)
		if (g->early->calls_of[i])
			a->calls_of[g->early->rank_of[i]] = g->early->calls_of[i];
	for (uint32_t i = 0; i < g->n_partials && r == 0; i++) {
		r = zts_joining_add(&j, &g->partials[i]);
		zts_partial_done(&g->partials[i]); /* replaced by the joined ones */
	}
	g->joining = &j;
	if (r == 0)
		r = zts_joining_end(&j, read_again, g, err);
	zts_joining_done(&j);
	return r;
}

/* Pieces of work: what the scan added up, and as many stretches of the remaining traces. */
static int gather(void *context, size_t i)
{
	struct gathering *g = context;
	size_t early = g->early ? g->early->n_summings : 0;
	return i < early ? zts_partial_end(&g->early->summings[i].partial)
			 : gather_stretch(g, i - early);
}

static int build(struct gathering *g, struct zts_aggregate *a, struct pm_error *err)
{
	*a = (struct zts_aggregate){.damage = PM_DAMAGE_LIST_INIT};
	g->damage = &a->damage;
	g->n_partials = pm_crew_width();
	g->partials = calloc(g->n_partials, sizeof(*g->partials));
	g->calls_of = a->calls_of = calloc((size_t)g->survey->n + 1, sizeof(*a->calls_of));
	int r = zts_visits_init(&g->visits, g->stores, g->survey, g->early);
	if (r == 0)
		r = g->partials && g->calls_of
			? pm_crew_each(
				  (g->early ? g->early->n_summings : 0) + g->n_partials, gather, g)
			: -ENOMEM;
	if (r == 0)
		r = a->damage.no_memory ? -ENOMEM : join(g, a, err);
	for (uint32_t i = 0; g->partials && i < g->n_partials; i++)
		zts_partial_done(&g->partials[i]);
	free(g->partials);
	zts_visits_done(&g->visits);
	zts_early_free(g->early);
	g->early = NULL;
	return r;
}

int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, struct zts_early *early, struct pm_error *err)
{
	struct gathering g = {.stores = stores, .survey = survey, .early = early};
	int r = build(&g, a, err);
	if (r == 0 && early && a->left_out > 0) { /* which calls, depends on the order */
		zts_aggregate_done(a);
		r = build(&g, a, err);
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
