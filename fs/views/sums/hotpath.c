/*
 * From the top down, the child with the highest inclusive cost, as long as it has half of its
 * parent's; the first step is always taken.
 */
#include "fs/views/sums/hotpath.h"

#include <math.h>

#include "formats/common/list.h"

struct pmfs_hot *pmfs_hotpath(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	uint32_t *ret_n, struct pm_error *err)
{
	const struct pmfs_columns *c;
	const struct pm_tree *tree;
	struct pmfs_hot *path = NULL;
	size_t room = 0;
	uint32_t n = 0;
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	pm_build_check(a, pmfs_model_columns(m, &c, err));
	pm_number *cells = pmfs_cells_new(a, c->n);
	for (uint32_t first = 0, end = column == PM_NONE ? 0 : tree->n_contexts; first < end;) {
		/* The most expensive sibling, the first if there are several. */
		struct pmfs_hot next = {PM_NONE, 0};
		for (uint32_t i = first; i < end; i = tree->end[i]) {
			if (pm_tree_frame(tree, i)->is_nothing)
				continue;
			pm_build_check(a, pmfs_run_cells(m, i, false, cells, err));
			double value = cells[column];
			if (fabs(value) > fabs(next.value))
				next = (struct pmfs_hot){i, value};
		}
		if (next.context == PM_NONE ||
			(n > 0 && fabs(next.value) < fabs(path[n - 1].value) / 2))
			break;
		pm_list_grow(a, &path, n, &room, sizeof(*path));
		path[n++] = next;
		first = next.context + 1;
		end = tree->end[next.context];
	}
	*ret_n = n;
	return path;
}
