/*
 * The tree in the order of the primary quantity. Formats order it by the quantity chosen by rule;
 * if another quantity is primary, siblings are reordered here, and contexts keep their numbers.
 */
#include "fs/views/model/model.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
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

/* By context; NAN also where costs cannot be read: the documents that show them report the error.
 */
static double *weigh(struct pm_arena *a, const struct pm_profile *p, const struct pm_tree *tree,
	uint32_t metric, struct pm_error *err)
{
	double *weight = pm_arena_array(a, tree->n_contexts, sizeof(*weight));
	const struct pm_metrics *metrics;
	pm_build_check(a, pm_profile_metrics(p, &metrics, err));
	struct pm_value *values = pm_arena_array(a, metrics->n, sizeof(*values));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		int64_t n = p->ops->run_costs(p, i, values, metrics->n, NULL);
		if (pm_is_passing((int)n))
			pm_build_fail(a, (int)n);
		weight[i] = NAN;
		for (int64_t k = 0; k < n; k++)
			if (values[k].metric == metric)
				weight[i] = fabsl(pmfs_value_number(&values[k]));
	}
	return weight;
}

static void order_build(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	struct order_part *part = p;
	const struct pm_profile *profile = pmfs_model_profile(owner);
	const struct pmfs_columns *c;
	pm_build_check(a, pm_profile_tree(profile, &part->tree, err));
	pm_build_check(a, pmfs_model_columns(owner, &c, err));
	const struct pm_metric *metric = ordering_metric(c);
	if (!metric || metric->group == part->tree->ordered_by || part->tree->n_contexts < 2)
		return;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const double *weight = weigh(scratch, profile, part->tree, metric->id, err);
	pm_arena_owns(a, order_done, part);
	pm_build_check(a, pm_tree_reorder(part->tree, weight, &part->own, &part->from, err));
	part->own->ordered_by = metric->group;
	part->tree = part->own;
	pm_arena_done(scratch);
}

static int get_order(struct pmfs_model *m, const struct order_part **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct order_part), .what = "the order of contexts", .build = order_build};
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

/* ---- values of the whole run at a context, by column: to calculate with, and as cells ---- */

pm_number *pmfs_cells_new(struct pm_arena *a, size_t n)
{
	pm_number *cells = pm_arena_zeroed(a, n + 1, sizeof(*cells));
	for (size_t i = 0; i < n; i++)
		cells[i] = NAN;
	return cells;
}

/* The values of the whole run at a context. */
struct run {
	const struct pmfs_columns *columns;
	struct pm_value *values;
	int64_t n;
	struct pm_value few[128]; /* most runs have few metrics */
};

static int run_get(struct pmfs_model *m, uint32_t context, struct run *run, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	size_t room = sizeof(run->few) / sizeof(*run->few);
	run->values = run->few;
	run->n = 0;
	if (pm_work_cancelled())
		return pmfs_no_memory(err);
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0 || (r = pmfs_model_columns(m, &run->columns, err)) < 0)
		return r;
	if (metrics->n > room) {
		room = metrics->n;
		run->values = malloc(room * sizeof(*run->values));
		if (!run->values)
			return pmfs_no_memory(err);
	}
	run->n = pmfs_run_values(m, context, run->values, room, err);
	return run->n < 0 ? (int)run->n : 0;
}

static void run_done(struct run *run)
{
	if (run->values != run->few)
		free(run->values);
}

int pmfs_run_cells(
	struct pmfs_model *m, uint32_t context, bool flat, pm_number *cells, struct pm_error *err)
{
	struct run run;
	int r = run_get(m, context, &run, err);
	for (uint32_t i = 0; r == 0 && i < run.columns->n; i++)
		cells[i] = NAN;
	for (int64_t i = 0; i < run.n; i++) {
		uint32_t column = pmfs_column_of(run.columns, run.values[i].metric, flat);
		if (column != PM_NONE)
			cells[column] = pmfs_value_number(&run.values[i]);
	}
	run_done(&run);
	return r;
}

void pmfs_set_self(struct pm_cell *cell, pm_number own, pm_number nested)
{
	pm_number self = isnan(nested) ? own : own - nested;
	if (isnan(self) || pmfs_is_rounding(self - pmfs_cell_number(cell), own, 0x1p-40))
		return;
	if (pmfs_is_rounding(self, own, 0x1p-40))
		pm_set_empty(cell);
	else
		*cell = pmfs_cell(self);
}

/* The _self cells of a row, from those of the contexts nested in it. `room` for 3 × c->n cells. */
static int fill_self(struct pmfs_model *m, const struct pmfs_columns *c, uint32_t context,
	pm_number *room, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_tree *tree;
	pm_number *own = room, *of = own + c->n, *nested = of + c->n;
	int r = pmfs_model_tree(m, &tree, err);
	if (r == 0)
		r = pmfs_run_cells(m, context, true, own, err);
	for (uint32_t k = 0; k < c->n_self; k++)
		nested[c->self[k].own] = NAN;
	for (uint32_t i = context + 1; r == 0 && i < tree->end[context]; i = tree->end[i]) {
		if (!pm_tree_frame(tree, i)->nested)
			continue;
		r = pmfs_run_cells(m, i, true, of, err);
		for (uint32_t k = 0; r == 0 && k < c->n_self; k++)
			pmfs_add(&nested[c->self[k].own], of[c->self[k].own]);
	}
	for (uint32_t k = 0; r == 0 && k < c->n_self; k++)
		pmfs_set_self(&cells[c->n_shown + k], own[c->self[k].own], nested[c->self[k].own]);
	return r;
}

static int fill_row(struct pmfs_model *m, uint32_t context, bool with_self, struct pm_cell *cells,
	struct pm_error *err)
{
	struct run run;
	pm_number *numbers = NULL;
	int r = run_get(m, context, &run, err);
	const struct pmfs_columns *c = run.columns;
	bool selfs = r == 0 && with_self && c->n_self > 0, derived = r == 0 && c->n_derived > 0;
	uint32_t n = r == 0 ? c->n_shown + (with_self ? c->n_self : 0) : 0;
	if ((selfs || derived) && !(numbers = malloc(4 * (size_t)c->n * sizeof(*numbers))))
		r = pmfs_no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		pm_set_empty(&cells[i]);
	for (uint32_t i = 0; numbers && i < c->n; i++)
		numbers[i] = NAN;
	for (int64_t i = 0; r == 0 && i < run.n; i++) {
		uint32_t column = pmfs_place_of(c, run.values[i].metric);
		if (derived && column < c->n)
			numbers[column] = pmfs_value_number(&run.values[i]);
		uint32_t place = pmfs_shown_place(c, column);
		if (place < n)
			pmfs_set_value(&cells[place], &run.values[i]);
	}
	run_done(&run);
	if (r == 0 && selfs)
		r = fill_self(m, c, context, numbers + c->n, cells, err);
	if (r == 0)
		pmfs_derived_cells(c, numbers, cells + n);
	free(numbers);
	return r;
}

int pmfs_run_row(
	struct pmfs_model *m, uint32_t context, struct pm_cell *cells, struct pm_error *err)
{
	return fill_row(m, context, false, cells, err);
}

int pmfs_run_row_with_self(
	struct pmfs_model *m, uint32_t context, struct pm_cell *cells, struct pm_error *err)
{
	return fill_row(m, context, true, cells, err);
}

int pmfs_run_self_cells(
	struct pmfs_model *m, uint32_t context, pm_number *cells, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0 || (r = pmfs_run_cells(m, context, false, cells, err)) < 0 || c->n_self == 0)
		return r;
	struct pm_cell *row =
		malloc(((size_t)c->n_shown + c->n_self + c->n_derived) * sizeof(*row));
	r = row ? pmfs_run_row_with_self(m, context, row, err) : pmfs_no_memory(err);
	for (uint32_t k = 0; r == 0 && k < c->n_self; k++)
		cells[c->self[k].own] = pmfs_cell_number(&row[c->n_shown + k]);
	free(row);
	return r;
}
