/*
 * The context tree of meta.db: what walk.c has read, with siblings in the order of their costs, and
 * the place of each context in the summary.
 */
#include "formats/hpctoolkit/contexts.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/quantity.h"
#include "formats/common/tree.h"
#include "formats/hpctoolkit/columns.h"
#include "formats/hpctoolkit/summary.h"
#include "formats/hpctoolkit/walk.h"

/*
 * Adds up the costs of the top-level contexts by group of metrics; `whole` is zeroed. The values of
 * a context are in the order of the metrics. `entry` is by rank.
 */
static int tops_add(const struct hpctk_walked *w, const struct hpctk_run_reader *reader,
	const struct pm_metrics *metrics, const uint32_t *entry, double *whole)
{
	uint32_t n = pm_tree_count(w->builder);
	struct pm_value *values = malloc(((size_t)metrics->n + 1) * sizeof(*values));
	for (uint32_t rank = 0; values && rank < n; rank++) {
		if (pm_tree_parent_of(w->builder, rank) != PM_NONE)
			continue;
		int64_t n_values = hpctk_run_all(
			reader, w->number[rank], entry[rank], values, metrics->n, NULL);
		for (int64_t i = 0, k = 0; i < n_values && k < metrics->n; k++) {
			const struct pm_metric *metric = &metrics->metrics[k];
			if (metric->id != values[i].metric)
				continue;
			if (metric->role == PM_ROLE_INCLUSIVE && isfinite(values[i].f))
				whole[metric->group] += values[i].f;
			i++;
		}
	}
	free(values);
	return values ? 0 : -ENOMEM;
}

/* The group whose inclusive cost orders siblings, and its quantity; PM_NONE if there is none. */
static int find_leading(const struct hpctk_walked *w, const struct hpctk_run_reader *reader,
	const uint32_t *entry, uint32_t *ret, uint32_t *ret_quantity, struct pm_error *err)
{
	const struct hpctk_columns *c;
	int r = hpctk_columns_get(w->db, &c, err);
	if (r < 0)
		return r;
	double *whole = calloc((size_t)pm_metrics_groups(&c->list) + 1, sizeof(*whole));
	r = whole ? tops_add(w, reader, &c->list, entry, whole) : -ENOMEM;
	uint32_t group = pm_quantity_leading(&c->list, whole);
	if (group == PM_NONE) /* no costs at the top */
		group = pm_quantity_leading(&c->list, NULL);
	*ret = PM_NONE;
	for (uint32_t i = 0; i < c->list.n; i++)
		if (c->metrics[i].group == group && c->metrics[i].role == PM_ROLE_INCLUSIVE) {
			*ret = group;
			*ret_quantity = hpctk_quantity_of_prop(reader->metrics, c->metrics[i].id);
		}
	free(whole);
	return r;
}

/*
 * Looks up each context in the summary once: for the order of siblings, and to keep the result.
 * `entry` and `weight` are by rank; `*ret` is the group that orders siblings.
 */
static int weigh(const struct hpctk_walked *w, uint32_t *entry, double *weight, uint32_t *ret,
	struct pm_error *err)
{
	struct hpctk_run_reader reader;
	uint32_t n = pm_tree_count(w->builder), quantity = HPCTK_NONE, next = 0;
	int r = hpctk_run_reader_init(&reader, w->db, err);
	if (r < 0)
		return r;
	bool summed = hpctk_block_check(&reader.summary, NULL) == 0;
	for (uint32_t rank = 0; rank < n; rank++) {
		if (rank % HPCTK_STEPS == 0 && hpctk_is_cancelled_at(rank, n))
			return -ENOMEM;
		entry[rank] = summed ? hpctk_run_find(&reader, w->number[rank], &next) : HPCTK_NONE;
	}
	r = find_leading(w, &reader, entry, ret, &quantity, err);
	for (uint32_t rank = 0; r == 0 && *ret != PM_NONE && rank < n; rank++) {
		if (pm_work_cancelled())
			return -ENOMEM;
		if (rank % HPCTK_STEPS == 0)
			pm_work_progress(rank, n);
		weight[rank] = hpctk_run_cost(&reader, w->number[rank], entry[rank], quantity);
	}
	return r;
}

static int tree_finish(struct hpctk_walked *w, struct hpctk_tree *t, struct pm_error *err)
{
	uint32_t n = pm_tree_count(w->builder), group = PM_NONE;
	uint32_t *entry = malloc((n + (size_t)1) * sizeof(*entry));
	double *weight = malloc((n + (size_t)1) * sizeof(*weight));
	t->in_summary = malloc((n + (size_t)1) * sizeof(*t->in_summary));
	int r = -ENOMEM;
	if (entry && weight && t->in_summary && pm_tree_intern_nothing(w->builder) != PM_NONE)
		r = weigh(w, entry, weight, &group, err);
	if (r == 0) {
		r = pm_tree_freeze(
			w->builder, group == PM_NONE ? NULL : weight, &t->tree, &t->of_rank, err);
		w->builder = NULL;
	}
	if (r == 0) {
		t->tree->n_function_ids = w->db->functions.n;
		t->tree->ordered_by = group;
	}
	for (uint32_t i = 0; i < n && r == 0; i++)
		t->in_summary[t->of_rank[i]] = entry[i];
	free(entry);
	free(weight);
	return r;
}

static int tree_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_tree *t = part;
	struct hpctk_walked w;
	t->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	int r = hpctk_walk(owner, &t->damage, &w);
	if (t->damage.no_memory)
		r = -ENOMEM;
	if (r == 0)
		r = tree_finish(&w, t, err);
	if (r == 0) {
		t->record_at = w.record_at;
		w.record_at = NULL;
	}
	hpctk_walked_done(&w);
	return r;
}

static void tree_done(void *part)
{
	struct hpctk_tree *t = part;
	pm_damage_done(&t->damage);
	pm_tree_free(t->tree);
	free(t->of_rank);
	free(t->record_at);
	free(t->in_summary);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_tree),
	.fill = tree_fill,
	.done = tree_done,
	.file = "meta.db",
	.what = "the context tree"};

int hpctk_tree_get(struct hpctk_opened *db, const struct hpctk_tree **ret, struct pm_error *err)
{
	return pm_part_get(&db->tree, &type, db, ret, err);
}

bool hpctk_context_get(const struct hpctk_opened *db, const struct hpctk_tree *t, uint32_t rank,
	struct hpctk_context_record *ret)
{
	const struct hpctk_layout *l = &db->layout;
	bool entry = l->generation >= HPCTK_JUNE && t->tree->parent[t->of_rank[rank]] == PM_NONE;
	struct pm_bytes file = hpctk_bytes(db, HPCTK_META), d;
	uint64_t at = t->record_at[rank];
	if (!pm_bytes_sub(file, at, entry ? HPCTK_ENTRY : hpctk_context_head(l), &d))
		return false;
	if (entry) {
		hpctk_entry_decode(l, d.p, ret);
		return true;
	}
	return pm_bytes_sub(file, at, hpctk_context_size(l, d.p), &d) &&
		hpctk_context_decode(l, d.p, d.len, ret);
}
