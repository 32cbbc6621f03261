/* The seam over a measurement: what it asks for, parts.h builds. */
#include "formats/hpcrun/model.h"

#include <stdlib.h>

#include "formats/common/text.h"
#include "formats/hpcrun/parts.h"
#include "formats/hpcrun/raw.h"

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

static int model_thread_counts(const struct pm_profile *p, uint32_t thread,
	struct pm_thread_counts *ret, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_merged(m, err);
	if (r == 0)
		*ret = m->merged.counts[thread];
	return r;
}

/* ---- costs and values ---- */

static int64_t model_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_costs(m, err);
	return r < 0 ? r : pm_costs_of_run(&m->costs, context, ret, room);
}

static int64_t model_thread_costs(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_costs(m, err);
	return r < 0 ? r : pm_costs_of_thread(&m->costs, thread, first, ret, room);
}

static int64_t model_context_costs(const struct pm_profile *p, uint64_t number, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_costs(m, err);
	uint32_t context = r < 0 ? PM_NONE : pm_tree_find(m->merged.tree, number);
	if (r < 0 || context == PM_NONE)
		return r;
	return pm_costs_of_context(&m->costs, context, first, ret, room);
}

static int64_t model_thread_values(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_merged(m, err);
	return r < 0 ? r : hpcrun_stored_of_thread(&m->merged, thread, first, ret, room);
}

static int64_t model_context_values(const struct pm_profile *p, uint64_t number, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpcrun_model *m = model_of(p);
	int r = hpcrun_get_by_context(m, err);
	uint32_t context = r < 0 ? PM_NONE : pm_tree_find(m->merged.tree, number);
	if (r < 0 || context == PM_NONE)
		return r;
	return hpcrun_stored_of_context(&m->by_context, context, first, ret, room);
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
	return hpcrun_samples(&place, first, ret, room, err);
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
	if (thread == threads->n) /* traces alone say nothing about the run */
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

static int build_damage(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_merged(m, err);
	if (r == 0)
		r = hpcrun_get_times(m, err);
	size_t before = m->damage_list.n;
	for (uint32_t i = 0; i < m->who.threads.n && r == 0; i++) {
		const char *name = m->folder.sources[i].trace.name;
		struct hpcrun_trace_place place = trace_place(m, i);
		struct hpcrun_report report = {.list = &m->damage_list, .file = name};
		if (name)
			r = hpcrun_trace_report(&place, &report);
	}
	if (r == 0)
		m->damages = pm_damage_rows(&m->damage_list);
	else
		m->damage_list.n = before; /* it may be tried again */
	return r;
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
	.thread_counts = model_thread_counts,
	.run_costs = model_run_costs,
	.thread_costs = model_thread_costs,
	.context_costs = model_context_costs,
	.thread_values = model_thread_values,
	.context_values = model_context_values,
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
	ret->has_modules = true;
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
		.costs_lazy = PM_LAZY_INIT,
		.times_lazy = PM_LAZY_INIT,
		.by_context_lazy = PM_LAZY_INIT,
		.damage_lazy = PM_LAZY_INIT,
		.facts_lazy = PM_LAZY_INIT,
		.damage_list = PM_DAMAGE_LIST_INIT};
	int r = hpcrun_layout_find(&m->folder, m->layout, sizeof(m->layout));
	if (r <= 0) {
		hpcrun_folder_close(&m->folder);
		free(m);
		if (r < 0)
			return pm_error_plain(err, r);
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
			"holds nothing of an hpcrun profile or trace that can be read");
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
	pm_costs_done(&m->costs);
	hpcrun_merged_done(&m->merged);
	hpcrun_times_done(&m->times);
	hpcrun_who_done(&m->who);
	pm_arena_done(&m->facts.arena);
	pm_damage_done(&m->damage_list);
	hpcrun_by_context_done(&m->by_context);
	hpcrun_folder_close(&m->folder);
	free(m);
}
