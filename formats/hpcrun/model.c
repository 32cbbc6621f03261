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

static void build_thread_list(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	(void)err;
	hpcrun_thread_list_read(part, a, &o->folder);
	o->thread_list = part;
	o->parts.threads.it = &o->thread_list->threads;
}

/*
 * Each builds its part, and the parts it depends on, if necessary: 0 or -ENOMEM. Thread-safe. The
 * part is const from then on.
 */
static int get_thread_list(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpcrun_thread_list),
		.build = build_thread_list,
		.what = "the threads"};
	struct hpcrun_opened *o = opened;
	return pm_part_build(&o->thread_list_part, &type, o, err);
}

/* The same for hpcrun_file_list. */
static int thread_list_of(void *self, const struct hpcrun_thread_list **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = get_thread_list(o, err);
	*ret = r < 0 ? NULL : o->thread_list;
	return r;
}

static void build_merged(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	pm_build_check(a, get_thread_list(o, err));
	hpcrun_merge(part, a, &o->folder, o->thread_list->threads.n, err);
	o->merged = part;
	o->parts.tree.it = o->merged->tree;
	o->parts.metrics.it = &o->merged->metrics;
	o->parts.missing.it = &o->merged->missing;
}

static int get_merged(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct hpcrun_merged), .build = build_merged, .what = "the tree"};
	struct hpcrun_opened *o = opened;
	return pm_part_build(&o->merged_part, &type, o, err);
}

static void build_times(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	pm_build_check(a, get_thread_list(o, err));
	hpcrun_times_read(part, a, &o->folder, o->thread_list);
	o->times = part;
	o->span = (struct pm_span){o->times->origin_ns, o->times->origin_ns};
	if (o->times->origin_ns != PM_NO_TIME)
		o->span.duration_ns = o->times->end_ns - o->times->origin_ns;
}

static int get_times(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct hpcrun_times), .build = build_times, .what = "the traces"};
	struct hpcrun_opened *o = opened;
	return pm_part_build(&o->times_part, &type, o, err);
}

/* Requires `merged`. */
static struct hpcrun_run run_of(struct hpcrun_opened *o)
{
	return (struct hpcrun_run){.merged = o->merged, .folder = &o->folder};
}

struct pm_cache *hpcrun_decoded_new(uint64_t limit)
{
	struct pm_cache *cache = pm_cache_new(limit);
	if (cache)
		pm_cache_spare(cache, pm_crew_width() + READ_BESIDE, PM_LIMIT_DECODED_READ);
	return cache;
}

struct request {
	struct hpcrun_opened *opened;
	enum hpcrun_decoded_what what;
	uint32_t of;
};

static int decode(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct request *q = context;
	struct hpcrun_run run = run_of(q->opened);
	struct hpcrun_decoded *decoded = NULL;
	__atomic_add_fetch(&q->opened->n_decoded, 1, __ATOMIC_RELAXED);
	int r = hpcrun_decode(&run, q->what, q->of, &decoded);
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the costs");
	*ret = &decoded->cached;
	return 0;
}

/* Release it with `release`. 0 or -ENOMEM. */
static int get_decoded(struct hpcrun_opened *o, enum hpcrun_decoded_what what, uint32_t of,
	const struct hpcrun_decoded **ret, struct pm_error *err)
{
	struct pm_cached *cached;
	struct request q = {.opened = o, .what = what, .of = of};
	int r = get_merged(o, err);
	if (r < 0)
		return r;
	r = pm_cache_get(o->decoded, (uint64_t)what << 32 | of, decode, &q, &cached, NULL);
	/* Whatever the error was, including cancellation, the part is tried again. */
	if (r < 0)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the costs");
	*ret = (const struct hpcrun_decoded *)cached;
	return 0;
}

static void release(struct hpcrun_opened *o, const struct hpcrun_decoded *d)
{
	pm_cache_release(o->decoded, &((struct hpcrun_decoded *)(uintptr_t)d)->cached);
}

/* ---- facts and damage ---- */

static void build_facts(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	struct hpcrun_facts *facts = part;
	(void)err;
	hpcrun_facts_read(facts, a, &o->folder);
	o->parts.facts.it = facts->items;
	o->parts.facts.n = facts->n;
}

static int get_facts(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct hpcrun_facts), .build = build_facts, .what = "the facts"};
	struct hpcrun_opened *o = opened;
	return pm_part_build(&o->facts_part, &type, o, err);
}

/* A thread's trace, without its links; requires `merged` and `times`. */
static struct hpcrun_trace_place trace_place_of(struct hpcrun_opened *o, uint32_t thread)
{
	return (struct hpcrun_trace_place){.folder = &o->folder,
		.thread = &o->thread_list->items[thread],
		.time = &o->times->items[thread],
		.merged = o->merged,
		.index = thread};
}

/* What is lost, in all. */
struct losses {
	struct hpcrun_opened *opened;
	struct pm_damage_list list;
	struct pm_damages rows;
};

/* Collects what is lost of a thread's trace in a list of its own. */
static void make_losses(struct pm_arena *a, void *context, uint32_t i, void *result)
{
	struct hpcrun_opened *o = ((struct losses *)context)->opened;
	const char *name = o->folder.sources[i].trace.name;
	struct hpcrun_run run = run_of(o);
	struct hpcrun_trace_place place = trace_place_of(o, i);
	struct hpcrun_report report = {.list = result, .file = name};
	*report.list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	if (!name)
		return;
	place.links = hpcrun_links_of_thread(a, &run, i);
	hpcrun_trace_report(a, &place, &report);
}

static int take_losses(void *context, uint32_t i, void *result)
{
	struct losses *l = context;
	(void)i;
	pm_damage_add_all(&l->list, result);
	return 0;
}

static void drop_losses(void *list)
{
	pm_damage_done(list);
}

static void build_damage(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpcrun_opened *o = opened;
	struct losses *l = part;
	pm_build_check(a, get_merged(o, err));
	pm_build_check(a, get_times(o, err));
	l->opened = o;
	pm_damage_list_in(&l->list, a);
	pm_damage_add_all(&l->list, &o->merged->damage);
	struct pm_pipeline pipeline = {.n = o->thread_list->threads.n,
		.size = sizeof(struct pm_damage_list),
		.build = make_losses,
		.take = take_losses,
		.drop = drop_losses,
		.context = l};
	pm_build_check(a, pm_pipeline_run(&pipeline));
	pm_damage_add_all(&l->list, &o->thread_list->damage);
	pm_build_check(a, l->list.no_memory ? -ENOMEM : 0);
	l->rows = pm_damage_rows(&l->list);
	o->parts.damage.it = &l->rows;
}

static int get_damage(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct losses), .build = build_damage, .what = "the damage"};
	struct hpcrun_opened *o = opened;
	return pm_part_build(&o->damage_part, &type, o, err);
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
	*o = (struct hpcrun_opened){
		.folder = *folder, .decoded = hpcrun_decoded_new(PM_LIMIT_DECODED)};
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
	pm_part_done(&o->damage_part);
	pm_part_done(&o->facts_part);
	pm_part_done(&o->times_part);
	pm_part_done(&o->merged_part);
	pm_part_done(&o->thread_list_part);
	hpcrun_folder_close(&o->folder);
	free(o);
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
			? o->thread_list->may_have_times && o->thread_list->n_runs <= 1
			: o->thread_list->may_have_gpu;
	}
	case PM_HAS_TRACES:
		for (uint32_t i = 0; i < o->folder.n; i++)
			if (o->folder.sources[i].trace.name)
				return 1;
		return 0;
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
	const struct hpcrun_decoded *d = NULL;
	int r = get_merged(o, err);
	if (r == 0)
		*ret = o->merged->counts[thread];
	if (r < 0 || !o->merged->shares)
		return r;
	r = get_decoded(o, HPCRUN_THREAD_VALUES, thread, &d, err);
	if (r < 0)
		return r;
	r = hpcrun_values_count(d->it, o->merged, ret);
	release(o, d);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- costs and values ---- */

static int64_t model_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_merged(o, err);
	return r < 0 ? r : hpcrun_merged_costs(o->merged, context, ret, room);
}

static int64_t fill_costs(const struct hpcrun_merged *m, const void *decoded, uint32_t thread,
	uint64_t first, struct pm_value *ret, size_t room)
{
	const struct hpcrun_cells *cells = decoded;
	size_t filled = 0;
	for (uint64_t i = first; i < cells->n && filled < room; i++)
		ret[filled++] = (struct pm_value){
			.context = pm_tree_number(m->tree, cells->items[i].context),
			.metric = cells->items[i].metric,
			.thread = thread,
			.f = cells->items[i].cost};
	return (int64_t)filled;
}

static int64_t fill_values(const struct hpcrun_merged *m, const void *decoded, uint32_t thread,
	uint64_t first, struct pm_value *ret, size_t room)
{
	const struct hpcrun_values_of_thread *values = decoded;
	size_t filled = 0;
	for (uint64_t i = first; i < values->n && filled < room; i++)
		ret[filled++] = hpcrun_stored_value(m, &values->items[i], thread);
	return (int64_t)filled;
}

static int64_t model_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	static const struct {
		enum hpcrun_decoded_what what;
		int64_t (*fill)(const struct hpcrun_merged *m, const void *decoded, uint32_t index,
			uint64_t first, struct pm_value *ret, size_t room);
	} kinds[][2] = {
		[PM_OF_THREAD] = {{HPCRUN_THREAD_COSTS, fill_costs},
			{HPCRUN_THREAD_VALUES, fill_values}},
		[PM_OF_CONTEXT] = {{HPCRUN_CONTEXT_COSTS, hpcrun_by_context_fill},
			{HPCRUN_CONTEXT_VALUES, hpcrun_by_context_fill}},
	};
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	const struct hpcrun_decoded *d = NULL;
	int r = get_merged(o, err);
	if (r < 0)
		return r;
	uint32_t item = of.what == PM_OF_THREAD ? of.index : hpcrun_block_of(o->merged, of.index);
	r = get_decoded(o, kinds[of.what][of.stored].what, item, &d, err);
	if (r < 0)
		return r;
	int64_t n = kinds[of.what][of.stored].fill(o->merged, d->it, of.index, first, ret, room);
	release(o, d);
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
	const struct hpcrun_decoded *d = NULL;
	r = get_decoded(o, HPCRUN_THREAD_LINKS, thread, &d, err);
	if (r < 0)
		return r;
	place.links = d->it;
	int64_t n = hpcrun_samples(&place, first, ret, room, err);
	release(o, d);
	return n;
}

static int model_trace_ends(const struct pm_profile *p, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_times(o, err);
	*ret_first_ns = *ret_last_ns = PM_NO_TIME;
	if (r < 0 || o->times->items[thread].first == PM_NO_TIME)
		return r;
	*ret_first_ns = o->times->items[thread].first;
	*ret_last_ns = o->times->items[thread].last;
	return 0;
}

static int model_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_thread_list(o, err);
	return r < 0 ? r : hpcrun_raw_document(&o->folder, o->thread_list, thread, k, ret);
}

static int model_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = get_thread_list(o, err);
	if (r < 0)
		return r;
	const struct pm_threads *threads = &o->thread_list->threads;
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
	if (r == 0 && o->thread_list->n_runs > 1)
		pm_text_printf(out,
			"%u runs are in this directory, and sums and times are over all of them: "
			"threads/run=N keeps them apart, damage.csv says which file is of which.\n",
			o->thread_list->n_runs);
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
		.metrics.build = get_merged,
		.threads.build = get_thread_list,
		.span = {.build = get_times, .it = &o->span},
		.missing.build = get_merged,
		.damage.build = get_damage,
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
	ret->has_files = ret->has_lines;
	for (uint32_t i = 0; i < o->folder.n; i++) {
		const struct hpcrun_source *s = &o->folder.sources[i];
		ret->input_bytes += s->profile.size + s->trace.size;
		if (s->profile.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->profile.mtime_ns;
		if (s->trace.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->trace.mtime_ns;
	}
}
