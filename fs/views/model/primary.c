/*
 * Chooses the primary quantity. The total of a quantity with inclusive costs is that of the
 * top-level contexts. Counts have no inclusive costs, and those of some profiles overlap at the top
 * (inclusive_overlaps): these are added up over all contexts, if they matter.
 */
#include "fs/views/model/primary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/map.h"
#include "formats/common/quantity.h"
#include "formats/common/work.h"
#include "fs/views/model/parts.h"

enum { BETWEEN_QUESTIONS = 1 << 12 /* contexts */ };

struct totals {
	const struct pm_profile *profile;
	const struct pm_tree *tree; /* of the profile; its order does not matter here */
	const struct pm_metrics *metrics;
	struct pm_map of_id; /* metric id → index in metrics */
	struct pm_value *values;
	double *of_group;
	bool *at_the_top; /* by group: inclusive costs at the top are the whole */
	uint32_t n_groups;
};

static int index_metrics(struct totals *w)
{
	bool fresh;
	for (uint32_t i = 0; i < w->metrics->n; i++) {
		const struct pm_metric *metric = &w->metrics->metrics[i];
		if (!pm_map_put(&w->of_id, metric->id, i, &fresh))
			return -ENOMEM;
		if (metric->role == PM_ROLE_INCLUSIVE && metric->has_values)
			w->at_the_top[metric->group] = true;
	}
	if (w->profile->inclusive_overlaps)
		memset(w->at_the_top, 0, w->n_groups * sizeof(*w->at_the_top));
	return 0;
}

/* Adds the costs of a context: inclusive ones if it is a context at the `top`, else the others. */
static int add_context(struct totals *w, uint32_t context, bool top, struct pm_error *err)
{
	int64_t n = w->profile->ops->run_costs(w->profile, context, w->values, w->metrics->n, err);
	for (int64_t i = 0; i < n; i++) {
		const uint32_t *index = pm_map_find(&w->of_id, w->values[i].metric);
		const struct pm_metric *metric = index ? &w->metrics->metrics[*index] : NULL;
		double value = pmfs_value_number(&w->values[i]);
		if (!metric || !isfinite(value) || w->at_the_top[metric->group] != top ||
			(metric->role == PM_ROLE_INCLUSIVE) != top)
			continue;
		w->of_group[metric->group] += value;
	}
	return n < 0 ? (int)n : 0;
}

/* An unreadable context counts as 0 here; the error is reported where it is shown. */
static int add_contexts(struct totals *w, bool tops, struct pm_error *err)
{
	uint32_t n = w->tree->n_contexts;
	uint32_t added = 0;
	for (uint32_t i = 0; i < n; i = tops ? w->tree->end[i] : i + 1) {
		struct pm_error why = {.code = 0};
		if (++added % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return pmfs_no_memory(err);
		if (pm_is_passing(add_context(w, i, tops, &why)))
			return pm_error_set(err, -ENOMEM, why.file, why.offset, "%s", why.text);
	}
	return 0;
}

/* Whether a group with an unknown total would be primary if the total is not 0. */
static bool is_open(const struct totals *w, uint32_t leading)
{
	double *maybe = malloc(((size_t)w->n_groups + 1) * sizeof(*maybe));
	if (!maybe)
		return true; /* adding up more than needed is harmless */
	for (uint32_t i = 0; i < w->n_groups; i++)
		maybe[i] = w->at_the_top[i] ? w->of_group[i] : 1;
	bool open = pm_quantity_leading(w->metrics, maybe) != leading;
	free(maybe);
	return open;
}

static int choose(struct totals *w, uint32_t *ret, struct pm_error *err)
{
	const struct pm_flat *flat = NULL;
	if (!w->values || !w->of_group || !w->at_the_top || index_metrics(w) < 0)
		return pmfs_no_memory(err);
	int r = pm_profile_flat(w->profile, &flat, err);
	if (pm_is_passing(r))
		return r;
	if (r == 0 && flat && flat->statements) /* contexts have none */
		w->of_group[w->metrics->metrics[flat->statements->metric].group] =
			flat->statements->whole_ns;
	r = add_contexts(w, true, err);
	*ret = pm_quantity_leading(w->metrics, w->of_group);
	if (r < 0 || !is_open(w, *ret))
		return r;
	r = add_contexts(w, false, err);
	*ret = pm_quantity_leading(w->metrics, w->of_group);
	return r;
}

int pmfs_primary_by_rule(struct pmfs_model *m, uint32_t *ret, struct pm_error *err)
{
	struct totals w = {.profile = pmfs_model_profile(m)};
	struct pm_error why = {.code = 0};
	*ret = PM_NONE;
	int r = pmfs_model_metrics(m, &w.metrics, err);
	if (r < 0)
		return r;
	if (w.metrics->leads) {
		*ret = w.metrics->leads - 1;
		return 0;
	}
	if (w.profile->lead_by_name) {
		*ret = pm_quantity_leading(w.metrics, NULL);
		return 0;
	}
	r = pm_profile_tree(w.profile, &w.tree, &why);
	if (pm_is_passing(r))
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	if (r == 0) {
		w.n_groups = pm_metrics_groups(w.metrics);
		w.values = malloc(((size_t)w.metrics->n + 1) * sizeof(*w.values));
		w.of_group = calloc((size_t)w.n_groups + 1, sizeof(*w.of_group));
		w.at_the_top = calloc((size_t)w.n_groups + 1, sizeof(*w.at_the_top));
		r = choose(&w, ret, err);
		free(w.values);
		free(w.of_group);
		free(w.at_the_top);
		pm_map_done(&w.of_id);
		if (r < 0)
			return r;
	}
	if (*ret == PM_NONE)
		*ret = pm_quantity_leading(w.metrics, NULL);
	return 0;
}

/* ---- by name ---- */

void pmfs_list_stems(const struct pmfs_columns *c, struct pm_text *out)
{
	enum { ROOM = 420 };
	for (uint32_t i = 0, n = 0; i < c->n; i++) {
		bool same = i > 0 && c->columns[i].group == c->columns[i - 1].group;
		if (same || c->columns[i].hidden)
			continue;
		pm_text_str(out, n++ == 0 ? "there are " : ", ");
		if (out->len + strlen(c->columns[i].base) > ROOM) {
			pm_text_str(out, "… (see metrics.csv)");
			return;
		}
		pm_text_str(out, c->columns[i].base);
	}
	if (c->n == 0)
		pm_text_str(out, "there are none with values");
}

int pmfs_primary_by_name(
	const struct pmfs_columns *c, const char *name, uint32_t *ret, struct pm_error *err)
{
	struct pm_text stems = {.p = NULL};
	for (uint32_t i = 0; i < c->n; i++)
		if (!c->columns[i].hidden &&
			(strcmp(name, c->columns[i].name) == 0 ||
				strcmp(name, c->columns[i].base) == 0)) {
			*ret = c->columns[i].group;
			return 0;
		}
	pmfs_list_stems(c, &stems);
	struct pm_bytes list = pm_text_view(&stems);
	int r = pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "no metric is named %.60s: %.*s",
		name, (int)list.len, (const char *)list.p);
	pm_text_done(&stems);
	return r;
}
