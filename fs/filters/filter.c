/* A filter as a profile. */
#include "fs/filters/filter.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/search.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "fs/filters/internal.h"
#include "fs/views/model/screen.h"

const char *const pmfs_filter_names[PMFS_N_FILTERS] = {
	[PMFS_FILTER_FOCUS] = "focus",
	[PMFS_FILTER_IGNORE] = "ignore",
	[PMFS_FILTER_HIDE] = "hide",
	[PMFS_FILTER_FROM] = "from",
};

/* ---- what is built once ---- */

static void build_contents(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_filter *f = owner;
	const struct pmfs_columns *columns;
	f->c = part;
	pm_build_check(a, pmfs_model_columns(f->model, &columns, err));
	pmfs_filter_fill(a, f, err);
	/* What is primary in the whole is in its parts. */
	f->c->slots.metrics.leads = columns->n ? columns->columns[0].group + 1 : 0;
	f->parts.tree.it = f->c->tree;
	f->parts.metrics.it = &f->c->slots.metrics;
	pmfs_filter_grown(f, a->total + (uint64_t)f->c->tree->n_contexts * 32);
}

static struct pmfs_filter *filter_of(const struct pm_profile *p)
{
	return (struct pmfs_filter *)(uintptr_t)p->self;
}

static int get_contents(void *self, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_filter_contents), build_contents, NULL, "a filter"};
	struct pmfs_filter *f = self;
	return pm_part_build(&f->contents, &type, f, err);
}

static int filter_get(const struct pm_profile *p, struct pmfs_filter **ret, struct pm_error *err)
{
	*ret = filter_of(p);
	return get_contents(*ret, err);
}

static int count_thread(void *context, size_t i)
{
	struct pmfs_filter *f = context;
	int r = f->t->items[i].has_trace ? pmfs_filter_trace(f, (uint32_t)i, NULL) : 0;
	return pm_is_passing(r) ? r : 0; /* damage is said where the trace is read */
}

static void free_threads(void *of)
{
	const struct pmfs_filter_threads *t = of;
	for (uint32_t i = 0; i < t->list.n; i++) {
		pm_arena_done(&t->of[i].costs_arena);
		pm_arena_done(&t->of[i].trace_arena);
	}
}

static void build_threads(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_filter *f = owner;
	struct pmfs_filter_threads *t = f->t = part;
	const struct pm_threads *all;
	pm_build_check(a, pm_profile_threads(f->of, &all, err));
	uint32_t first = f->what.thread == PM_NONE ? 0 : f->what.thread;
	uint32_t n = f->what.thread == PM_NONE ? all->n : 1;
	t->items = pm_arena_array(a, (size_t)n + 1, sizeof(*t->items));
	t->of = pm_arena_array(a, (size_t)n + 1, sizeof(*t->of));
	t->list = *all;
	t->list.n = n;
	t->list.n_lanes = 0;
	t->list.threads = t->items;
	for (uint32_t i = 0; i < n; i++) {
		t->items[i] = all->threads[first + i];
		t->list.n_lanes += t->items[i].is_lane;
	}
	pm_arena_owns(a, free_threads, t);
	if (f->ops.samples)
		pm_build_check(a, pm_crew_each(n, count_thread, f));
	for (uint32_t i = 0; i < n; i++)
		t->items[i].n_samples = t->of[i].n;
	f->parts.threads.it = &t->list;
	pmfs_filter_grown(f, a->total);
}

static int get_threads(void *self, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_filter_threads), build_threads, NULL, "the threads of a filter"};
	struct pmfs_filter *f = self;
	int r = get_contents(f, err);
	return r < 0 ? r : pm_part_build(&f->threads, &type, f, err);
}

static int with_threads(const struct pm_profile *p, struct pmfs_filter **ret, struct pm_error *err)
{
	*ret = filter_of(p);
	return get_threads(*ret, err);
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct pmfs_filter *f;
	int r = filter_get(p, &f, err);
	if (r < 0)
		return r;
	struct pmfs_filtered_cost cost;
	size_t n = 0;
	for (uint32_t i = 0; i < f->c->slots.n && n < room; i++)
		if (pmfs_gather_get(f->c->run, context, i, &cost))
			ret[n++] = pmfs_cost_value(&f->c->slots, &cost, f->c->tree, PM_NONE);
	return (int64_t)n;
}

/* A filter that is a run among several has operations of its own for closing. */
static bool is_filter(const struct pm_profile *p)
{
	return p->ops->run_costs == run_costs;
}

/* ---- costs by thread ---- */

static void build_costs(void *context)
{
	struct pmfs_filter_task *task = context;
	struct pmfs_filter *f = task->f;
	const struct pm_tree *tree = f->c->tree;
	const struct pmfs_shape_of shape = {
		tree->parent, tree->frame, tree->frames, tree->n_frames};
	struct pmfs_gather *g = pmfs_gather_new(
		&task->scratch, &task->scratch, &f->c->slots, &shape, tree->n_contexts, NULL);
	pmfs_filter_take(&task->scratch, f, pmfs_filter_thread_of(f, task->thread), g, task->err);
	pmfs_gather_roll(g);
	pmfs_gather_list(task->a, g, &f->t->of[task->thread].costs);
}

static int thread_costs(struct pmfs_filter *f, uint32_t thread,
	const struct pmfs_filtered_costs **ret, struct pm_error *err)
{
	struct pmfs_filter_thread *t = &f->t->of[thread];
	struct pmfs_filter_task task = {f, thread, &t->costs_arena, .build = build_costs};
	*ret = &t->costs;
	return pm_lazy_get(&t->costs_once, pmfs_filter_run, &task, err);
}

/* The place of a context among the costs of a thread, and how many it has. */
static size_t costs_at(const struct pmfs_filtered_costs *c, uint32_t context, size_t *ret_n)
{
	size_t at = PM_LOWER_BOUND(i, 0, c->n, c->items[i].context < context);
	size_t end = at;
	while (end < c->n && c->items[end].context == context)
		end++;
	*ret_n = end - at;
	return at;
}

static int64_t values_of_context(struct pmfs_filter *f, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	size_t filled = 0, n;
	for (uint32_t t = 0; t < f->t->list.n && filled < room; t++) {
		const struct pmfs_filtered_costs *c;
		int r = thread_costs(f, t, &c, err);
		if (r < 0)
			return r;
		size_t at = costs_at(c, context, &n);
		size_t skip = first < n ? (size_t)first : n;
		first -= skip;
		for (size_t i = skip; i < n && filled < room; i++)
			ret[filled++] =
				pmfs_cost_value(&f->c->slots, &c->items[at + i], f->c->tree, t);
	}
	return (int64_t)filled;
}

static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct pmfs_filter *f;
	const struct pmfs_filtered_costs *c;
	int r = with_threads(p, &f, err);
	if (r == 0 && of.what == PM_OF_CONTEXT)
		return values_of_context(f, of.index, first, ret, room, err);
	if (r < 0 || (r = thread_costs(f, of.index, &c, err)) < 0)
		return r;
	size_t n = 0;
	for (; n < room && first + n < c->n; n++)
		ret[n] = pmfs_cost_value(&f->c->slots, &c->items[first + n], f->c->tree, of.index);
	return (int64_t)n;
}

static int64_t samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct pmfs_filter *f;
	int r = with_threads(p, &f, err);
	return r < 0 ? r : pmfs_filter_samples(f, thread, first, ret, room, err);
}

static int get_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	struct pmfs_filter *f;
	const struct pmfs_filtered_costs *c;
	int r = with_threads(p, &f, err);
	if (r < 0 || (r = thread_costs(f, thread, &c, err)) < 0)
		return r;
	*ret = (struct pm_thread_counts){.values = c->n};
	for (size_t i = 0; i < c->n; i++)
		ret->contexts += i == 0 || c->items[i].context != c->items[i - 1].context;
	if (f->profile.traces_are_calls && f->t->items[thread].has_trace &&
		(r = pmfs_filter_trace(f, thread, err)) == 0)
		ret->last_ns = f->t->of[thread].last_ns;
	return r;
}

/* ---- how long calls took ---- */

/*
 * Durations of functions all of whose calls are left are known: those of the others are not stored
 * one by one.
 */
static void build_times(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_filter *f = owner;
	const struct pmfs_filter_contents *c = f->c;
	const struct pm_call_times *all;
	struct pm_call_times **times = part;
	pm_build_check(a, pm_profile_call_times(f->of, &all, err));
	*times = pm_arena_array(a, (size_t)c->tree->n_functions + 1, sizeof(**times));
	memcpy(*times, all, c->whole->n_functions * sizeof(*all));
	for (uint32_t i = 0; i < c->whole->n_contexts; i++) {
		uint32_t function = pm_tree_frame(c->whole, i)->function;
		if (function != PM_NONE && c->same[i] == PM_NONE)
			(*times)[function] = (struct pm_call_times){.known = false};
	}
	f->parts.call_times.it = *times;
}

static int get_times(void *self, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pm_call_times *), build_times, NULL, "how long calls took"};
	struct pmfs_filter *f = self;
	int r = get_contents(f, err);
	return r < 0 ? r : pm_part_build(&f->times, &type, f, err);
}

/* ---- what is said of it ---- */

static int get_title(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	const struct pmfs_filter *f = filter_of(p);
	(void)err;
	*ret = pm_text_view(&f->title);
	return 0;
}

static const char *get_kind(const struct pm_profile *p)
{
	return pm_profile_kind_of_tree(filter_of(p)->of);
}

/* Of the primary quantity: the cost at the top of a tree. */
static double top_cost(struct pm_arena *a, struct pmfs_filter *f, const struct pm_metrics *metrics,
	const struct pm_tree *tree, struct pm_error *err)
{
	size_t room = (size_t)metrics->n + 1;
	struct pm_value *values = pm_arena_array(a, room, sizeof(*values));
	uint32_t group = f->c->slots.metrics.leads - 1;
	double cost = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i = tree->end[i]) {
		int64_t n = tree == f->c->whole ? pmfs_run_values(f->model, i, values, room, err)
						: run_costs(&f->profile, i, values, room, err);
		pm_build_check(a, (int)n);
		for (int64_t k = 0; k < n; k++)
			for (uint32_t m = 0; m < metrics->n; m++)
				if (metrics->metrics[m].id == values[k].metric &&
					metrics->metrics[m].group == group &&
					metrics->metrics[m].role == PM_ROLE_INCLUSIVE)
					cost += pmfs_value_number(&values[k]);
	}
	return cost;
}

static double get_share(struct pm_arena *a, struct pmfs_filter *f, struct pm_error *err)
{
	const struct pmfs_filter_contents *c = f->c;
	const struct pm_metrics *of;
	if (c->slots.metrics.leads == 0)
		return NAN;
	pm_build_check(a, pmfs_model_metrics(f->model, &of, err));
	double whole = top_cost(a, f, of, c->whole, err);
	double part = top_cost(a, f, &c->slots.metrics, c->tree, err);
	return whole > 0 ? part / whole : NAN;
}

/* The facts of the profile, what it is filtered by, and the share of its whole that is left. */
static void build_facts(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_filter *f = owner;
	struct pm_fact **facts = part;
	const struct pm_fact *of = NULL;
	size_t n_of = 0, n = 0;
	pm_build_check(a, pm_profile_facts(f->of, &of, &n_of, err));
	double share = get_share(a, f, err);
	*facts = pm_arena_array(a, n_of + 2, sizeof(**facts));
	for (size_t i = 0; i < n_of; i++) {
		bool again = is_filter(f->of) && strncmp(of[i].key, "filter", 6) == 0;
		if (again && strcmp(of[i].key, "filter_share") == 0)
			share *= of[i].value.kind == PM_CELL_F64 ? of[i].value.f : NAN;
		if (!again)
			(*facts)[n++] = of[i];
	}
	(*facts)[n++] = (struct pm_fact){"filters", pm_cell_text(pm_text_view(&f->path))};
	(*facts)[n++] = (struct pm_fact){
		"filter_share", isnan(share) ? pm_cell_empty() : pm_cell_f64(share)};
	f->parts.facts.it = *facts;
	f->parts.facts.n = n;
}

static int get_facts(void *self, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pm_fact *), build_facts, NULL, "the facts of a filter"};
	struct pmfs_filter *f = self;
	int r = get_contents(f, err);
	return r < 0 ? r : pm_part_build(&f->facts, &type, f, err);
}

int pmfs_filter_matches(const struct pm_profile *p, struct pm_error *err)
{
	struct pmfs_filter *f;
	const struct pm_tree *tree;
	if (!is_filter(p))
		return 1;
	int r = filter_get(p, &f, err);
	if (r == 0)
		r = pm_profile_tree(p, &tree, err);
	return r < 0 ? r : f->c->has_matches;
}

static int get_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_filter *f = filter_of(p);
	int r = get_facts(f, err);
	if (r < 0)
		return r;
	const struct pm_cell *share = &f->parts.facts.it[f->parts.facts.n - 1].value;
	uint32_t thread;
	const struct pm_profile *bottom = pmfs_filter_bottom(p, &thread);
	if (!f->c->has_matches) {
		pm_text_printf(out, "Nothing matches %s/", pmfs_filter_names[f->what.kind]);
		pm_text_line(out, f->what.pattern);
		pm_text_char(out, '.');
		r = pmfs_filter_nearest(f, out, err);
		pm_text_char(out, '\n');
	} else if (share->kind == PM_CELL_F64) {
		pm_text_str(out, "Filtered by ");
		pm_text_line(out, pm_text_view(&f->path));
		pm_text_str(out, ": ");
		pmfs_print_tenths(out, share->f, 1);
		pm_text_str(out, " of the whole.\n");
	}
	return r == 0 && bottom->ops->remarks ? bottom->ops->remarks(bottom, out, err) : r;
}

static int has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	const struct pmfs_filter *f = filter_of(p);
	if (feature == PM_HAS_SEVERAL_THREADS && f->what.thread != PM_NONE)
		return 0;
	return f->of->ops->has(f->of, feature, err);
}

static bool has_changed(const struct pm_profile *p)
{
	return pm_profile_changed(filter_of(p)->of);
}

static void warm(const struct pm_profile *p)
{
	const struct pm_profile *of = filter_of(p)->of;
	of->ops->warm(of);
}

static uint64_t memory(const struct pm_profile *p)
{
	const struct pmfs_filter *f = filter_of(p);
	uint64_t bytes = sizeof(*f) + __atomic_load_n(&f->bytes, __ATOMIC_RELAXED);
	return bytes + (f->owns && f->of->ops->memory ? f->of->ops->memory(f->of) : 0);
}

static void close_other(const struct pm_profile *of, const struct pmfs_filter_what *what)
{
	struct pm_profile *p = (struct pm_profile *)(uintptr_t)of;
	if (what->close)
		what->close(p);
	else
		p->ops->close(p);
}

static void filter_close(struct pm_profile *p)
{
	struct pmfs_filter *f = filter_of(p);
	pm_part_done(&f->facts);
	pm_part_done(&f->times);
	pm_part_done(&f->threads);
	pm_part_done(&f->contents);
	pm_text_done(&f->title);
	pm_text_done(&f->path);
	if (f->owns) {
		pmfs_model_free(f->model);
		close_other(f->of, &f->what);
	}
	free(f);
}

/* ---- opening ---- */

/*
 * What is known of the other profile once it is ready: fields, and which operations there are.
 * Operations that may be called before are not touched.
 */
static int settle(void *context, struct pm_error *err)
{
	struct pmfs_filter *f = context;
	const struct pm_profile *of = f->of;
	const struct pm_profile_ops *ops = of->ops;
	struct pm_profile *p = &f->profile;
	struct pm_bytes title;
	uint32_t thread;
	const struct pm_profile *bottom = pmfs_filter_bottom(p, &thread);
	int r = pm_profile_ready(of, err);
	if (r < 0 || (r = pm_profile_title(bottom, &title, err)) < 0)
		return r;
	r = pmfs_can_be_filtered(of, err);
	if (r <= 0)
		return r < 0
			? r
			: pm_error_set(err, -ENODATA, of->source, PM_NO_OFFSET,
				  "has costs by call edge and no call paths, which filters need");
	pm_text_clear(&f->title);
	pm_text_bytes(&f->title, pm_text_view(&f->path));
	if (thread != PM_NONE) {
		const struct pm_threads *all;
		if ((r = pm_profile_threads(bottom, &all, err)) < 0)
			return r;
		pm_text_printf(&f->title, " of thread_id %u", all->threads[thread].id);
	}
	if (title.len)
		pm_text_str(&f->title, " of ");
	pm_text_bytes(&f->title, title);
	if (f->title.failed)
		return pm_error_plain(err, -ENOMEM);
	p->layout = of->layout;
	p->measured_ns = of->measured_ns;
	p->traces_are_calls = of->traces_are_calls;
	p->samples_are_weighed = of->samples_are_weighed;
	p->events = of->events;
	p->n_events = of->n_events;
	p->calls_in_order = of->calls_in_order;
	p->times_since_epoch = of->times_since_epoch;
	p->inclusive_overlaps = of->inclusive_overlaps;
	bool threads = pm_profile_has(of, threads);
	f->ops.thread_counts = threads ? get_counts : NULL;
	f->ops.values = threads && ops->values ? values : NULL;
	f->ops.samples = threads && ops->samples ? samples : NULL;
	f->ops.has = ops->has ? has : NULL;
	f->parts.threads.build = threads ? get_threads : NULL;
	/* They are of all threads. */
	if (pm_profile_has(of, call_times) && f->what.thread == PM_NONE)
		f->parts.call_times.build = get_times;
	f->parts.span.of = pm_profile_has(of, span) ? of : NULL;
	f->parts.sources.of = pm_profile_has(of, sources) ? of : NULL;
	f->parts.missing.of = pm_profile_has(of, missing) ? of : NULL;
	return 0;
}

int pmfs_can_be_filtered(const struct pm_profile *p, struct pm_error *err)
{
	struct pm_bytes title;
	if (p->ops->filtered)
		return 1;
	/* Without having been read, edges are what a source can do at least; the title reads it. */
	int r = pm_profile_title(p, &title, err);
	return r < 0
		? r
		: !pm_bytes_equal(pm_bytes_of(pm_profile_kind_of_tree(p)), pm_bytes_of("edges"));
}

void pmfs_filter_print(const struct pmfs_filter_what *whats, unsigned n, struct pm_text *out)
{
	for (unsigned i = 0; i < n; i++) {
		pm_text_printf(out, "%s%s/", i ? "/" : "", pmfs_filter_names[whats[i].kind]);
		pm_text_bytes(out, whats[i].pattern);
	}
}

static int get_ready(const struct pm_profile *p, struct pm_error *err)
{
	struct pmfs_filter *f = filter_of(p);
	return pm_lazy_get(&f->ready_once, settle, f, err);
}

unsigned pmfs_filter_depth(const struct pm_profile *p)
{
	unsigned depth = 0;
	for (; is_filter(p); p = filter_of(p)->of)
		depth++;
	return depth;
}

const struct pm_profile *pmfs_filter_bottom(const struct pm_profile *p, uint32_t *ret_thread)
{
	*ret_thread = PM_NONE;
	for (; is_filter(p); p = filter_of(p)->of)
		if (filter_of(p)->what.thread != PM_NONE)
			*ret_thread = filter_of(p)->what.thread;
	return p;
}

static int open_filter(const struct pm_profile *of, struct pmfs_model *model,
	const struct pmfs_filter_what *what, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_filter *f = calloc(1, sizeof(*f));
	if (!f)
		return pm_error_plain(err, -ENOMEM);
	f->of = of;
	f->model = model;
	f->what = *what;
	bool good = pmfs_pattern_read(&f->pattern, what->pattern);
	f->what.pattern = (struct pm_bytes){(const uint8_t *)f->pattern.text, f->pattern.len};
	if (is_filter(of)) {
		pm_text_bytes(&f->path, pm_text_view(&filter_of(of)->path));
		pm_text_char(&f->path, '/');
	}
	pm_text_printf(&f->path, "%s/", pmfs_filter_names[what->kind]);
	pm_text_bytes(&f->path, f->what.pattern);
	f->ops = (struct pm_profile_ops){.ready = get_ready,
		.run_costs = run_costs,
		.title = get_title,
		.kind_of_tree = get_kind,
		.remarks = get_remarks,
		.warm = of->ops->warm ? warm : NULL,
		.close = filter_close,
		.memory = memory,
		.changed = has_changed};
	f->parts = (struct pm_parts){
		.tree.build = get_contents,
		.metrics.build = get_contents,
		.damage.of = of,
		.facts.build = get_facts,
	};
	f->profile = *of;
	f->profile.ops = &f->ops;
	f->profile.parts = &f->parts;
	f->profile.self = f;
	f->profile.costs_by_thread = true;
	f->profile.stores_values = false;
	f->profile.lead_by_name = true;
	f->profile.has_cycles = false;
	f->profile.notes = NULL;
	f->profile.baseline = NULL;
	if (good && !f->path.failed) {
		*ret = &f->profile;
		return 0;
	}
	filter_close(&f->profile);
	return pm_error_plain(err, good ? -ENOMEM : -ENOENT);
}

int pmfs_filter_open(const struct pm_profile *of, struct pmfs_model *model,
	const struct pmfs_filter_what *what, struct pm_profile **ret, struct pm_error *err)
{
	if (model)
		return open_filter(of, model, what, ret, err);
	model = pmfs_filter_model_new(of);
	int r = model ? open_filter(of, model, what, ret, err) : pm_error_plain(err, -ENOMEM);
	if (r == 0) {
		filter_of(*ret)->owns = true;
		return 0;
	}
	pmfs_model_free(model);
	close_other(of, what);
	return r;
}

int pmfs_filter_all(struct pm_profile *of, void (*close)(struct pm_profile *p),
	const struct pmfs_filter_what *whats, unsigned n, struct pm_profile **ret,
	struct pm_error *err)
{
	int r = 0;
	*ret = of;
	for (unsigned i = 0; r == 0 && i < n; i++) {
		struct pmfs_filter_what what = whats[i];
		what.close = i == 0 ? close : NULL;
		r = pmfs_filter_open(*ret, NULL, &what, ret, err);
	}
	return r;
}

int pmfs_filter_again(const struct pm_profile *p, struct pm_profile *part, struct pm_profile **ret,
	struct pm_error *err)
{
	struct pmfs_filter_what whats[PMFS_MOST_FILTERS];
	unsigned n = pmfs_filter_depth(p), at = n;
	for (; is_filter(p); p = filter_of(p)->of) {
		whats[--at] = filter_of(p)->what;
		whats[at].thread = PM_NONE; /* the part has no other thread */
	}
	return pmfs_filter_all(part, NULL, whats, n, ret, err);
}

struct pmfs_model *pmfs_filter_model_new(const struct pm_profile *p)
{
	struct pmfs_model *m = pmfs_model_new(p);
	if (m && is_filter(p))
		pmfs_model_set_unfiltered(m, filter_of(p)->model);
	return m;
}
