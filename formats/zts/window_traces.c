/*
 * What tables are of: all traces of the run, or those that begin in a window. Traces are in order
 * of time, so the latter are a range. They are read again, on all processors, when somebody asks
 * what their calls carry.
 */
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/zts/parts.h"

struct window_traces {
	struct zts_scope scope;
	struct pm_window_part *part; /* of the window, which this is */
	uint32_t *slow;
	struct pm_part carried, requests;
};

/* ---- what calls carry ---- */

static int carried_fill(void *owner, void *part, struct pm_error *err)
{
	struct window_traces *w = owner;
	struct zts_aggregate *a = part;
	const struct zts_scope *scope = &w->scope;
	const struct zts_wanted wanted = {
		.first = scope->first, .n = scope->end - scope->first, .only_carried = true};
	int r = zts_aggregate_build(
		a, zts_stores_of(scope->z), &scope->z->survey, &wanted, NULL, err);
	if (r == 0)
		__atomic_add_fetch(&w->part->bytes, a->all->arena.total, __ATOMIC_RELAXED);
	return r;
}

static void carried_done(void *part)
{
	zts_aggregate_done(part);
}

int zts_get_carried(
	const struct zts_scope *scope, const struct zts_aggregate **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct zts_aggregate),
		.fill = carried_fill,
		.done = carried_done,
		.what = "the attributes of a window"};
	return scope->carried
		? pm_part_get(scope->carried, &type, (void *)(uintptr_t)scope, ret, err)
		: zts_get_aggregate(scope->z, ret, err);
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
	uint32_t end =
		PM_LOWER_BOUND(i, first, v->n, pm_window_has(window, v->traces[i].timestamp_ns));
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
