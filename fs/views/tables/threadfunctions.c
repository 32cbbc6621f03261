/*
 * A thread's functions.csv: the flat profile of this thread alone. Summed when a cursor starts; a
 * row's position is its number.
 */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"
#include "fs/views/tables/functions.h"
#include "fs/views/tables/threadfunctions.h"

void pmfs_thread_functions_free(struct pmfs_thread_functions *t)
{
	if (!t)
		return;
	free(t->contexts);
	free(t->cells);
	free(t->order);
	free(t);
}

/* Adds a context's cells to the rows of its functions. */
static void add_context(struct pmfs_thread_functions *t, uint32_t context, double *cells)
{
	const struct pmfs_functions *f = t->functions;
	if (context != PM_NONE) {
		struct pmfs_share share = pmfs_function_share(f->identity, context);
		share.row = f->row[share.row];
		share.above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
		if (share.row != PM_NONE) {
			t->contexts[share.row] += pmfs_is_call(f->identity, context);
			pmfs_share_costs(f->columns, t->cells, NULL, &share, cells);
		}
	}
	for (uint32_t i = 0; i < f->columns->n; i++)
		cells[i] = NAN;
}

/* Values of one context come one after the other. */
static int sum_values(struct pmfs_model *m, struct pmfs_thread_functions *t, uint32_t thread,
	double *cells, struct pm_error *err)
{
	const struct pmfs_functions *f = t->functions;
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = 0;
	uint32_t context = PM_NONE;
	int r;
	pmfs_values_start(&values, pmfs_model_profile(m), PMFS_COSTS_OF_THREAD, thread, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (v->context != number) {
			add_context(t, context, cells);
			number = v->context;
			context = pm_tree_find(f->tree, number);
		}
		uint32_t column = pmfs_column_of(f->columns, v->metric, true);
		if (column != PM_NONE)
			pmfs_add(&cells[column], pmfs_value_number(v));
	}
	add_context(t, context, cells);
	return r;
}

/* Leaves out functions that the thread has not, keeps the others in order. */
static int order_rows(struct pmfs_thread_functions *t)
{
	const struct pmfs_functions *f = t->functions;
	t->order = pmfs_order(t->cells, f->n, f->columns->n, pmfs_order_column(f->columns));
	if (!t->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		if (t->contexts[t->order[i]] > 0)
			t->order[t->n++] = t->order[i];
	return 0;
}

int pmfs_thread_functions(struct pmfs_model *m, uint32_t thread, struct pmfs_thread_functions **ret,
	struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	struct pmfs_thread_functions *t = calloc(1, sizeof(*t));
	if (!t)
		return pmfs_no_memory(err);
	t->functions = f;
	t->contexts = calloc((size_t)f->n + 1, sizeof(*t->contexts));
	t->cells = pmfs_cells_new((size_t)f->n * f->columns->n);
	double *cells = pmfs_cells_new(f->columns->n);
	if (!t->contexts || !t->cells || !cells)
		r = pmfs_no_memory(err);
	if (r == 0)
		r = sum_values(m, t, thread, cells, err);
	free(cells);
	if (r == 0 && order_rows(t) < 0)
		r = pmfs_no_memory(err);
	if (r < 0) {
		pmfs_thread_functions_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* ---- the table ---- */

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_thread_functions *t;
	int r = pmfs_thread_functions(
		pmfs_model_of(rows->table->self), (uint32_t)rows->table->a, &t, err);
	if (r == 0)
		rows->own = t;
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	pmfs_thread_functions_free(rows->own);
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_thread_functions *t = rows->own;
	(void)err;
	if (rows->at >= t->n)
		return 0;
	uint32_t row = t->order[rows->at++];
	pmfs_function_row(t->functions, row, t->contexts[row],
		t->cells + (size_t)row * t->functions->columns->n, cells);
	return 1;
}

int pmfs_thread_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done};
	int r = pmfs_function_table(m, &type, ret, err);
	ret->a = item;
	return r;
}
