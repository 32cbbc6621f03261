#include "fs/views/sums/threadcategories.h"

#include <math.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"

int pmfs_thread_categories_start(struct pm_arena *a, struct pmfs_thread_categories *t,
	struct pmfs_model *m, struct pm_error *err)
{
	uint32_t until[PMFS_N_CATEGORIES] = {0};
	t->model = m;
	int r = pmfs_model_columns(m, &t->columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &t->tree, err)) < 0 ||
		(r = pmfs_identity(m, &t->identity, err)) < 0 ||
		(r = pmfs_categories(m, &t->of, err)) < 0)
		return r;
	t->outer = pm_arena_array(a, (size_t)t->tree->n_contexts + 1, sizeof(*t->outer));
	t->cells = pmfs_cells_new(a, PMFS_N_CATEGORIES * (size_t)t->columns->n);
	if (!t->outer || !t->cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < t->tree->n_contexts; i++) {
		t->outer[i] = i >= until[t->of[i]];
		if (t->outer[i])
			until[t->of[i]] = t->tree->end[i];
	}
	return 0;
}

static void add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct pmfs_thread_categories *t = self;
	uint32_t own = t->columns->first_excl, parent = t->tree->parent[context];
	struct pmfs_share share = {.row = t->of[context],
		.above = parent == PM_NONE ? PM_NONE : t->of[parent],
		.nested = pmfs_is_nested(t->identity, context),
		.counts = true,
		.outer = t->outer[context]};
	if (pm_tree_number(t->tree, context) == 0 && own != PM_NONE && !isnan(cells[own]))
		t->nothing = cells[own];
	pmfs_share_costs(t->columns, t->cells, NULL, &share, cells);
}

int pmfs_thread_categories_read(
	struct pmfs_thread_categories *t, uint32_t thread, struct pm_error *err)
{
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES * t->columns->n; i++)
		t->cells[i] = NAN;
	t->nothing = 0;
	return pmfs_values_by_context(NULL, t->model, thread, add_context, t, err);
}
