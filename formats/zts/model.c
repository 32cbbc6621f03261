/* Native → model: the context tree of all traces with its costs, and facts about the run. */

#include "formats/zts/parts.h"

/* Largest source that is read in the background: some seconds of work. */
#define WARM_MOST ((uint64_t)1 << 30)

enum metric_id { METRIC_INCLUSIVE, METRIC_EXCLUSIVE, METRIC_CALLS, METRIC_ERRORS, N_METRICS };

#define TEXT(s)                                                                                    \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}

static const struct pm_metric metrics[N_METRICS] = {
	[METRIC_INCLUSIVE] = {METRIC_INCLUSIVE, 0, PM_ROLE_INCLUSIVE, true, true, true,
		TEXT("time"), TEXT("ns"), TEXT("inclusive")},
	[METRIC_EXCLUSIVE] = {METRIC_EXCLUSIVE, 0, PM_ROLE_EXCLUSIVE, true, true, true,
		TEXT("time"), TEXT("ns"), TEXT("exclusive")},
	[METRIC_CALLS] = {METRIC_CALLS, 1, PM_ROLE_COUNT, true, true, true, TEXT("calls"),
		TEXT("calls"), TEXT("exclusive")},
	[METRIC_ERRORS] = {METRIC_ERRORS, 2, PM_ROLE_COUNT, true, true, true, TEXT("errors"),
		TEXT("errors"), TEXT("exclusive")},
};

static int get_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	static const struct pm_metrics all = {N_METRICS, metrics};
	(void)p;
	(void)err;
	*ret = &all;
	return 0;
}

static int get_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(zts_opened_of(p), &a, err);
	*ret = r < 0 ? NULL : a->tree;
	return r;
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

static int call_times(
	const struct pm_profile *p, const struct pm_call_times **ret, struct pm_error *err)
{
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(zts_opened_of(p), &a, err);
	*ret = r < 0 ? NULL : a->times;
	return r;
}

static int get_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err)
{
	const struct zts_survey *v;
	int r = zts_get_survey(zts_opened_of(p), &v, err);
	if (r < 0)
		return r;
	*ret_origin_ns = v->origin_ns;
	*ret_duration_ns = v->n ? v->end_ns - v->origin_ns : PM_NO_TIME;
	return 0;
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

static int get_facts(
	const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n, struct pm_error *err)
{
	struct zts_opened *z = zts_opened_of(p);
	*ret = z->facts;
	*ret_n = ZTS_N_FACTS;
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

const struct pm_profile_ops zts_ops = {
	.tree = get_tree,
	.metrics = get_metrics,
	.run_costs = run_costs,
	.traces = zts_traces,
	.samples = zts_samples_read,
	.call_path = zts_call_path,
	.call_times = call_times,
	.span = get_span,
	.documents = zts_documents,
	.window_document = zts_window_document,
	.window_collection = zts_window_collection,
	.window_section = zts_window_section,
	.collections = zts_collections,
	.facts = get_facts,
	.recipes = zts_recipes,
	.sections = zts_sections,
	.damage = zts_damage,
	.warm = warm,
	.changed = has_changed,
};
