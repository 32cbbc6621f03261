#include "fs/views/sums/threadcategories.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"

int pmfs_thread_categories_start(
	struct pmfs_thread_categories *t, struct pmfs_model *m, struct pm_error *err)
{
	uint32_t until[PMFS_N_CATEGORIES] = {0};
	t->model = m;
	int r = pmfs_model_columns(m, &t->columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &t->tree, err)) < 0 ||
		(r = pmfs_identity(m, &t->identity, err)) < 0 ||
		(r = pmfs_categories(m, &t->of, err)) < 0)
		return r;
	t->outer = malloc((size_t)t->tree->n_contexts + 1);
	t->context = pmfs_cells_new(t->columns->n);
	t->cells = pmfs_cells_new(PMFS_N_CATEGORIES * (size_t)t->columns->n);
	if (!t->outer || !t->context || !t->cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < t->tree->n_contexts; i++) {
		t->outer[i] = i >= until[t->of[i]];
		if (t->outer[i])
			until[t->of[i]] = t->tree->end[i];
	}
	return 0;
}

static void add_context(struct pmfs_thread_categories *t, uint32_t context)
{
	uint32_t own = t->columns->first_excl;
	if (context != PM_NONE) {
		uint32_t parent = t->tree->parent[context];
		struct pmfs_share share = {.row = t->of[context],
			.above = parent == PM_NONE ? PM_NONE : t->of[parent],
			.nested = pmfs_is_nested(t->identity, context),
			.counts = true,
			.outer = t->outer[context]};
		if (pm_tree_number(t->tree, context) == 0 && own != PM_NONE &&
			!isnan(t->context[own]))
			t->nothing = t->context[own];
		pmfs_share_costs(t->columns, t->cells, NULL, &share, t->context);
	}
	for (uint32_t i = 0; i < t->columns->n; i++)
		t->context[i] = NAN;
}

/* Values of one context come one after the other. */
int pmfs_thread_categories_read(
	struct pmfs_thread_categories *t, uint32_t thread, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = PM_NO_TIME;
	uint32_t context = PM_NONE;
	int r;
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES * t->columns->n; i++)
		t->cells[i] = NAN;
	t->nothing = 0;
	pmfs_values_start(&values, t->model, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (v->context != number) {
			add_context(t, context);
			number = v->context;
			context = pm_tree_find(t->tree, number);
		}
		uint32_t column = pmfs_column_of(t->columns, v->metric, true);
		if (column != PM_NONE)
			pmfs_add(&t->context[column], pmfs_value_number(v));
	}
	add_context(t, context);
	return r;
}

void pmfs_thread_categories_done(struct pmfs_thread_categories *t)
{
	free(t->outer);
	free(t->context);
	free(t->cells);
}
