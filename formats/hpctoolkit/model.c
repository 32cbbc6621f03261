/* The format interface of a database, from the results of the readers. Reads no bytes. */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/quantity.h"
#include "formats/common/text.h"

static int tree(void *opened, struct pm_error *err)
{
	const struct hpctk_tree *t;
	return hpctk_tree_get(opened, &t, err);
}

static int metrics(void *opened, struct pm_error *err)
{
	const struct hpctk_columns *c;
	return hpctk_columns_get(opened, &c, err);
}

static int threads(void *opened, struct pm_error *err)
{
	const struct hpctk_threads *t;
	return hpctk_threads_get(opened, &t, err);
}

/* As stored; unknown if the values of a thread are outside the file. */
static int thread_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	const struct hpctk_threads *t;
	struct hpctk_block block;
	int r = hpctk_threads_get(hpctk_opened_of(p), &t, err);
	if (r < 0)
		return r;
	*ret = (struct pm_thread_counts){.contexts = PM_NO_TIME, .values = PM_NO_TIME};
	if (hpctk_profile_block(hpctk_opened_of(p), t->list.threads[thread].id, &block, NULL) == 0)
		*ret = (struct pm_thread_counts){
			.contexts = block.n_index, .values = block.n_values};
	return 0;
}

/* The names of hpcrun's GPU metrics begin with a G: GKER, GXCOPY … */
static bool is_gpu(struct pm_bytes name)
{
	return name.len > 0 && name.p[0] == 'G';
}

static bool is_time(struct pm_bytes name)
{
	return pm_quantity_of(name, hpctk_unit_of(name)) == PM_QUANTITY_TIME;
}

static int has_metric(
	struct hpctk_opened *db, bool (*is)(struct pm_bytes name), struct pm_error *err)
{
	const struct hpctk_metrics *m;
	int r = hpctk_metrics_get(db, &m, err);
	for (size_t i = 0; r == 0 && i < m->n_quantities; i++)
		if (is(m->quantities[i].name))
			return 1;
	return r;
}

static int has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	switch (feature) {
	case PM_HAS_SEVERAL_THREADS: return hpctk_threads_several(db);
	case PM_HAS_SOURCES: return hpctk_sources_any(db, err);
	case PM_HAS_GPU_METRICS: return has_metric(db, is_gpu, err);
	case PM_HAS_TRACES: return db->folder.present[HPCTK_TRACE];
	case PM_HAS_TIMES: return has_metric(db, is_time, err);
	case PM_HAS_RANKS: return 1;
	case PM_HAS_CALL_TIMES: break;
	}
	return 0;
}

static int recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	(void)p;
	(void)err;
	pm_text_str(out,
		"  Which scopes and statistics does the database store, and under which ids?\n"
		"$ head -n 5 raw/metrics.csv\n"
		"  Which profiles have the most values?\n"
		"$ tail -n +2 raw/profiles.csv | sort -t, -k3,3nr | head -n 5\n");
	return 0;
}

static bool changed(const struct pm_profile *p)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		if (db->folder.present[i] && pm_input_changed(&db->folder.files[i]))
			return true;
	return db->folder.has_formulas && pm_input_changed(&db->folder.formulas);
}

static const struct pm_profile_ops ops = {
	.has = has,
	.thread_counts = thread_counts,
	.run_costs = hpctk_run_costs,
	.values = hpctk_values,
	.samples = hpctk_samples,
	.recipes = recipes,
	.changed = changed,
};

/* Names were looked for when the database was made. */
static const struct pm_missings missing = {
	.why = "the database has none: hpcprof found neither symbols nor a structure file",
	.advice = "run hpcstruct on the measurement, then hpcprof again"};

void hpctk_model_init(struct hpctk_opened *db, struct pm_profile *ret)
{
	const uint64_t year_2000 = 946684800000000000, year_2100 = 4102444800000000000;
	const uint8_t *head = hpctk_bytes(db, HPCTK_META).p;
	struct pm_bytes description;
	ret->ops = &ops;
	ret->parts = &db->parts;
	db->parts = (struct pm_parts){
		.tree.build = tree,
		.metrics.build = metrics,
		.threads.build = threads,
		.span = {.build = hpctk_span, .it = &db->span},
		.missing.it = &missing,
		.damage.build = hpctk_damage,
		.documents.build = hpctk_documents,
		.sources.build = hpctk_sources,
		.facts = {.it = db->facts, .n = HPCTK_N_FACTS},
	};
	ret->layout = hpctk_layout_name(&db->layout);
	hpctk_general_get(db, &ret->title, &description);
	snprintf(db->version, sizeof(db->version), "%u.%u", head[0x0e], head[0x0f]);
	db->facts[0] = (struct pm_fact){"version", pm_cell_str(db->version)};
	db->facts[1] =
		(struct pm_fact){"byte_order", pm_cell_str(db->layout.big ? "big" : "little")};
	db->facts[2] = (struct pm_fact){"description", pm_cell_text(description)};
	/* The lower bound in trace.db, if it is in this century. */
	if (db->first_ns >= year_2000 && db->first_ns < year_2100)
		ret->measured_ns = db->first_ns;
	ret->mtime_ns = ret->measured_ns ? ret->measured_ns : db->folder.files[HPCTK_META].mtime_ns;
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		ret->input_bytes += hpctk_bytes(db, i).len;
	ret->kind_of_tree = "samples";
	ret->times_since_epoch = true;
	ret->has_lines = true;
	ret->has_files = true;
	ret->has_modules = true;
	ret->self = db;
	db->profile = ret;
}

void hpctk_model_done(struct pm_profile *p)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	hpctk_opened_done(db);
	free(db);
}
