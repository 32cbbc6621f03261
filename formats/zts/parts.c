/* What is built on first need, and kept. */
#include "formats/zts/zts.h"

#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/text.h"

/*
 * The format interface passes const profiles; a part is built once, under a lock, and const for
 * everybody who gets it.
 */
static struct zts_opened *builder_of(const struct zts_opened *z)
{
	return (struct zts_opened *)(uintptr_t)z;
}

static int build_survey(void *context, struct pm_error *err)
{
	struct zts_opened *z = context;
	const struct zts_survey *v = &z->survey;
	if (__atomic_load_n(&z->adds_up, __ATOMIC_RELAXED) &&
		!(z->sums = zts_adders_new(&z->stores)))
		return pm_error_plain(err, -ENOMEM);
	int r = zts_survey_build(&z->survey, &z->stores, z->sums, err);
	if (r < 0) {
		zts_adders_free(z->sums);
		z->sums = NULL;
	}
	z->whole = (struct zts_scope){.z = z,
		.end = v->n,
		.slow = v->slow,
		.n_slow = v->n_slow,
		.failed = v->failed,
		.n_failed = v->n_failed,
		.requests = &z->requests};
	z->span = (struct pm_span){v->origin_ns, v->n ? v->end_ns - v->origin_ns : PM_NO_TIME};
	return r;
}

int zts_get_survey(const struct zts_opened *z, const struct zts_survey **ret, struct pm_error *err)
{
	struct zts_opened *b = builder_of(z);
	*ret = &z->survey;
	return pm_lazy_get(&b->survey_once, build_survey, b, err);
}

static int build_aggregate(void *context, struct pm_error *err)
{
	struct zts_opened *z = context;
	const struct zts_survey *v;
	__atomic_store_n(&z->adds_up, 1, __ATOMIC_RELAXED);
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	struct zts_adders *sums = z->sums;
	z->sums = NULL;
	const struct zts_wanted all = {.n = v->n, .whole = true};
	r = zts_aggregate_build(&z->aggregate, &z->stores, v, &all, sums, err);
	z->parts.tree.it = z->aggregate.tree;
	z->parts.call_times.it = z->aggregate.times;
	return r;
}

int zts_get_aggregate(
	const struct zts_opened *z, const struct zts_aggregate **ret, struct pm_error *err)
{
	struct zts_opened *b = builder_of(z);
	*ret = &z->aggregate;
	return pm_lazy_get(&b->aggregate_once, build_aggregate, b, err);
}

/* A call tree in the cache. */
struct kept_tree {
	struct pm_cached cached;
	struct zts_tree tree;
};

static void kept_tree_free(struct pm_cached *c)
{
	struct kept_tree *kept = (struct kept_tree *)c;
	zts_tree_done(&kept->tree);
	free(kept);
}

struct wanted_tree {
	struct zts_opened *z;
	uint32_t trace;
};

static int build_tree(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct wanted_tree *wanted = context;
	const struct zts_survey *v;
	int r = zts_get_survey(wanted->z, &v, err);
	if (r < 0)
		return r;
	const struct zts_trace *t = &v->traces[wanted->trace];
	if (t->lost)
		return pm_error_set(err, -EIO, "traces.dat", v->parts[t->part].data_offset,
			"the trace that the index lists here is missing or unreadable");
	struct kept_tree *kept = malloc(sizeof(*kept));
	if (!kept)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	const struct zts_parts parts = {.items = v->parts + t->part, .n = t->n_parts};
	kept->tree = (struct zts_tree){.n = 0};
	r = zts_tree_read(&wanted->z->stores, &parts, &kept->tree, err);
	if (r < 0) {
		free(kept);
		return r == -EINVAL ? -EIO : r;
	}
	kept->cached = (struct pm_cached){
		.bytes = kept->tree.bytes + sizeof(*kept), .free = kept_tree_free};
	*ret = &kept->cached;
	return 0;
}

int zts_get_tree(const struct zts_opened *z, uint32_t trace, const struct zts_tree **ret,
	struct pm_error *err)
{
	struct wanted_tree wanted = {builder_of(z), trace};
	struct pm_cached *cached;
	uint64_t key = (uint64_t)ZTS_KEPT_TREES << 56 | trace;
	int r = pm_cache_get(z->stores.cache, key, build_tree, &wanted, &cached, err);
	*ret = r < 0 ? NULL : &((struct kept_tree *)cached)->tree;
	return r;
}

void zts_release_tree(const struct zts_opened *z, const struct zts_tree *tree)
{
	struct kept_tree *kept = (struct kept_tree *)(uintptr_t)((const char *)tree -
		offsetof(struct kept_tree, tree));
	pm_cache_release(z->stores.cache, &kept->cached);
}

void zts_trace_path(const struct zts_opened *z, const struct zts_trace *t, struct pm_text *out)
{
	pm_text_str(out, "stores/");
	pm_text_str(out, z->stores.items[t->store].number);
	pm_text_str(out, "/traces/");
	zts_trace_name(t, out);
}

const struct zts_texts *zts_texts_of(const struct zts_opened *z, uint32_t store)
{
	return &z->stores.items[store].texts;
}

/*
 * ==== what tables are of ====
 * All traces of the run, or those that begin in a window. Traces are in order of time, so the
 * latter are a range. They are read again, on all processors, when somebody asks what their calls
 * carry.
 */

struct window_traces {
	struct zts_scope scope;
	struct pm_window_part *part; /* of the window, which this is */
	uint32_t slow[ZTS_SLOWEST];
	struct pm_part carried, requests;
};

/* ---- what calls carry ---- */

static void carried_free(void *part)
{
	zts_aggregate_done(part);
}

static void carried_build(struct pm_arena *arena, void *owner, void *part, struct pm_error *err)
{
	struct window_traces *w = owner;
	struct zts_aggregate *a = part;
	const struct zts_scope *scope = &w->scope;
	const struct zts_wanted wanted = {
		.first = scope->first, .n = scope->end - scope->first, .only_carried = true};
	pm_arena_owns(arena, carried_free, a);
	pm_build_check(arena,
		zts_aggregate_build(
			a, zts_stores_of(scope->z), &scope->z->survey, &wanted, NULL, err));
	__atomic_add_fetch(&w->part->bytes, a->all->arena.total, __ATOMIC_RELAXED);
}

int zts_get_carried(
	const struct zts_scope *scope, const struct zts_aggregate **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct zts_aggregate),
		.build = carried_build,
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
	w->scope = (struct zts_scope){.z = z,
		.first = first,
		.end = end,
		.slow = w->slow,
		.failed = v->failed + failed,
		.n_failed = n_failed,
		.carried = all ? NULL : &w->carried,
		.requests = all ? &z->requests : &w->requests};
	r = zts_survey_list_slow(v, first, end, w->slow, &w->scope.n_slow);
	if (r < 0) {
		window_free(w);
		return pm_error_plain(err, r);
	}
	w->part = &window->parts[ZTS_WINDOW_TRACES];
	w->part->data = w;
	w->part->free = window_free;
	w->part->bytes = sizeof(*w);
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
