/* The format interface of a measurement; parts.h builds what it needs. */
#include "formats/hpcrun/model.h"

#include "formats/common/text.h"

/* ---- tree, metrics, threads ---- */

static int model_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_merged(o, err);
	*ret = o->merged.tree;
	return r;
}

static int model_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	*ret = &o->merged.metrics;
	return hpcrun_get_merged(o, err);
}

static int model_missing(
	const struct pm_profile *p, const struct pm_missings **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	*ret = &o->merged.missing;
	return hpcrun_get_merged(o, err);
}

static int model_threads(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	*ret = &o->who.threads;
	return hpcrun_get_who(o, err);
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
		int r = hpcrun_get_who(o, err);
		return r < 0                      ? r
			: feature == PM_HAS_TIMES ? o->who.may_have_times
						  : o->who.may_have_gpu;
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
	int r = hpcrun_get_merged(o, err);
	if (r == 0)
		*ret = o->merged.counts[thread];
	if (r < 0 || !o->merged.shares)
		return r;
	r = hpcrun_get_decoded(o, HPCRUN_THREAD_VALUES, thread, &c, err);
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
	int r = hpcrun_get_merged(o, err);
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
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	struct pm_cached *c;
	int r = hpcrun_get_merged(o, err);
	if (r < 0)
		return r;
	uint32_t item = of.what == PM_OF_THREAD ? of.index : hpcrun_block_of(&o->merged, of.index);
	r = hpcrun_get_decoded(o, kinds[of.what][of.stored].part, item, &c, err);
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
	int r = hpcrun_get_times(o, err);
	if (r == 0)
		r = hpcrun_get_merged(o, err);
	if (r < 0)
		return r;
	struct hpcrun_trace_place place = hpcrun_trace_place_of(o, thread);
	struct pm_cached *c;
	r = hpcrun_get_decoded(o, HPCRUN_THREAD_LINKS, thread, &c, err);
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
	int r = hpcrun_get_times(o, err);
	*ret_first_ns = *ret_last_ns = PM_NO_TIME;
	if (r < 0 || o->times.items[thread].first == PM_NO_TIME)
		return r;
	*ret_first_ns = o->times.items[thread].first;
	*ret_last_ns = o->times.items[thread].last;
	return 0;
}

static int model_span(const struct pm_profile *p, uint64_t *ret_origin_ns,
	uint64_t *ret_duration_ns, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_times(o, err);
	if (r < 0)
		return r;
	*ret_origin_ns = *ret_duration_ns = o->times.origin_ns;
	if (o->times.origin_ns != PM_NO_TIME)
		*ret_duration_ns = o->times.end_ns - o->times.origin_ns;
	return 0;
}

/* ---- documents, facts, damage ---- */

static int model_documents(const struct pm_profile *p, const struct pm_named_doc **ret,
	size_t *ret_n, struct pm_error *err)
{
	(void)err;
	*ret = &hpcrun_opened_of(p)->document;
	*ret_n = 1;
	return 0;
}

static int model_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_who(o, err);
	return r < 0 ? r : hpcrun_raw_document(&o->folder, &o->who, thread, k, ret);
}

static int model_facts(
	const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_facts(o, err);
	*ret = o->facts.items;
	*ret_n = o->facts.n;
	return r;
}

static int model_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_who(o, err);
	if (r < 0)
		return r;
	const struct pm_threads *threads = &o->who.threads;
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

static int model_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	*ret = &o->damages;
	return hpcrun_get_damage(o, err);
}

static bool model_changed(const struct pm_profile *p)
{
	return hpcrun_folder_changed(&hpcrun_opened_of(p)->folder);
}

/* ---- the whole ---- */

static int model_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	struct hpcrun_opened *o = hpcrun_opened_of(p);
	int r = hpcrun_get_who(o, err);
	if (r == 0 && o->who.n_runs > 1)
		pm_text_printf(out,
			"%u runs are in this directory, and sums and times are over all of them: "
			"threads/run=N keeps them apart, damage.csv says which file is of which.\n",
			o->who.n_runs);
	return r < 0 ? r : pm_text_status(out);
}

static const struct pm_profile_ops ops = {
	.tree = model_tree,
	.metrics = model_metrics,
	.threads = model_threads,
	.has = model_has,
	.thread_counts = model_thread_counts,
	.run_costs = model_run_costs,
	.values = model_values,
	.samples = model_samples,
	.trace_ends = model_trace_ends,
	.span = model_span,
	.documents = model_documents,
	.thread_document = model_thread_document,
	.missing = model_missing,
	.facts = model_facts,
	.remarks = model_remarks,
	.recipes = model_recipes,
	.damage = model_damage,
	.changed = model_changed,
};

void hpcrun_model_init(struct hpcrun_opened *o, struct pm_profile *ret)
{
	ret->ops = &ops;
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
