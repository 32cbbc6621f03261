/*
 * The tree in the order of the primary quantity. Formats order it by the quantity chosen by rule;
 * if another quantity is primary, siblings are reordered here, and contexts keep their numbers.
 */
#include "fs/views/model/model.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/tree.h"
#include "fs/views/model/parts.h"

struct order_part {
	const struct pm_tree *tree; /* the format's, or `own` */
	struct pm_tree *own;
	uint32_t *from; /* context of `own` → of the format's; NULL: they are the same */
};

static void order_done(void *p)
{
	struct order_part *part = p;
	pm_tree_free(part->own);
	free(part->from);
}

/* The metric that orders siblings: the quantity's inclusive cost, else its exclusive cost. */
static const struct pm_metric *ordering_metric(const struct pmfs_columns *c)
{
	uint32_t column = pmfs_leading_column(c);
	return column == PM_NONE ? NULL : c->columns[column].tree;
}

static int weigh(struct pmfs_model *m, const struct pm_tree *tree, uint32_t metric, double *weight,
	struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0)
		return r;
	struct pm_value *values = malloc(((size_t)metrics->n + 1) * sizeof(*values));
	if (!values)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		struct pm_error why = {.code = 0};
		int64_t n = p->ops->run_costs(p, i, values, metrics->n, &why);
		weight[i] = NAN; /* also if it cannot be read; the documents that show it report the
				    error */
		for (int64_t k = 0; k < n; k++)
			if (values[k].metric == metric)
				weight[i] = fabsl(pmfs_value_number(&values[k]));
		if (pm_is_passing(n)) {
			free(values);
			return pm_error_set(err, -ENOMEM, why.file, why.offset, "%s", why.text);
		}
	}
	free(values);
	return 0;
}

static int put_in_order(struct pmfs_model *m, const struct pmfs_columns *c, struct order_part *part,
	struct pm_error *err)
{
	const struct pm_metric *metric = ordering_metric(c);
	if (!metric || metric->group == part->tree->ordered_by || part->tree->n_contexts < 2)
		return 0;
	double *weight = malloc((size_t)part->tree->n_contexts * sizeof(*weight));
	int r = weight ? weigh(m, part->tree, metric->id, weight, err) : pmfs_no_memory(err);
	if (r == 0)
		r = pm_tree_reorder(part->tree, weight, &part->own, &part->from, err);
	if (r == 0) {
		part->own->ordered_by = metric->group;
		part->tree = part->own;
	}
	free(weight);
	return r;
}

static int order_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct order_part *part = p;
	const struct pm_profile *profile = pmfs_model_profile(m);
	const struct pmfs_columns *c;
	int r = pm_profile_tree(profile, &part->tree, err);
	if (r < 0 || (r = pmfs_model_columns(m, &c, err)) < 0)
		return r;
	return put_in_order(m, c, part, err);
}

static int get_order(struct pmfs_model *m, const struct order_part **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct order_part), order_fill, order_done, .what = "the order of contexts"};
	return pmfs_model_part(m, PMFS_PART_ORDER, &type, ret, err);
}

int pmfs_model_tree(struct pmfs_model *m, const struct pm_tree **ret, struct pm_error *err)
{
	const struct order_part *part;
	int r = get_order(m, &part, err);
	*ret = r < 0 ? NULL : part->tree;
	return r;
}

int pmfs_own_context(struct pmfs_model *m, uint32_t context, uint32_t *ret, struct pm_error *err)
{
	const struct order_part *part;
	int r = get_order(m, &part, err);
	if (r == 0)
		*ret = part->from ? part->from[context] : context;
	return r;
}

int64_t pmfs_run_values(struct pmfs_model *m, uint32_t context, struct pm_value *ret, size_t room,
	struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	uint32_t own;
	int r = pmfs_own_context(m, context, &own, err);
	return r < 0 ? r : p->ops->run_costs(p, own, ret, room, err);
}
