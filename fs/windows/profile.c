/*
 * A window as a profile: the run's threads, functions and frames, with the contexts that ran in
 * it and their times.
 */
#include "fs/windows/internal.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/quantity.h"
#include "formats/common/span.h"

/*
 * ---- contents ----
 *
 * The traces of the threads are cut in parallel, and what ran between the edges is added up.
 */

struct cutting {
	struct pmfs_contents *c;
	uint32_t i;
	struct pm_error *err;
};

static void build_cut(void *context)
{
	const struct cutting *t = context;
	const struct pmfs_trace_index *trace;
	struct pmfs_contents *c = t->c;
	struct pmfs_cut *cut = &c->cuts[t->i];
	if (c->x->profile->samples_are_weighed) {
		pmfs_instants_cut(c, t->i, t->err);
		return;
	}
	pm_build_check(&cut->arena, pmfs_index_of(c->x, c->first + t->i, &trace, t->err));
	pmfs_cut_make(cut, c->x, c->first + t->i, &c->span, t->err);
}

static int cut_one(struct pmfs_contents *c, uint32_t i, struct pm_error *err)
{
	struct cutting t = {c, i, err};
	struct pmfs_cut *cut = &c->cuts[i];
	*cut = (struct pmfs_cut){.scratch.of = &cut->arena,
		.tally.arena = &cut->scratch,
		.lent.arena = &cut->scratch};
	int r = pm_build(&cut->arena, build_cut, &t);
	if (r < 0) {
		pm_arena_done(&cut->scratch);
		pm_arena_done(&cut->arena);
		*cut = (struct pmfs_cut){.failed = true};
	}
	return pm_error_plain(err, r);
}

static int cut_thread(void *context, size_t i)
{
	int r = cut_one(context, (uint32_t)i, NULL);
	return pm_is_passing(r) ? r : 0;
}

/* Finds out why traces cannot be read. If none of them can, neither can the window. */
static void list_damage(struct pm_arena *a, struct pmfs_contents *c, struct pm_error *err)
{
	struct pm_error first = {.code = 0};
	uint32_t n_traces = 0, n_failed = 0;
	pm_damage_list_in(&c->damage, a);
	const struct pm_damage_mark before = pm_damage_mark(&c->damage);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pm_thread *thread = &c->x->threads->threads[c->first + i];
		struct pm_error why = {.offset = PM_NO_OFFSET};
		n_traces += thread->has_trace;
		int r = c->cuts[i].failed ? cut_one(c, i, &why) : 0;
		if (pm_is_passing(r))
			pm_build_fail(a, r);
		if (r == 0)
			continue;
		if (n_failed++ == 0)
			first = why;
		pm_damage_add(&c->damage, why.file, why.offset, PM_NO_OFFSET,
			"trace of thread_id %u: %s", thread->id, why.text);
	}
	if (n_failed > 0 && n_failed == n_traces)
		pm_build_fail(a,
			pm_error_set(err, first.code, first.file, first.offset, "%s", first.text));
	pm_build_check(a, pm_damage_since(&c->damage, before));
	c->damages = pm_damage_rows(&c->damage);
}

static void fill_threads(struct pmfs_contents *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		c->items[i] = c->x->threads->threads[c->first + i];
		c->items[i].n_samples = c->cuts[i].n;
	}
	c->threads = *c->x->threads;
	c->threads.n = c->n;
	c->threads.n_lanes = 0;
	for (uint32_t i = 0; i < c->n; i++)
		c->threads.n_lanes += c->items[i].is_lane;
	c->threads.threads = c->items;
}

static bool calls_have_numbers(const struct pm_profile *run)
{
	return run->ops->amounts && run->n_events > 0;
}

static void gather(struct pm_arena *a, struct pmfs_contents *c, struct pm_error *err)
{
	const struct pm_profile *p = c->x->profile;
	struct pmfs_gathered from = {NULL, c->x, c->cuts, c->first, c->n};
	pm_build_check(a, pm_profile_tree(p, &from.whole, err));
	if (!p->samples_are_weighed)
		pmfs_gather(a, &from, &c->tree, &c->costs, err);
	if (p->samples_are_weighed || calls_have_numbers(p))
		pmfs_instants_gather(a, c, err);
}

/* The memory of what was made. */
static uint64_t contents_bytes(const struct pm_arena *a, const struct pmfs_contents *c)
{
	enum { A_CONTEXT = 64 }; /* approximately */
	uint64_t bytes = a->total;
	for (uint32_t i = 0; i < c->n; i++)
		bytes += c->cuts[i].arena.total;
	bytes += c->damage.arena.total + c->damage.room * sizeof(*c->damage.rows);
	return bytes + (uint64_t)c->tree->n_contexts * A_CONTEXT;
}

static void free_contents(void *contents)
{
	struct pmfs_contents *c = contents;
	for (uint32_t i = 0; i < c->n; i++) {
		pm_arena_done(&c->cuts[i].scratch);
		pm_arena_done(&c->cuts[i].arena);
	}
	pm_tree_free(c->tree);
}

/*
 * Fills in what is made; before, only the members above are set. O(n) for the threads, and for the
 * rows at the edges (index.c). Fails also if no trace can be read.
 */
static void contents_make(struct pm_arena *a, struct pmfs_contents *c, struct pm_error *err)
{
	c->items = pm_arena_array(a, (size_t)c->n + 1, sizeof(*c->items));
	c->cuts = pm_arena_array(a, (size_t)c->n + 1, sizeof(*c->cuts));
	pm_arena_owns(a, free_contents, c);
	if (!c->x->profile->samples_are_weighed)
		pm_build_check(a, pmfs_index_threads(c->x, c->first, c->n, err));
	pm_build_check(a, pm_crew_each(c->n, cut_thread, c));
	list_damage(a, c, err);
	gather(a, c, err);
	fill_threads(c);
	for (uint32_t i = 0; i < c->n; i++)
		pm_arena_done(&c->cuts[i].scratch);
}

/* 0, or of a thread whose trace cannot be read the errno, with the reason. */
static int contents_check(const struct pmfs_contents *c, uint32_t thread, struct pm_error *err)
{
	const struct pmfs_trace_index *trace;
	if (!c->cuts[thread].failed)
		return 0;
	int r = c->x->profile->samples_are_weighed
		? 0
		: pmfs_index_of(c->x, c->first + thread, &trace, err);
	return r < 0 ? r : pm_error_plain(err, -EIO);
}

/* ---- the profile ---- */

struct window {
	struct pm_profile profile;
	struct pm_text title; /* profile.title */
	struct pm_parts has;
	struct pm_span span;
	struct pm_metrics metrics;
	struct pm_metric *metric_list; /* of metrics, unless they are the run's */
	struct pm_window window;
	struct pm_window_part parts[PM_WINDOW_PARTS]; /* of the window */
	struct pm_lazy part_once[PM_WINDOW_PARTS];
	struct pm_window_own own;
	struct pmfs_contents of; /* what contents are of */
	struct pm_part contents;
	struct pmfs_contents *c;
	uint64_t bytes;
};

static void build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct window *w = owner;
	w->c = part;
	*w->c = w->of;
	contents_make(a, w->c, err);
	w->has.tree.it = w->c->tree;
	w->has.damage.it = &w->c->damages;
	w->has.threads.it = w->has.threads.build ? &w->c->threads : NULL;
	__atomic_store_n(&w->bytes, contents_bytes(a, w->c), __ATOMIC_RELEASE);
}

static int get_contents(void *window, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_contents), build, NULL, "a window"};
	struct window *w = window;
	return pm_part_build(&w->contents, &type, w, err);
}

static int get(const struct pm_profile *p, struct window **ret, struct pm_error *err)
{
	*ret = p->self;
	return get_contents(p->self, err);
}

static bool is_weighed(const struct window *w)
{
	const struct pm_profile *run = w->of.x->profile;
	return run->samples_are_weighed || calls_have_numbers(run);
}

static int get_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r < 0)
		return r;
	if (w->c->cuts[thread].failed) {
		*ret = (struct pm_thread_counts){PM_NO_TIME, PM_NO_TIME, 0};
		return 0;
	}
	if (is_weighed(w)) {
		r = pm_costs_counts(&w->c->weighed, thread, ret);
	} else {
		uint32_t *start = w->c->costs.thread_start + thread, n = start[1] - start[0];
		*ret = (struct pm_thread_counts){
			.contexts = n, .values = (uint64_t)n * PM_CALLS_N_METRICS};
	}
	uint64_t end = w->c->cuts[thread].end; /* UINT64_MAX is no time */
	ret->last_ns = p->traces_are_calls && end < UINT64_MAX ? end : 0;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* Costs have indexes of contexts; the profile has numbers. */
static int64_t numbered(const struct window *w, struct pm_value *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		values[i].context = pm_tree_number(w->c->tree, (uint32_t)values[i].context - 1);
	return n;
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r < 0)
		return r;
	int64_t n = is_weighed(w) ? pmfs_instants_of_run(w->c, &w->metrics, context, ret, room)
				  : pm_callcosts_of_run(&w->c->costs, context, ret, room);
	return numbered(w, ret, n);
}

static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r == 0 && of.what == PM_OF_THREAD)
		r = contents_check(w->c, of.index, err);
	if (r < 0)
		return r;
	int64_t n = !is_weighed(w) ? pm_callcosts_values(&w->c->costs, of, first, ret, room)
		: of.what == PM_OF_THREAD
		? pm_costs_of_thread(&w->c->weighed, of.index, first, ret, room)
		: pm_costs_of_context(&w->c->weighed, of.index, first, ret, room);
	return numbered(w, ret, n);
}

static int64_t get_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct window *w;
	int r = get(p, &w, err);
	if (r < 0 || (r = contents_check(w->c, thread, err)) < 0)
		return r;
	return pmfs_cut_samples(&w->c->cuts[thread], w->of.x, w->of.first + thread, &w->of.span,
		first, ret, room, err);
}

static bool has_changed(const struct pm_profile *p)
{
	const struct window *w = p->self;
	return pm_profile_changed(w->of.x->profile);
}

static uint64_t memory(const struct pm_profile *p)
{
	const struct window *w = p->self;
	uint64_t bytes = sizeof(*w) + __atomic_load_n(&w->bytes, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < PM_WINDOW_PARTS; i++)
		bytes += __atomic_load_n(&w->parts[i].bytes, __ATOMIC_RELAXED);
	return bytes;
}

static void window_close(struct pm_profile *p)
{
	struct window *w = p->self;
	for (unsigned i = 0; i < PM_WINDOW_PARTS; i++)
		if (w->parts[i].data)
			w->parts[i].free(w->parts[i].data);
	pm_part_done(&w->contents);
	pm_text_done(&w->title);
	free(w->metric_list);
	free(w);
}

static const struct pm_profile_ops ops = {
	.thread_counts = get_counts,
	.run_costs = run_costs,
	.values = values,
	.samples = get_samples,
	.close = window_close,
	.memory = memory,
	.changed = has_changed,
};

/* For calls without threads. */
static const struct pm_profile_ops ops_without_threads = {
	.run_costs = run_costs,
	.close = window_close,
	.memory = memory,
	.changed = has_changed,
};

/* `0-1.5s of the run`; followed by the title of the run if there is one. */
static int make_title(struct window *w, struct pm_error *err)
{
	const struct pm_profile *run = w->of.x->profile;
	struct pm_bytes title;
	uint64_t origin, duration;
	int r = pm_profile_title(run, &title, err);
	if (r < 0 || (r = pm_profile_span(run, &origin, &duration, err)) < 0)
		return r;
	w->span = (struct pm_span){origin, w->of.span.end - w->of.span.start};
	pm_span_print(&w->title, w->of.span.start - origin, w->of.span.end - origin);
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
	return pmfs_cut_records(
		&w->c->cuts[0], w->of.x->traces[w->of.first].n, from, ret_first, ret_end);
}

static int has_all(const struct pm_window *window, struct pm_error *err)
{
	struct window *w;
	int r = get(window->profile, &w, err);
	return r < 0 ? r : pmfs_cut_is_whole(&w->c->cuts[0], w->of.x->traces[w->of.first].n);
}

static void set_parts(struct window *w)
{
	const struct pm_profile *run = w->of.x->profile;
	w->window = (struct pm_window){.run = run,
		.profile = &w->profile,
		.start_ns = w->of.span.start,
		.end_ns = w->of.span.end,
		.is_last = w->of.span.is_last,
		.records = get_records,
		.has_all = has_all,
		.parts = w->parts};
	if (run->ops->window)
		run->ops->window(&w->window, &w->own);
	w->has = (struct pm_parts){
		.tree.build = get_contents,
		.metrics.it = &w->metrics,
		.span.it = &w->span,
		.damage.build = get_contents,
		.documents = {.it = w->own.documents, .n = w->own.n_documents},
		.collections = {.it = w->own.collections, .n = w->own.n_collections},
		.sections = {.it = w->own.sections, .n = w->own.n_sections},
	};
	if (pm_profile_has(run, threads))
		w->has.threads.build = get_contents;
}

/* Behind those of times: what numbers of calls are of. */
static void add_metrics_of_numbers(struct window *w, const struct pm_metrics *run)
{
	const struct pm_profile *p = w->of.x->profile;
	uint32_t groups = pm_metrics_groups(&w->metrics);
	for (uint32_t e = 0; e < p->n_events; e++)
		for (uint32_t i = 0; i < run->n; i++) {
			struct pm_metric *metric = &w->metric_list[w->metrics.n];
			if (run->metrics[i].group != p->events[e].weights)
				continue;
			*metric = run->metrics[i];
			metric->id += PM_CALLS_MOST_METRICS;
			metric->group = groups + e;
			w->metrics.n++;
		}
}

/* Times, or the run's own quantities: what leads the run leads its windows. */
static int set_metrics(struct window *w, struct pm_error *err)
{
	const struct pm_profile *run = w->of.x->profile;
	const struct pm_metrics *metrics;
	const struct pm_tree *tree;
	enum pm_time leads;
	int r = pmfs_index_open(w->of.x, err);
	if (r < 0)
		return r;
	bool numbers = calls_have_numbers(run);
	if (numbers || run->samples_are_weighed)
		r = pm_profile_metrics(run, &metrics, err);
	if (r == 0 && !run->samples_are_weighed) {
		unsigned times = pmfs_index_times(w->of.x, w->of.first, w->of.n, &leads);
		w->metric_list = calloc(PM_CALLS_MOST_METRICS + (numbers ? metrics->n : 0),
			sizeof(*w->metric_list));
		if (!w->metric_list)
			return pm_error_plain(err, -ENOMEM);
		w->metrics = pm_callcosts_list(run->traces_are_calls, times, leads, w->metric_list);
		if (numbers)
			add_metrics_of_numbers(w, metrics);
		return 0;
	}
	if (r == 0)
		r = pm_profile_tree(run, &tree, err);
	if (r < 0)
		return r;
	w->metrics = *metrics;
	if (!metrics->leads && tree->ordered_by != PM_NONE)
		w->metrics.leads = tree->ordered_by + 1;
	return 0;
}

int pmfs_window_open(struct pmfs_index *x, const struct pmfs_span *span, uint32_t first, uint32_t n,
	struct pm_profile **ret, struct pm_error *err)
{
	const struct pm_profile *run = x->profile;
	struct window *w = calloc(1, sizeof(*w));
	if (!w)
		return pm_error_plain(err, -ENOMEM);
	w->of = (struct pmfs_contents){.x = x, .span = *span, .first = first, .n = n};
	for (unsigned i = 0; i < PM_WINDOW_PARTS; i++)
		w->parts[i].once = &w->part_once[i];
	w->profile = (struct pm_profile){
		.ops = pm_profile_has(run, threads) ? &ops : &ops_without_threads,
		.parts = &w->has,
		.format = run->format,
		.source = run->source,
		.opened_ns = run->opened_ns,
		.layout = run->layout,
		.mtime_ns = run->mtime_ns,
		.input_bytes = run->input_bytes,
		.kind_of_tree = run->traces_are_calls ? "calls" : "samples",
		.traces_are_calls = run->traces_are_calls,
		.samples_are_weighed = run->samples_are_weighed,
		.events = run->events,
		.n_events = run->n_events,
		.times_since_epoch = run->times_since_epoch,
		.costs_by_thread = true,
		.lead_by_name = true,
		.has_lines = run->has_lines,
		.has_files = run->has_files,
		.has_modules = run->has_modules,
		.gpu_frames = run->gpu_frames,
		.module_end = run->module_end,
		.window = &w->window,
		.self = w};
	set_parts(w);
	int r = make_title(w, err);
	if (r == 0)
		r = set_metrics(w, err);
	if (r < 0)
		window_close(&w->profile);
	else
		*ret = &w->profile;
	return r;
}
