#include <stdlib.h>

#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/flatprofile.h"
#include "fs/views/sums/groups.h"

void pmfs_flat_profile_free(struct pmfs_flat_profile *f)
{
	if (!f)
		return;
	free(f->order);
	free(f->whole);
	free(f->contexts);
	free(f->cells);
	free(f);
}

/* Adds a context's cells to the rows of its functions. */
static void add_context(struct pmfs_flat_profile *t, uint32_t context, double *cells)
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
static int sum_values(struct pmfs_model *m, struct pmfs_flat_profile *t, uint32_t thread,
	double *cells, struct pm_error *err)
{
	const struct pmfs_functions *f = t->functions;
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = PM_NO_TIME;
	uint32_t context = PM_NONE;
	int r;
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
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

/* Removes functions without costs on the thread; keeps the order of the others. */
static int order_rows(struct pmfs_flat_profile *t)
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

int pmfs_thread_functions(
	struct pmfs_model *m, uint32_t thread, struct pmfs_flat_profile **ret, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	struct pmfs_flat_profile *t = calloc(1, sizeof(*t));
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
	if (r < 0)
		pmfs_flat_profile_free(t);
	else
		*ret = t;
	return r;
}
