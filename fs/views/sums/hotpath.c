/*
 * From the top down, the child with the highest inclusive cost, as long as it has half of its
 * parent's; the first step is always taken.
 */
#include "fs/views/sums/hotpath.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

struct walk {
	struct pm_arena *a;
	struct pmfs_model *model;
	const struct pm_tree *tree;
	uint32_t column;
	pm_number *cells;
	struct pmfs_hot *path;
	uint32_t n;
	size_t room;
};

/* Among the siblings in first … end: the most expensive one, the first if there are several. */
static int hottest(
	struct walk *w, uint32_t first, uint32_t end, struct pmfs_hot *ret, struct pm_error *err)
{
	*ret = (struct pmfs_hot){PM_NONE, 0};
	for (uint32_t i = first; i < end; i = w->tree->end[i]) {
		if (pm_tree_frame(w->tree, i)->is_nothing)
			continue;
		int r = pmfs_run_cells(w->model, i, false, w->cells, err);
		if (r < 0)
			return r;
		double value = w->cells[w->column];
		if (fabs(value) > fabs(ret->value))
			*ret = (struct pmfs_hot){i, value};
	}
	return 0;
}

static int descend(struct walk *w, struct pm_error *err)
{
	uint32_t first = 0, end = w->tree->n_contexts;
	struct pmfs_hot next;
	while (first < end) {
		int r = hottest(w, first, end, &next, err);
		if (r < 0)
			return r;
		if (next.context == PM_NONE ||
			(w->n > 0 && fabs(next.value) < fabs(w->path[w->n - 1].value) / 2))
			return 0;
		if (pm_list_room_in(w->a, &w->path, w->n, &w->room, sizeof(*w->path)) < 0)
			return pmfs_no_memory(err);
		w->path[w->n++] = next;
		first = next.context + 1;
		end = w->tree->end[next.context];
	}
	return 0;
}

int pmfs_hotpath(struct pm_arena *a, struct pmfs_model *m, struct pmfs_hot **ret, uint32_t *ret_n,
	struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	return r < 0 ? r : pmfs_hotpath_by(a, m, c->first_incl, ret, ret_n, err);
}

int pmfs_hotpath_by(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	struct pmfs_hot **ret, uint32_t *ret_n, struct pm_error *err)
{
	const struct pmfs_columns *c;
	struct walk w = {.a = a, .model = m, .column = column};
	int r = pmfs_model_tree(m, &w.tree, err);
	if (r < 0 || (r = pmfs_model_columns(m, &c, err)) < 0)
		return r;
	w.cells = pmfs_cells_new(a, c->n);
	if (!w.cells)
		return pmfs_no_memory(err);
	if (w.column != PM_NONE)
		r = descend(&w, err);
	pm_arena_free(a, w.cells);
	if (r < 0) {
		pm_arena_free(a, w.path);
		return r;
	}
	*ret = w.path;
	*ret_n = w.n;
	return 0;
}
