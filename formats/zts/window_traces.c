/*
 * What tables are of: all traces of the run, or those that begin in a window. Traces are in order
 * of time, so the latter are a range. They are read again, on all processors, when somebody asks
 * what their calls carry.
 */
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/zts/parts.h"

struct window_traces {
	struct zts_scope scope;
	struct pm_window_part *part; /* of the window, which this is */
	uint32_t *slow;
	struct pm_part carried, requests;
};

/* ---- what calls carry ---- */

struct carried {
	struct zts_carried public;
	struct zts_attributes attributes, statements;
	struct zts_exceptions exceptions;
	struct pm_arena texts;
};

struct gathering {
	const struct zts_scope *scope;
	struct carried *items;
	uint32_t n;
	/* Of a pass for percentiles, which reads all traces again; else NULL: */
	const struct zts_attributes *of;
	bool are_statements;
	const struct pm_durations *found;
};

static int gather_trace(struct carried *c, struct zts_traces *reader, uint32_t trace)
{
	const struct zts_survey *v = &reader->z->survey;
	const struct zts_trace *t = &v->traces[trace];
	const struct zts_moment moment = {NULL, trace, t->timestamp_ns, t->error};
	int r = zts_traces_get(reader, trace, NULL);
	if (r <= 0)
		return r == -ENOMEM ? r : 0; /* as where windows are cut */
	r = zts_attributes_add(&c->attributes, &c->statements, &reader->tree, &moment, &c->texts);
	return r < 0 ? r
		     : zts_exceptions_add(&c->exceptions, reader->s->visits.stores, &reader->tree,
			       &moment, &c->texts);
}

static struct zts_attributes *counted_again(const struct gathering *g, uint32_t i)
{
	return g->are_statements ? &g->items[i].statements : &g->items[i].attributes;
}

static int gather_stretch(void *context, size_t i)
{
	struct gathering *g = context;
	struct carried *c = &g->items[i];
	uint64_t n = g->scope->end - g->scope->first;
	uint32_t from = g->scope->first + (uint32_t)(n * i / g->n);
	uint32_t to = g->scope->first + (uint32_t)(n * (i + 1) / g->n);
	struct zts_traces reader;
	int r = zts_traces_init(&reader, g->scope->z, NULL);
	if (r == 0 && g->of)
		r = zts_attributes_again(
			counted_again(g, (uint32_t)i), &g->of->texts, g->found, &c->texts);
	for (uint32_t k = from; k < to && r == 0; k++)
		r = pm_work_cancelled() ? -ENOMEM : gather_trace(c, &reader, k);
	zts_traces_done(&reader);
	return r;
}

static void carried_done(void *part)
{
	struct carried *c = part;
	zts_attributes_done(&c->attributes);
	zts_attributes_done(&c->statements);
	zts_exceptions_done(&c->exceptions);
	pm_arena_done(&c->texts);
}

static int join(struct carried *to, const struct carried *from)
{
	int r = zts_attributes_join(&to->attributes, &from->attributes, &to->texts);
	if (r == 0)
		r = zts_attributes_join(&to->statements, &from->statements, &to->texts);
	return r < 0 ? r : zts_exceptions_join(&to->exceptions, &from->exceptions, &to->texts);
}

static int gather(struct gathering *g)
{
	g->n = pm_crew_width();
	g->items = calloc(g->n, sizeof(*g->items));
	return g->items ? pm_crew_each(g->n, gather_stretch, g) : -ENOMEM;
}

/* Adds the durations of all calls once more: a pm_pass. */
static int read_again(void *context, struct pm_durations *ret)
{
	struct gathering g = *(const struct gathering *)context;
	g.found = ret;
	int r = gather(&g);
	for (uint32_t i = 0; g.items && i < g.n; i++) {
		if (r == 0)
			r = pm_durations_join(ret, &counted_again(&g, i)->durations, NULL);
		carried_done(&g.items[i]);
	}
	free(g.items);
	return r;
}

static int sort(struct carried *c, const struct zts_scope *scope)
{
	struct gathering again = {.scope = scope, .of = &c->attributes};
	int r = zts_attributes_end(&c->attributes, false, read_again, &again);
	again.of = &c->statements;
	again.are_statements = true;
	if (r == 0)
		r = zts_attributes_end(&c->statements, true, read_again, &again);
	return r < 0 ? r : zts_exceptions_sort(&c->exceptions);
}

static int carried_fill(void *owner, void *part, struct pm_error *err)
{
	enum { A_ROW = 500 /* bytes, about */ };
	struct window_traces *w = owner;
	struct carried *c = part;
	struct gathering g = {.scope = &w->scope};
	struct zts_samples *s;
	int r = zts_get_samples(g.scope->z, &s, err);
	if (r < 0)
		return r;
	r = gather(&g);
	for (uint32_t i = 0; g.items && i < g.n; i++) {
		if (r == 0)
			r = join(c, &g.items[i]);
		carried_done(&g.items[i]);
	}
	free(g.items);
	if (r == 0)
		r = sort(c, g.scope);
	c->public = (struct zts_carried){&c->attributes, &c->statements, &c->exceptions};
	uint64_t n =
		(uint64_t)c->attributes.texts.n + c->statements.texts.n + c->exceptions.texts.n;
	__atomic_add_fetch(&w->part->bytes, c->texts.total + n * A_ROW, __ATOMIC_RELAXED);
	return r;
}

int zts_get_carried(const struct zts_scope *scope, struct zts_carried *ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct carried),
		.fill = carried_fill,
		.done = carried_done,
		.what = "the attributes of a window"};
	const struct zts_carried *carried;
	const struct zts_aggregate *a;
	if (scope->carried) {
		int r = pm_part_get(scope->carried, &type, (void *)(uintptr_t)scope, &carried, err);
		if (r == 0)
			*ret = *carried;
		return r;
	}
	int r = zts_get_aggregate(scope->z, &a, err);
	*ret = (struct zts_carried){&a->attributes, &a->statements, &a->exceptions};
	return r;
}

/* ---- which traces ---- */

static void window_free(void *data)
{
	struct window_traces *w = data;
	pm_part_done(&w->carried);
	pm_part_done(&w->requests);
	free(w->slow);
	free(w);
}

static int window_build(void *context, struct pm_error *err)
{
	const struct pm_window *window = context;
	struct zts_opened *z = zts_opened_of(window->run);
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	struct window_traces *w = r < 0 ? NULL : calloc(1, sizeof(*w));
	if (!w)
		return r < 0 ? r : pm_error_plain(err, -ENOMEM);
	uint32_t first = PM_LOWER_BOUND(i, 0, v->n, v->traces[i].timestamp_ns < window->start_ns);
	uint32_t end = PM_LOWER_BOUND(i, first, v->n,
		v->traces[i].timestamp_ns < window->end_ns ||
			(window->is_last && v->traces[i].timestamp_ns == window->end_ns));
	uint32_t failed = PM_LOWER_BOUND(i, 0, v->n_failed, v->failed[i] < first);
	uint32_t n_failed = PM_LOWER_BOUND(i, failed, v->n_failed, v->failed[i] < end) - failed;
	bool all = end - first == v->n;
	w->slow = malloc(((size_t)(end - first) + 1) * sizeof(*w->slow));
	w->scope = (struct zts_scope){.z = z,
		.first = first,
		.end = end,
		.slow = w->slow,
		.failed = v->failed + failed,
		.n_failed = n_failed,
		.carried = all ? NULL : &w->carried,
		.requests = all ? &z->requests : &w->requests};
	r = w->slow ? zts_survey_list_slow(v, first, end, w->slow, &w->scope.n_slow) : -ENOMEM;
	if (r < 0) {
		window_free(w);
		return pm_error_plain(err, r);
	}
	w->part = &window->parts[ZTS_WINDOW_TRACES];
	w->part->data = w;
	w->part->free = window_free;
	w->part->bytes = sizeof(*w) + (end - first) * sizeof(*w->slow);
	return 0;
}

int zts_scope_of(const void *self, uint64_t of, const struct zts_scope **ret, struct pm_error *err)
{
	const struct zts_survey *v;
	if (of == ZTS_OF_RUN) {
		const struct zts_opened *z = self;
		*ret = &z->whole;
		return zts_get_survey(z, &v, err);
	}
	const struct pm_window *window = self;
	struct pm_window_part *part = &window->parts[ZTS_WINDOW_TRACES];
	int r = pm_lazy_get(part->once, window_build, (void *)(uintptr_t)window, err);
	*ret = r < 0 ? NULL : &((const struct window_traces *)part->data)->scope;
	return r;
}
