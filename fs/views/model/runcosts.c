/*
 * Values of the whole run at a context, by column: as numbers to calculate with, and as cells.
 */
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/model.h"

#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

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
	pm_number rounding = ldexpl(fabsl(own), -40);
	if (isnan(self) || fabsl(self - pmfs_cell_number(cell)) <= rounding)
		return;
	if (fabsl(self) <= rounding)
		pm_set_empty(cell);
	else
		*cell = pmfs_cell(self);
}

/* The _self cells of a row, from those of the contexts nested in it. */
static int fill_self(struct pmfs_model *m, const struct pmfs_columns *c, uint32_t context,
	struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_tree *tree;
	pm_number *own = pmfs_cells_new(NULL, (size_t)c->n * 2), *of = own + c->n;
	int r = own ? pmfs_model_tree(m, &tree, err) : pmfs_no_memory(err);
	if (r == 0)
		r = pmfs_run_cells(m, context, true, own, err);
	pm_number *nested = r == 0 ? pmfs_cells_new(NULL, c->n) : NULL;
	if (r == 0 && !nested)
		r = pmfs_no_memory(err);
	for (uint32_t i = context + 1; r == 0 && i < tree->end[context]; i = tree->end[i]) {
		if (!pm_tree_frame(tree, i)->nested)
			continue;
		r = pmfs_run_cells(m, i, true, of, err);
		for (uint32_t k = 0; r == 0 && k < c->n_self; k++)
			pmfs_add(&nested[c->self[k].own], of[c->self[k].own]);
	}
	for (uint32_t k = 0; r == 0 && k < c->n_self; k++)
		pmfs_set_self(&cells[c->n_shown + k], own[c->self[k].own], nested[c->self[k].own]);
	free(nested);
	free(own);
	return r;
}

static int fill_row(struct pmfs_model *m, uint32_t context, bool with_self, struct pm_cell *cells,
	struct pm_error *err)
{
	struct run run;
	pm_number *numbers = NULL;
	int r = run_get(m, context, &run, err);
	const struct pmfs_columns *c = run.columns;
	uint32_t n = r == 0 ? c->n_shown + (with_self ? c->n_self : 0) : 0;
	if (r == 0 && c->n_derived > 0 && !(numbers = pmfs_cells_new(NULL, c->n)))
		r = pmfs_no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		pm_set_empty(&cells[i]);
	for (int64_t i = 0; r == 0 && i < run.n; i++) {
		uint32_t column = pmfs_place_of(c, run.values[i].metric);
		if (numbers && column < c->n)
			numbers[column] = pmfs_value_number(&run.values[i]);
		uint32_t place = pmfs_shown_place(c, column);
		if (place < n)
			pmfs_set_value(&cells[place], &run.values[i]);
	}
	run_done(&run);
	if (r == 0 && with_self && c->n_self > 0)
		r = fill_self(m, c, context, cells, err);
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
