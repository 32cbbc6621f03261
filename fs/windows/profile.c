/*
 * A window as a profile: the run's threads, functions and frames, with the contexts that ran in it
 * and their times.
 */
#include "fs/windows/profile.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/damage.h"
#include "formats/common/list.h"
#include "formats/common/span.h"
#include "fs/windows/cut.h"
#include "fs/windows/gather.h"

struct window {
	struct pm_profile profile;
	struct pmfs_index *x;
	struct pmfs_span span;
	uint32_t first, n;    /* threads of the run */
	struct pm_text title; /* profile.title */
	struct pm_window window;
	struct pm_window_part part; /* of the window */
	struct pm_lazy part_once;
	struct pm_named_doc *documents; /* that only the format has */
	size_t n_documents, room_documents;
	struct pm_lazy once; /* guards the following */
	struct pm_threads threads;
	struct pm_thread *items; /* of threads */
	struct pmfs_cut *cuts;   /* by thread */
	struct pm_tree *tree;
	struct pm_callcosts costs;
	struct pm_damage_list damage;
	struct pm_damages damages;
	uint64_t bytes;
};

/* ---- building ---- */

static int cut_one(struct window *w, uint32_t i, struct pm_error *err)
{
	const struct pmfs_trace_index *trace;
	int r = pmfs_index_of(w->x, w->first + i, &trace, err);
	if (r == 0)
		r = pmfs_cut_make(&w->cuts[i], w->x, w->first + i, &w->span, err);
	if (r < 0)
		pmfs_cut_done(&w->cuts[i]);
	w->cuts[i].failed = r < 0;
	return r;
}

static int cut_thread(void *context, size_t i)
{
	int r = cut_one(context, (uint32_t)i, NULL);
	return r == -ENOMEM ? r : 0;
}

/* Finds out why traces cannot be read. If none of them can, neither can the window. */
static int list_damage(struct window *w, struct pm_error *err)
{
	struct pm_error first = {.code = 0};
	uint32_t n_traces = 0, n_failed = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct pm_thread *thread = &w->x->threads->threads[w->first + i];
		struct pm_error why = {.offset = PM_NO_OFFSET};
		n_traces += thread->has_trace;
		int r = w->cuts[i].failed ? cut_one(w, i, &why) : 0;
		if (r == -ENOMEM)
			return pm_error_plain(err, r);
		if (r == 0)
			continue;
		if (n_failed++ == 0)
			first = why;
		pm_damage_add(&w->damage, why.file, why.offset, PM_NO_OFFSET,
			"trace of thread_id %u: %s", thread->id, why.text);
	}
	if (n_failed > 0 && n_failed == n_traces)
		return pm_error_set(err, first.code, first.file, first.offset, "%s", first.text);
	if (w->damage.no_memory)
		return pm_error_plain(err, -ENOMEM);
	w->damages = pm_damage_rows(&w->damage);
	return 0;
}

static void fill_threads(struct window *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->items[i] = w->x->threads->threads[w->first + i];
		w->items[i].n_samples = w->cuts[i].n;
	}
	w->threads = *w->x->threads;
	w->threads.n = w->n;
	w->threads.threads = w->items;
}

static int gather(struct window *w, struct pm_error *err)
{
	const struct pm_profile *p = w->x->profile;
	const struct pm_tree *whole = NULL;
	int r = p->ops->tree(p, &whole, err);
	struct pmfs_gathered from = {whole, w->cuts, w->n, !p->traces_are_calls};
	return r < 0 ? r : pmfs_gather(&from, &w->tree, &w->costs, err);
}

static uint64_t count_bytes(const struct window *w)
{
	enum { A_CONTEXT = 64 }; /* of the tree, approximately */
	uint64_t bytes = w->n * (sizeof(*w->items) + sizeof(*w->cuts));
	for (uint32_t i = 0; i < w->n; i++)
		bytes += w->cuts[i].room * sizeof(*w->cuts[i].stretches);
	bytes += w->damage.arena.total + w->damage.room * sizeof(*w->damage.rows);
	return bytes + pm_callcosts_bytes(&w->costs) + (uint64_t)w->tree->n_contexts * A_CONTEXT;
}

static void drop(struct window *w)
{
	for (uint32_t i = 0; w->cuts && i < w->n; i++)
		pmfs_cut_done(&w->cuts[i]);
	free(w->cuts);
	free(w->items);
	pm_tree_free(w->tree);
	pm_callcosts_done(&w->costs);
	pm_damage_done(&w->damage);
	w->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	w->damages = (struct pm_damages){.n = 0};
	w->cuts = NULL;
	w->items = NULL;
	w->tree = NULL;
	w->costs = (struct pm_callcosts){.n = 0};
}

static int build(void *context, struct pm_error *err)
{
	struct window *w = context;
	drop(w);
	w->cuts = calloc((size_t)w->n + 1, sizeof(*w->cuts));
	w->items = calloc((size_t)w->n + 1, sizeof(*w->items));
	int r = w->cuts && w->items ? 0 : pm_error_plain(err, -ENOMEM);
	if (r == 0)
		r = pmfs_index_threads(w->x, w->first, w->n, err);
	if (r == 0 && (r = pm_crew_each(w->n, cut_thread, w)) < 0)
		pm_error_plain(err, r);
	if (r == 0)
		r = list_damage(w, err);
	if (r == 0)
		r = gather(w, err);
	if (r < 0) {
		drop(w);
		return r;
	}
	fill_threads(w);
	for (uint32_t i = 0; i < w->n; i++) {
		pmfs_tally_done(&w->cuts[i].tally);
		pmfs_tally_done(&w->cuts[i].lent);
	}
	__atomic_store_n(&w->bytes, count_bytes(w), __ATOMIC_RELEASE);
	return 0;
}

static int get(const struct pm_profile *p, struct window **ret, struct pm_error *err)
{
	*ret = p->self;
	return pm_lazy_get(&(*ret)->once, build, *ret, err);
}

/* Of a thread whose trace cannot be read: the reason. */
static int check_thread(const struct window *w, uint32_t thread, struct pm_error *err)
{
	const struct pmfs_trace_index *trace;
	if (!w->cuts[thread].failed)
		return 0;
	int r = pmfs_index_of(w->x, w->first + thread, &trace, err);
	return r < 0 ? r : pm_error_plain(err, -EIO);
}

/* ---- operations ---- */

static int get_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	*ret = r < 0 ? NULL : w->tree;
	return r;
}

static int get_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	(void)err;
	*ret = p->traces_are_calls ? &pm_callcosts_metrics : &pm_callcosts_sampled;
	return 0;
}

static int get_threads(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	*ret = &w->threads;
	return r;
}

static int get_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r < 0)
		return r;
	if (w->cuts[thread].failed) {
		*ret = (struct pm_thread_counts){PM_NO_TIME, PM_NO_TIME, 0};
		return 0;
	}
	uint32_t n = w->costs.thread_start[thread + 1] - w->costs.thread_start[thread];
	uint64_t end = w->cuts[thread].end; /* UINT64_MAX is no time */
	*ret = (struct pm_thread_counts){.contexts = n,
		.values = (uint64_t)n * PM_CALLS_N_METRICS,
		.last_ns = p->traces_are_calls && end < UINT64_MAX ? end : 0};
	return 0;
}

/* Costs have indexes of contexts; the profile has numbers. */
static int64_t numbered(const struct window *w, struct pm_value *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		values[i].context = pm_tree_number(w->tree, (uint32_t)values[i].context - 1);
	return n;
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	return r < 0 ? r : numbered(w, ret, pm_callcosts_of_run(&w->costs, context, ret, room));
}

static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r == 0 && of.what == PM_OF_THREAD)
		r = check_thread(w, of.index, err);
	return r < 0 ? r : numbered(w, ret, pm_callcosts_values(&w->costs, of, first, ret, room));
}

static int64_t get_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r < 0 || (r = check_thread(w, thread, err)) < 0)
		return r;
	return pmfs_cut_samples(
		&w->cuts[thread], w->x, w->first + thread, &w->span, first, ret, room, err);
}

static int get_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err)
{
	const struct window *w = p->self;
	const struct pm_profile *run = w->x->profile;
	int r = run->ops->span(run, ret_origin_ns, ret_duration_ns, err);
	*ret_duration_ns = w->span.end - w->span.start;
	return r;
}

static int get_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err)
{
	const struct window *w = p->self;
	(void)err;
	*ret = w->documents;
	*ret_n = w->n_documents;
	return 0;
}

static int get_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	*ret = &w->damages;
	return r;
}

static bool has_changed(const struct pm_profile *p)
{
	const struct window *w = p->self;
	return pm_profile_changed(w->x->profile);
}

static uint64_t memory(const struct pm_profile *p)
{
	const struct window *w = p->self;
	return sizeof(*w) + __atomic_load_n(&w->bytes, __ATOMIC_ACQUIRE);
}

static void window_close(struct pm_profile *p)
{
	struct window *w = p->self;
	if (w->part.data)
		w->part.free(w->part.data);
	drop(w);
	pm_text_done(&w->title);
	free(w->documents);
	free(w);
}

static const struct pm_profile_ops ops = {
	.tree = get_tree,
	.metrics = get_metrics,
	.threads = get_threads,
	.thread_counts = get_counts,
	.run_costs = run_costs,
	.values = values,
	.samples = get_samples,
	.span = get_span,
	.documents = get_documents,
	.damage = get_damage,
	.close = window_close,
	.memory = memory,
	.changed = has_changed,
};

/* For calls without threads. */
static const struct pm_profile_ops ops_without_threads = {
	.tree = get_tree,
	.metrics = get_metrics,
	.run_costs = run_costs,
	.span = get_span,
	.documents = get_documents,
	.damage = get_damage,
	.close = window_close,
	.memory = memory,
	.changed = has_changed,
};

/* `0-1.5s of the run`; followed by the title of the run if there is one. */
static int make_title(struct window *w, struct pm_error *err)
{
	const struct pm_profile *run = w->x->profile;
	struct pm_bytes title;
	uint64_t origin, duration;
	int r = pm_profile_title(run, &title, err);
	if (r < 0 || (r = run->ops->span(run, &origin, &duration, err)) < 0)
		return r;
	pm_span_print(&w->title, w->span.start - origin, w->span.end - origin);
	if (title.len)
		pm_text_str(&w->title, " of ");
	pm_text_bytes(&w->title, title);
	w->profile.title = pm_text_view(&w->title);
	return w->title.failed ? pm_error_plain(err, -ENOMEM) : 0;
}

static int get_records(const struct pm_window *window, uint64_t from, uint64_t *ret_first,
	uint64_t *ret_end, struct pm_error *err)
{
	struct window *w;
	int r = get(window->profile, &w, err);
	if (r < 0)
		return r;
	return pmfs_cut_records(&w->cuts[0], w->x->traces[w->first].n, from, ret_first, ret_end);
}

static int has_all(const struct pm_window *window, struct pm_error *err)
{
	struct window *w;
	int r = get(window->profile, &w, err);
	return r < 0 ? r : pmfs_cut_is_whole(&w->cuts[0], w->x->traces[w->first].n);
}

static int list_documents(struct window *w, struct pm_error *err)
{
	const struct pm_profile *run = w->x->profile;
	struct pm_named_doc doc;
	int r = 0;
	w->window = (struct pm_window){.run = run,
		.profile = &w->profile,
		.start_ns = w->span.start,
		.end_ns = w->span.end,
		.is_last = w->span.is_last,
		.records = get_records,
		.has_all = has_all,
		.part = &w->part};
	for (uint32_t k = 0; run->ops->window_document; k++) {
		r = run->ops->window_document(run, &w->window, k, &doc, err);
		if (r <= 0)
			break;
		if (pm_list_room(&w->documents, w->n_documents, &w->room_documents, sizeof(doc)) <
			0)
			return pm_error_plain(err, -ENOMEM);
		w->documents[w->n_documents++] = doc;
	}
	return r;
}

int pmfs_window_open(struct pmfs_index *x, const struct pmfs_span *span, uint32_t first, uint32_t n,
	struct pm_profile **ret, struct pm_error *err)
{
	const struct pm_profile *run = x->profile;
	struct window *w = calloc(1, sizeof(*w));
	if (!w)
		return pm_error_plain(err, -ENOMEM);
	*w = (struct window){
		.x = x, .span = *span, .first = first, .n = n, .damage = PM_DAMAGE_LIST_INIT};
	w->part.once = &w->part_once;
	w->profile = (struct pm_profile){.ops = run->ops->threads ? &ops : &ops_without_threads,
		.format = run->format,
		.source = run->source,
		.opened_ns = run->opened_ns,
		.layout = run->layout,
		.mtime_ns = run->mtime_ns,
		.input_bytes = run->input_bytes,
		.kind_of_tree = run->traces_are_calls ? "calls" : "samples",
		.traces_are_calls = run->traces_are_calls,
		.times_since_epoch = run->times_since_epoch,
		.costs_by_thread = true,
		.lead_by_name = true,
		.has_lines = run->has_lines,
		.has_modules = run->has_modules,
		.module_end = run->module_end,
		.self = w};
	int r = make_title(w, err);
	if (r == 0)
		r = list_documents(w, err);
	if (r < 0)
		window_close(&w->profile);
	else
		*ret = &w->profile;
	return r;
}
