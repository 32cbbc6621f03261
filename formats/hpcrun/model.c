/*
 * An opened measurement: builds its parts, each once, on first need, and serves them through the
 * format interface.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/pipeline.h"
#include "formats/common/text.h"
#include "profmount/limits.h"

/* ==== parts ==== */

/* Documents that are read while a view reads one thread per core. */
enum { READ_BESIDE = 2 };

static int build_thread_list(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	return hpcrun_thread_list_read(&o->thread_list, &o->folder, err);
}

/*
 * Each builds its part, and the parts it depends on, if necessary: 0, -EIO or -ENOMEM. Thread-safe.
 * The part is const from then on.
 */
static int get_thread_list(void *opened, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	return pm_lazy_get(&o->thread_list_lazy, build_thread_list, o, err);
}

/* The same for hpcrun_file_list. */
static int thread_list_of(void *self, const struct hpcrun_thread_list **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	*ret = &o->thread_list;
	return get_thread_list(o, err);
}

static int build_merged(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = get_thread_list(o, err);
	if (r < 0)
		return r;
	r = hpcrun_merge(&o->merged, &o->folder, &o->thread_list, &o->damage_list, err);
	o->parts.tree.it = o->merged.tree;
	if (r == 0)
		return 0;
	pm_damage_done(&o->damage_list); /* it may be tried again */
	o->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	return r;
}

static int get_merged(void *opened, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	return pm_lazy_get(&o->merged_lazy, build_merged, o, err);
}

static int build_times(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = get_thread_list(o, err);
	if (r < 0)
		return r;
	r = hpcrun_times_read(&o->times, &o->folder, &o->thread_list);
	o->span = (struct pm_span){o->times.origin_ns, o->times.origin_ns};
	if (o->times.origin_ns != PM_NO_TIME)
		o->span.duration_ns = o->times.end_ns - o->times.origin_ns;
	if (r == 0)
		return 0;
	hpcrun_times_done(&o->times);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the traces");
}

static int get_times(void *opened, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	return pm_lazy_get(&o->times_lazy, build_times, o, err);
}

/* Requires `merged`. */
static struct hpcrun_run run_of(struct hpcrun_opened *o)
{
	return (struct hpcrun_run){.merged = &o->merged, .folder = &o->folder};
}

struct pm_cache *hpcrun_decoded_new(uint64_t limit)
{
	struct pm_cache *cache = pm_cache_new(limit);
	if (cache)
		pm_cache_spare(cache, pm_crew_width() + READ_BESIDE, PM_LIMIT_DECODED_READ);
	return cache;
}

/* What is decoded again when it is asked for, and kept in o->decoded. */
enum decoded {
	THREAD_VALUES,  /* of a thread: struct hpcrun_values_of_thread */
	THREAD_COSTS,   /* struct hpcrun_costs_of_thread */
	THREAD_LINKS,   /* struct hpcrun_links_of_thread */
	CONTEXT_VALUES, /* of a block of contexts: struct hpcrun_by_context */
	CONTEXT_COSTS,
};

struct request {
	struct hpcrun_opened *opened;
	enum decoded what;
	uint32_t of;
};

static int decode(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct request *q = context;
	struct hpcrun_run run = run_of(q->opened);
	struct hpcrun_values_of_thread *values = NULL;
	struct hpcrun_costs_of_thread *costs = NULL;
	struct hpcrun_links_of_thread *links = NULL;
	struct hpcrun_by_context *by_context = NULL;
	int r = -EINVAL;
	__atomic_add_fetch(&q->opened->n_decoded, 1, __ATOMIC_RELAXED);
	switch (q->what) {
	case THREAD_VALUES: r = hpcrun_values_of_thread(&run, q->of, &values); break;
	case THREAD_COSTS: r = hpcrun_costs_of_thread(&run, q->of, &costs); break;
	case THREAD_LINKS: r = hpcrun_links_of_thread(&run, q->of, &links); break;
	case CONTEXT_VALUES:
		r = hpcrun_by_context_read(&run, q->of, HPCRUN_BY_CONTEXT_VALUES, &by_context);
		break;
	case CONTEXT_COSTS:
		r = hpcrun_by_context_read(&run, q->of, HPCRUN_BY_CONTEXT_COSTS, &by_context);
		break;
	}
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the costs");
	*ret = values   ? &values->cached
		: costs ? &costs->cached
		: links ? &links->cached
			: &by_context->cached;
	return 0;
}

/* Release with pm_cache_release(o->decoded, …). 0, -EIO or -ENOMEM. */
static int get_decoded(struct hpcrun_opened *o, enum decoded what, uint32_t of,
	struct pm_cached **ret, struct pm_error *err)
{
	struct request q = {.opened = o, .what = what, .of = of};
	int r = get_merged(o, err);
	if (r < 0)
		return r;
	r = pm_cache_get(o->decoded, (uint64_t)what << 32 | of, decode, &q, ret, NULL);
	/* Whatever the error was, including cancellation, the part is tried again. */
	return r < 0 ? pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the costs")
		     : 0;
}

/* ---- facts and damage ---- */

static int build_facts(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = hpcrun_facts_read(&o->facts, &o->folder);
	o->parts.facts.it = o->facts.items;
	o->parts.facts.n = o->facts.n;
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

static int get_facts(void *opened, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	return pm_lazy_get(&o->facts_lazy, build_facts, o, err);
}

/* A thread's trace, without its links; requires `merged` and `times`. */
static struct hpcrun_trace_place trace_place_of(struct hpcrun_opened *o, uint32_t thread)
{
	return (struct hpcrun_trace_place){.folder = &o->folder,
		.thread = &o->thread_list.items[thread],
		.time = &o->times.items[thread],
		.merged = &o->merged,
		.index = thread};
}

/* Collects what is lost of a thread's trace in a list of its own. */
static int make_losses(void *context, uint32_t i, void *result)
{
	struct hpcrun_opened *o = context;
	struct pm_damage_list *list = result;
	const char *name = o->folder.sources[i].trace.name;
	struct hpcrun_run run = run_of(o);
	struct hpcrun_trace_place place = trace_place_of(o, i);
	struct hpcrun_report report = {.list = list, .file = name};
	struct hpcrun_links_of_thread *links;
	*list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	int r = name ? hpcrun_links_of_thread(&run, i, &links) : 0;
	if (r < 0 || !name)
		return r;
	place.links = links;
	r = hpcrun_trace_report(&place, &report);
	links->cached.free(&links->cached);
	return r;
}

static int take_losses(void *context, uint32_t i, void *result)
{
	struct hpcrun_opened *o = context;
	(void)i;
	pm_damage_add_all(&o->found, result);
	return 0;
}

static void drop_losses(void *result)
{
	pm_damage_done(result);
}

static int build_damage(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = get_merged(o, err);
	if (r == 0)
		r = get_times(o, err);
	if (r < 0)
		return r;
	o->found = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	pm_damage_add_all(&o->found, &o->damage_list);
	struct pm_pipeline pipeline = {.n = o->thread_list.threads.n,
		.size = sizeof(struct pm_damage_list),
		.make = make_losses,
		.take = take_losses,
		.drop = drop_losses,
		.context = o};
	r = pm_pipeline_run(&pipeline);
	pm_damage_add_all(&o->found, &o->thread_list.damage);
	if (r == 0 && o->found.no_memory)
		r = -ENOMEM;
	if (r == 0) {
		o->damages = pm_damage_rows(&o->found);
		return 0;
	}
	pm_damage_done(&o->found); /* it may be tried again */
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory");
}

static int get_damage(void *opened, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	return pm_lazy_get(&o->damage_lazy, build_damage, o, err);
}

/* ---- opening and closing ---- */

int hpcrun_opened_new(struct hpcrun_folder *folder, const char *path, struct hpcrun_opened **ret,
	struct pm_error *err)
{
	struct hpcrun_opened *o = malloc(sizeof(*o));
	if (!o) {
		hpcrun_folder_close(folder);
		return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
	}
	*o = (struct hpcrun_opened){.folder = *folder,
		.damage_list = PM_DAMAGE_LIST_INIT,
		.decoded = hpcrun_decoded_new(PM_LIMIT_DECODED)};
	int r = -ENOMEM;
	if (o->decoded)
		r = hpcrun_layout_find(&o->folder, o->layout, sizeof(o->layout));
	if (r <= 0) {
		pm_cache_free(o->decoded);
		hpcrun_folder_close(&o->folder);
		free(o);
		if (r < 0)
			return pm_error_plain(err, r);
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
			"contains no readable hpcrun profile or trace");
	}
	o->files = (struct hpcrun_file_list){
		.folder = &o->folder, .thread_list = thread_list_of, .context = o};
	o->document = hpcrun_raw_files(&o->files);
	*ret = o;
	return 0;
}

void hpcrun_opened_free(struct hpcrun_opened *o)
{
	pm_cache_free(o->decoded);
	hpcrun_merged_done(&o->merged);
	hpcrun_times_done(&o->times);
	hpcrun_thread_list_done(&o->thread_list);
	pm_arena_done(&o->facts.arena);
	pm_damage_done(&o->damage_list);
	pm_damage_done(&o->found);
	hpcrun_folder_close(&o->folder);
	free(o);
}

static bool has_traces(const struct hpcrun_folder *folder)
{
	for (uint32_t i = 0; i < folder->n; i++)
		if (folder->sources[i].trace.name)
			return true;
	return false;
}

/* Files that belong together are one thread, readable or not. */
static int model_has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	switch (feature) {
	case PM_HAS_SEVERAL_THREADS: return o->folder.n > 1;
	case PM_HAS_GPU_METRICS:
	case PM_HAS_TIMES: {
		int r = get_thread_list(o, err);
		return r < 0 ? r
			: feature == PM_HAS_TIMES
			? o->thread_list.may_have_times && o->thread_list.n_runs <= 1
			: o->thread_list.may_have_gpu;
	}
	case PM_HAS_TRACES: return has_traces(&o->folder);
	case PM_HAS_RANKS: return 1;
	case PM_HAS_SOURCES:
	case PM_HAS_CALL_TIMES: break;
	}
	return 0;
}

static int model_thread_counts(const struct pm_profile *p, uint32_t thread,
	struct pm_thread_counts *ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	struct pm_cached *c;
	int r = get_merged(o, err);
	if (r == 0)
		*ret = o->merged.counts[thread];
	if (r < 0 || !o->merged.shares)
		return r;
	r = get_decoded(o, THREAD_VALUES, thread, &c, err);
	if (r < 0)
		return r;
	r = hpcrun_values_count((const struct hpcrun_values_of_thread *)c, &o->merged, ret);
	pm_cache_release(o->decoded, c);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- costs and values ---- */

static int64_t model_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_merged(o, err);
	return r < 0 ? r : hpcrun_merged_costs(&o->merged, context, ret, room);
}

static int64_t fill_costs(const struct hpcrun_merged *m, const struct pm_cached *c, uint32_t thread,
	uint64_t first, struct pm_value *ret, size_t room)
{
	const struct hpcrun_cells *cells = &((const struct hpcrun_costs_of_thread *)c)->cells;
	size_t filled = 0;
	for (uint64_t i = first; i < cells->n && filled < room; i++)
		ret[filled++] = (struct pm_value){
			.context = pm_tree_number(m->tree, cells->items[i].context),
			.metric = cells->items[i].metric,
			.thread = thread,
			.f = cells->items[i].cost};
	return (int64_t)filled;
}

static int64_t fill_values(const struct hpcrun_merged *m, const struct pm_cached *c,
	uint32_t thread, uint64_t first, struct pm_value *ret, size_t room)
{
	const struct hpcrun_values_of_thread *values = (const struct hpcrun_values_of_thread *)c;
	size_t filled = 0;
	for (uint64_t i = first; i < values->n && filled < room; i++)
		ret[filled++] = hpcrun_stored_value(m, &values->items[i], thread);
	return (int64_t)filled;
}

static int64_t fill_by_context(const struct hpcrun_merged *m, const struct pm_cached *c,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	return hpcrun_by_context_fill(
		(const struct hpcrun_by_context *)c, m, context, first, ret, room);
}

static int64_t model_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	static const struct {
		enum decoded part;
		int64_t (*fill)(const struct hpcrun_merged *m, const struct pm_cached *c,
			uint32_t index, uint64_t first, struct pm_value *ret, size_t room);
	} kinds[][2] = {
		[PM_OF_THREAD] = {{THREAD_COSTS, fill_costs}, {THREAD_VALUES, fill_values}},
		[PM_OF_CONTEXT] = {{CONTEXT_COSTS, fill_by_context},
			{CONTEXT_VALUES, fill_by_context}},
	};
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	struct pm_cached *c;
	int r = get_merged(o, err);
	if (r < 0)
		return r;
	uint32_t item = of.what == PM_OF_THREAD ? of.index : hpcrun_block_of(&o->merged, of.index);
	r = get_decoded(o, kinds[of.what][of.stored].part, item, &c, err);
	if (r < 0)
		return r;
	int64_t n = kinds[of.what][of.stored].fill(&o->merged, c, of.index, first, ret, room);
	pm_cache_release(o->decoded, c);
	return n;
}

/* ---- traces ---- */

static int64_t model_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_times(o, err);
	if (r == 0)
		r = get_merged(o, err);
	if (r < 0)
		return r;
	struct hpcrun_trace_place place = trace_place_of(o, thread);
	struct pm_cached *c;
	r = get_decoded(o, THREAD_LINKS, thread, &c, err);
	if (r < 0)
		return r;
	place.links = (const struct hpcrun_links_of_thread *)c;
	int64_t n = hpcrun_samples(&place, first, ret, room, err);
	pm_cache_release(o->decoded, c);
	return n;
}

static int model_trace_ends(const struct pm_profile *p, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_times(o, err);
	*ret_first_ns = *ret_last_ns = PM_NO_TIME;
	if (r < 0 || o->times.items[thread].first == PM_NO_TIME)
		return r;
	*ret_first_ns = o->times.items[thread].first;
	*ret_last_ns = o->times.items[thread].last;
	return 0;
}

static int model_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_thread_list(o, err);
	return r < 0 ? r : hpcrun_raw_document(&o->folder, &o->thread_list, thread, k, ret);
}

static int model_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_thread_list(o, err);
	if (r < 0)
		return r;
	const struct pm_threads *threads = &o->thread_list.threads;
	uint32_t thread = 0;
	while (thread < threads->n && !o->folder.sources[thread].profile.name)
		thread++;
	if (thread == threads->n) /* traces alone contain no facts about the run */
		return 0;
	pm_text_str(out,
		"  What does a thread's measurement file record about the run?\n$ cat threads");
	for (uint32_t i = 0; i < threads->threads[thread].n_identity; i++) {
		const struct pm_identity *level = &threads->threads[thread].identity[i];
		pm_text_printf(out, "/%s=%llu", threads->keys[level->key],
			(unsigned long long)level->value);
	}
	pm_text_str(out, "/raw/header.csv\n");
	return 0;
}

static bool model_changed(const struct pm_profile *p)
{
	return hpcrun_folder_changed(&hpcrun_opened_of(p)->folder);
}

/* ---- the whole ---- */

static int model_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_thread_list(o, err);
	if (r == 0 && o->thread_list.n_runs > 1)
		pm_text_printf(out,
			"%u runs are in this directory, and sums and times are over all of them: "
			"threads/run=N keeps them apart, damage.csv says which file is of which.\n",
			o->thread_list.n_runs);
	return r < 0 ? r : pm_text_status(out);
}

static const struct pm_profile_ops ops = {
	.has = model_has,
	.thread_counts = model_thread_counts,
	.run_costs = model_run_costs,
	.values = model_values,
	.samples = model_samples,
	.trace_ends = model_trace_ends,
	.thread_document = model_thread_document,
	.remarks = model_remarks,
	.recipes = model_recipes,
	.changed = model_changed,
};

void hpcrun_model_init(struct hpcrun_opened *o, struct pm_profile *ret)
{
	o->parts = (struct pm_parts){
		.tree.build = get_merged,
		.metrics = {.build = get_merged, .it = &o->merged.metrics},
		.threads = {.build = get_thread_list, .it = &o->thread_list.threads},
		.span = {.build = get_times, .it = &o->span},
		.missing = {.build = get_merged, .it = &o->merged.missing},
		.damage = {.build = get_damage, .it = &o->damages},
		.documents = {.it = &o->document, .n = 1},
		.facts.build = get_facts,
	};
	ret->ops = &ops;
	ret->parts = &o->parts;
	ret->self = o;
	ret->layout = o->layout;
	ret->title = hpcrun_program_find(&o->folder);
	ret->kind_of_tree = "samples";
	ret->times_since_epoch = true;
	ret->has_modules = true;
	ret->costs_by_thread = true;
	ret->stores_values = true;
	struct sym_place place = hpcrun_symbols_place(&o->folder);
	ret->has_lines = !o->folder.no_symbols && sym_have_lines(&place);
	for (uint32_t i = 0; i < o->folder.n; i++) {
		const struct hpcrun_source *s = &o->folder.sources[i];
		ret->input_bytes += s->profile.size + s->trace.size;
		if (s->profile.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->profile.mtime_ns;
		if (s->trace.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->trace.mtime_ns;
	}
}
