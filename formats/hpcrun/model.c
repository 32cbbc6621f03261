/* The format interface of a measurement; parts.h builds what it needs. */
#include "formats/hpcrun/model.h"

#include <stdlib.h>

#include "formats/common/pipeline.h"
#include "formats/common/text.h"
#include "formats/hpcrun/named.h"
#include "formats/hpcrun/parts.h"
#include "formats/hpcrun/raw.h"
#include "profmount/limits.h"

static struct hpcrun_model *model_of(const struct pm_profile *p)
{
	return p->self;
}

/* ---- tree, metrics, threads ---- */

static int model_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_merged(m, err);
	*ret = m->merged.tree;
	return r;
}

static int model_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	*ret = &m->merged.metrics;
	return hpcrun_get_merged(m, err);
}

static int model_threads(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	*ret = &m->who.threads;
	return hpcrun_get_who(m, err);
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
	struct hpcrun_model *m = model_of(p);
	switch (feature) {
	case PM_HAS_SEVERAL_THREADS: return m->folder.n > 1;
	case PM_HAS_GPU_METRICS: return hpcrun_get_gpu_names(m, err);
	case PM_HAS_TRACES: return has_traces(&m->folder);
	case PM_HAS_SOURCES: break;
	}
	return 0;
}

static int model_thread_counts(const struct pm_profile *p, uint32_t thread,
	struct pm_thread_counts *ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	struct pm_cached *c;
	int r = hpcrun_get_merged(m, err);
	if (r == 0)
		*ret = m->merged.counts[thread];
	if (r < 0 || !m->merged.shares)
		return r;
	r = hpcrun_get_decoded(m, HPCRUN_THREAD_VALUES, thread, &c, err);
	if (r < 0)
		return r;
	r = hpcrun_values_count((const struct hpcrun_values_of_thread *)c, &m->merged, ret);
	pm_cache_release(m->decoded, c);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- costs and values ---- */

static int64_t model_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_merged(m, err);
	return r < 0 ? r : hpcrun_merged_costs(&m->merged, context, ret, room);
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

static int64_t fill_across(const struct hpcrun_merged *m, const struct pm_cached *c,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	return hpcrun_across_fill((const struct hpcrun_across *)c, m, context, first, ret, room);
}

static int64_t model_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	static const struct {
		enum hpcrun_decoded part;
		int64_t (*fill)(const struct hpcrun_merged *m, const struct pm_cached *c,
			uint32_t index, uint64_t first, struct pm_value *ret, size_t room);
	} kinds[][2] = {
		[PM_OF_THREAD] = {{HPCRUN_THREAD_COSTS, fill_costs},
			{HPCRUN_THREAD_VALUES, fill_values}},
		[PM_OF_CONTEXT] = {{HPCRUN_CONTEXT_COSTS, fill_across},
			{HPCRUN_CONTEXT_VALUES, fill_across}},
	};
	struct hpcrun_model *m = model_of(p);
	struct pm_cached *c;
	int r = hpcrun_get_merged(m, err);
	if (r < 0)
		return r;
	uint32_t item = of.what == PM_OF_THREAD ? of.index : hpcrun_block_of(&m->merged, of.index);
	r = hpcrun_get_decoded(m, kinds[of.what][of.stored].part, item, &c, err);
	if (r < 0)
		return r;
	int64_t n = kinds[of.what][of.stored].fill(&m->merged, c, of.index, first, ret, room);
	pm_cache_release(m->decoded, c);
	return n;
}

/* ---- traces ---- */

static struct hpcrun_trace_place trace_place(struct hpcrun_model *m, uint32_t thread)
{
	return (struct hpcrun_trace_place){.folder = &m->folder,
		.thread = &m->who.items[thread],
		.time = &m->times.items[thread],
		.merged = &m->merged,
		.index = thread};
}

static int64_t model_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_times(m, err);
	if (r == 0)
		r = hpcrun_get_merged(m, err);
	if (r < 0)
		return r;
	struct hpcrun_trace_place place = trace_place(m, thread);
	struct pm_cached *c;
	r = hpcrun_get_decoded(m, HPCRUN_THREAD_LINKS, thread, &c, err);
	if (r < 0)
		return r;
	place.links = (const struct hpcrun_links_of_thread *)c;
	int64_t n = hpcrun_samples(&place, first, ret, room, err);
	pm_cache_release(m->decoded, c);
	return n;
}

static int model_span(const struct pm_profile *p, uint64_t *ret_origin_ns,
	uint64_t *ret_duration_ns, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_times(m, err);
	if (r < 0)
		return r;
	*ret_origin_ns = *ret_duration_ns = m->times.origin_ns;
	if (m->times.origin_ns != PM_NO_TIME)
		*ret_duration_ns = m->times.end_ns - m->times.origin_ns;
	return 0;
}

/* ---- documents, facts, damage ---- */

static int who_of_model(void *self, const struct hpcrun_who **ret, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	*ret = &m->who;
	return hpcrun_get_who(m, err);
}

static int model_documents(const struct pm_profile *p, const struct pm_named_doc **ret,
	size_t *ret_n, struct pm_error *err)
{
	(void)err;
	*ret = &model_of(p)->document;
	*ret_n = 1;
	return 0;
}

static int model_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_who(m, err);
	return r < 0 ? r : hpcrun_raw_document(&m->folder, &m->who, thread, k, ret);
}

static int build_facts(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_facts_read(&m->facts, &m->folder);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

static int model_facts(
	const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = pm_lazy_get(&m->facts_lazy, build_facts, m, err);
	*ret = m->facts.items;
	*ret_n = m->facts.n;
	return r;
}

static int model_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_who(m, err);
	if (r < 0)
		return r;
	const struct pm_threads *threads = &m->who.threads;
	uint32_t thread = 0;
	while (thread < threads->n && !m->folder.sources[thread].profile.name)
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

/* Collects what is lost of a thread's trace in a list of its own. */
static int make_losses(void *context, uint32_t i, void *result)
{
	struct hpcrun_model *m = context;
	struct pm_damage_list *list = result;
	const char *name = m->folder.sources[i].trace.name;
	struct hpcrun_run run = hpcrun_run_of(m);
	struct hpcrun_trace_place place = trace_place(m, i);
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
	struct hpcrun_model *m = context;
	struct pm_damages all = pm_damage_rows(result);
	(void)i;
	for (size_t k = 0; k < all.n; k++)
		pm_damage_add(&m->damage_list, all.rows[k].file, all.rows[k].offset,
			all.rows[k].bytes, "%s", all.rows[k].what);
	return 0;
}

static void drop_losses(void *result)
{
	pm_damage_done(result);
}

static int build_damage(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_merged(m, err);
	if (r == 0)
		r = hpcrun_get_times(m, err);
	if (r < 0)
		return r;
	size_t before = m->damage_list.n;
	struct pm_pipeline pipeline = {.n = m->who.threads.n,
		.size = sizeof(struct pm_damage_list),
		.make = make_losses,
		.take = take_losses,
		.drop = drop_losses,
		.context = m};
	r = pm_pipeline_run(&pipeline);
	if (r == 0)
		m->damages = pm_damage_rows(&m->damage_list);
	else
		m->damage_list.n = before; /* it may be tried again */
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

static int model_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	*ret = &m->damages;
	return pm_lazy_get(&m->damage_lazy, build_damage, m, err);
}

static bool model_changed(const struct pm_profile *p)
{
	return hpcrun_folder_changed(&model_of(p)->folder);
}

/* ---- the whole ---- */

static const struct pm_profile_ops ops = {
	.tree = model_tree,
	.metrics = model_metrics,
	.threads = model_threads,
	.has = model_has,
	.thread_counts = model_thread_counts,
	.run_costs = model_run_costs,
	.values = model_values,
	.samples = model_samples,
	.span = model_span,
	.documents = model_documents,
	.thread_document = model_thread_document,
	.facts = model_facts,
	.recipes = model_recipes,
	.damage = model_damage,
	.changed = model_changed,
};

static void describe(struct hpcrun_model *m, struct pm_profile *ret)
{
	ret->ops = &ops;
	ret->self = m;
	ret->layout = m->layout;
	ret->title = hpcrun_program_find(&m->folder);
	ret->kind_of_tree = "samples";
	ret->times_since_epoch = true;
	ret->has_modules = true;
	ret->costs_by_thread = true;
	ret->stores_values = true;
	struct hpcrun_symbols_place place = hpcrun_named_place(&m->folder);
	ret->has_lines = !m->folder.no_symbols && hpcrun_symbols_have_lines(&place);
	for (uint32_t i = 0; i < m->folder.n; i++) {
		const struct hpcrun_source *s = &m->folder.sources[i];
		ret->input_bytes += s->profile.size + s->trace.size;
		if (s->profile.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->profile.mtime_ns;
		if (s->trace.mtime_ns > ret->mtime_ns)
			ret->mtime_ns = s->trace.mtime_ns;
	}
}

int hpcrun_model_init(struct hpcrun_folder *folder, const char *path, struct pm_profile *ret,
	struct pm_error *err)
{
	struct hpcrun_model *m = malloc(sizeof(*m));
	if (!m) {
		hpcrun_folder_close(folder);
		return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
	}
	*m = (struct hpcrun_model){.folder = *folder,
		.who_lazy = PM_LAZY_INIT,
		.merged_lazy = PM_LAZY_INIT,
		.times_lazy = PM_LAZY_INIT,
		.damage_lazy = PM_LAZY_INIT,
		.facts_lazy = PM_LAZY_INIT,
		.gpu_lazy = PM_LAZY_INIT,
		.damage_list = PM_DAMAGE_LIST_INIT,
		.decoded = hpcrun_decoded_new(PM_LIMIT_DECODED)};
	int r = -ENOMEM;
	if (m->decoded)
		r = hpcrun_layout_find(&m->folder, m->layout, sizeof(m->layout));
	if (r <= 0) {
		pm_cache_free(m->decoded);
		hpcrun_folder_close(&m->folder);
		free(m);
		if (r < 0)
			return pm_error_plain(err, r);
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
			"contains no readable hpcrun profile or trace");
	}
	m->files =
		(struct hpcrun_file_list){.folder = &m->folder, .who = who_of_model, .context = m};
	m->document = hpcrun_raw_files(&m->files);
	describe(m, ret);
	return 0;
}

void hpcrun_model_done(struct pm_profile *p)
{
	struct hpcrun_model *m = model_of(p);
	pm_cache_free(m->decoded);
	hpcrun_merged_done(&m->merged);
	hpcrun_times_done(&m->times);
	hpcrun_who_done(&m->who);
	pm_arena_done(&m->facts.arena);
	pm_damage_done(&m->damage_list);
	hpcrun_folder_close(&m->folder);
	free(m);
}
