/* Native → model: the context tree of all traces with its costs, and facts about the run. */

#include "formats/zts/zts.h"

/* Largest source that is read in the background: some seconds of work. */
#define WARM_MOST ((uint64_t)1 << 30)

enum metric_id { METRIC_INCLUSIVE, METRIC_EXCLUSIVE, METRIC_CALLS, METRIC_ERRORS, N_METRICS };

static const struct pm_metric metrics[N_METRICS] = {
	[METRIC_INCLUSIVE] = {METRIC_INCLUSIVE, 0, PM_ROLE_INCLUSIVE, true, true, true,
		PM_BYTES("time"), PM_BYTES("ns"), PM_BYTES("inclusive")},
	[METRIC_EXCLUSIVE] = {METRIC_EXCLUSIVE, 0, PM_ROLE_EXCLUSIVE, true, true, true,
		PM_BYTES("time"), PM_BYTES("ns"), PM_BYTES("exclusive")},
	[METRIC_CALLS] = {METRIC_CALLS, 1, PM_ROLE_COUNT, true, true, true, PM_BYTES("calls"),
		PM_BYTES("calls"), PM_BYTES("exclusive")},
	[METRIC_ERRORS] = {METRIC_ERRORS, 2, PM_ROLE_COUNT, true, true, true, PM_BYTES("errors"),
		PM_BYTES("errors"), PM_BYTES("exclusive")},
};

static const struct pm_metrics all_metrics = {N_METRICS, metrics};

static int get_survey(void *opened, struct pm_error *err)
{
	const struct zts_survey *v;
	return zts_get_survey(opened, &v, err);
}

static int get_aggregate(void *opened, struct pm_error *err)
{
	const struct zts_aggregate *a;
	return zts_get_aggregate(opened, &a, err);
}

static int get_samples(void *opened, struct pm_error *err)
{
	struct zts_samples *s;
	return zts_get_samples(opened, &s, err);
}

/* Times of clipped calls may be negative. */
static struct pm_value time_value(uint32_t metric, zts_sum ns)
{
	struct pm_value value = {.metric = metric, .thread = PM_NONE};
	value.whole = ns >= INT64_MIN && ns <= INT64_MAX;
	value.negative = value.whole && ns < 0;
	if (value.whole)
		value.i = (int64_t)ns;
	else
		value.f = (double)ns;
	return value;
}

static struct pm_value count_value(uint32_t metric, uint64_t n)
{
	return (struct pm_value){.metric = metric, .thread = PM_NONE, .whole = true, .u = n};
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(zts_opened_of(p), &a, err);
	if (r < 0)
		return r;
	const struct zts_sums *sums = &a->sums[context];
	const struct pm_value all[N_METRICS] = {
		time_value(METRIC_INCLUSIVE, sums->inclusive_ns),
		time_value(METRIC_EXCLUSIVE, sums->exclusive_ns),
		count_value(METRIC_CALLS, sums->calls),
		count_value(METRIC_ERRORS, sums->errors),
	};
	size_t n = room < N_METRICS ? room : N_METRICS;
	for (size_t i = 0; i < n; i++) {
		ret[i] = all[i];
		ret[i].context = pm_tree_number(a->tree, context);
	}
	return (int64_t)n;
}

/* ---- info.json ---- */

static int build_facts(void *context, struct pm_error *err)
{
	struct zts_opened *z = context;
	const struct zts_survey *v;
	uint64_t chunks = 0;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < z->stores.n; i++)
		chunks += z->stores.items[i].chunks.n;
	const struct pm_fact facts[ZTS_N_FACTS] = {
		{"stores", pm_cell_u64(z->stores.n)},
		{"chunks", pm_cell_u64(chunks)},
		{"traces", pm_cell_u64(v->n)},
		{"traces_with_error", pm_cell_u64(v->n_failed)},
		{"compression", pm_cell_str(zts_codec_text(z->stores.items[0].chunks.codec))},
	};
	memcpy(z->facts, facts, sizeof(facts));
	return 0;
}

static int get_facts(void *opened, struct pm_error *err)
{
	struct zts_opened *z = opened;
	return pm_lazy_get(&z->facts_once, build_facts, z, err);
}

/* Reads everything, except if that takes long, because it may never be needed. */
static void warm(const struct pm_profile *p)
{
	const struct zts_aggregate *a;
	if (p->input_bytes <= WARM_MOST)
		zts_get_aggregate(
			zts_opened_of(p), &a, NULL); /* and the survey, in the same pass */
}

static bool has_changed(const struct pm_profile *p)
{
	return zts_stores_changed(&zts_opened_of(p)->stores);
}

static const struct pm_profile_ops ops = {
	.run_costs = run_costs,
	.samples = zts_samples_read,
	.call_path = zts_call_path,
	.window = zts_window,
	.recipes = zts_recipes,
	.warm = warm,
	.changed = has_changed,
};

void zts_model_init(struct zts_opened *z, struct pm_profile *ret)
{
	z->parts = (struct pm_parts){
		.tree.build = get_aggregate,
		.metrics.it = &all_metrics,
		.traces = {.build = get_samples, .it = &z->samples.traces},
		.span = {.build = get_survey, .it = &z->span},
		.call_times.build = get_aggregate,
		.damage = {.build = zts_damage, .it = &z->damages},
		.documents = {.it = z->documents, .n = z->n_documents},
		.collections = {.it = z->collections, .n = z->n_collections},
		.facts = {.build = get_facts, .it = z->facts, .n = ZTS_N_FACTS},
		.sections = {.it = z->sections, .n = ZTS_N_SECTIONS},
	};
	zts_list_sections(z, ZTS_OF_RUN, z->sections);
	*ret = (struct pm_profile){.ops = &ops, .parts = &z->parts, .self = z};
}
