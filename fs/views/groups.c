/*
 * Adding up in one pass in pre-order. A context is the outermost of its row on its path iff it lies
 * at or beyond the end of the last outermost one: ends of subtrees replace a stack of rows.
 */
#include "fs/views/groups.h"

#include <stdlib.h>

#include "fs/views/parts.h"

/* Costs that are stored twice, in a context and in the one it is nested in, leave the outer one. */
static void add_own(double *own, double *above, double value, const struct pmfs_share *share)
{
	if (share->nested && share->above == share->row)
		return;
	pmfs_add(own, value);
	if (share->nested && share->above != PM_NONE)
		pmfs_add(above, -value);
}

void pmfs_share_costs(const struct pmfs_columns *c, double *rows, const struct pmfs_share *share,
	const double *cells)
{
	double *own = rows + (size_t)share->row * c->n;
	double *above = share->above == PM_NONE ? NULL : rows + (size_t)share->above * c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		if (isnan(cells[i]))
			continue;
		switch (c->columns[i].role) {
		case PM_ROLE_INCLUSIVE: pmfs_add(&own[i], share->outer ? cells[i] : 0); break;
		case PM_ROLE_EXCLUSIVE:
			add_own(&own[i], above ? &above[i] : NULL, cells[i], share);
			break;
		case PM_ROLE_COUNT:
		case PM_ROLE_OTHER: pmfs_add(&own[i], cells[i]); break;
		}
	}
}

/* Adds one context; `rows` are those of the contexts above it, by depth. */
static int add_context(const struct pmfs_grouping *g, struct pmfs_sums *sums, uint32_t *rows,
	uint32_t context, const double *cells)
{
	uint32_t depth = g->tree->depth[context] - g->tree->depth[g->first];
	struct pmfs_share share = {.above = depth > 0 ? rows[depth - 1] : PM_NONE,
		.nested = depth > 0 && pm_tree_frame(g->tree, context)->nested};
	bool counts = false;
	if (g->row(g->self, context, share.above, &share.row, &counts) < 0)
		return -ENOMEM;
	rows[depth] = share.row;
	if (share.row == PM_NONE)
		return 0;
	share.outer = counts && context >= sums->until[share.row];
	if (share.outer)
		sums->until[share.row] = g->tree->end[context];
	pmfs_share_costs(sums->columns, sums->cells, &share, cells);
	return 0;
}

int pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err)
{
	size_t height = pmfs_tree_height(g->tree);
	uint32_t *rows = malloc((height + 1) * sizeof(*rows));
	double *cells = pmfs_cells_new(sums->columns->n);
	int r = rows && cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = g->first; r == 0 && i < g->end; i++) {
		r = pmfs_run_cells(g->model, i, true, cells, err);
		if (r == 0 && add_context(g, sums, rows, i, cells) < 0)
			r = pmfs_no_memory(err);
	}
	free(rows);
	free(cells);
	return r;
}
