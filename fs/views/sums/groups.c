/*
 * Adding up in one pass in pre-order. A context is the outermost of its row on its path iff it is
 * at or after the end of the last outermost one: ends of subtrees replace a stack of rows.
 */
#include "fs/views/sums/groups.h"

#include "fs/views/model/parts.h"

/*
 * Costs that are stored twice, in a context and in the enclosing one, are subtracted from the outer
 * one.
 */
static void take_from_above(const struct pmfs_columns *c, pm_number *rows, double *taken,
	const struct pmfs_share *share, const pm_number *cells)
{
	size_t above = (size_t)share->above * c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		if (isnan(cells[i]) || c->columns[i].role != PM_ROLE_EXCLUSIVE)
			continue;
		pmfs_add(&rows[above + i], -cells[i]);
		if (taken)
			taken[above + i] += fabs((double)cells[i]);
	}
}

void pmfs_share_costs(const struct pmfs_columns *c, pm_number *rows, double *taken,
	const struct pmfs_share *share, const pm_number *cells)
{
	pm_number *own = rows + (size_t)share->row * c->n;
	bool is_above = share->nested && share->above == share->row;
	for (uint32_t i = 0; i < c->n; i++) {
		if (isnan(cells[i]))
			continue;
		switch (c->columns[i].role) {
		case PM_ROLE_INCLUSIVE:
			if (share->counts)
				pmfs_add(&own[i], share->outer ? cells[i] : 0);
			break;
		case PM_ROLE_EXCLUSIVE:
			if (!is_above)
				pmfs_add(&own[i], cells[i]);
			break;
		case PM_ROLE_COUNT:
		case PM_ROLE_OTHER: pmfs_add(&own[i], cells[i]); break;
		}
	}
	if (share->nested && !is_above && share->above != PM_NONE)
		take_from_above(c, rows, taken, share, cells);
}

/* Where the context's costs go; `rows` are those of the contexts above it, by depth. */
static int place_context(const struct pmfs_grouping *g, struct pmfs_sums *sums, uint32_t *rows,
	uint32_t context, struct pmfs_share *share)
{
	uint32_t depth = g->tree->depth[context] - g->tree->depth[g->first];
	*share = (struct pmfs_share){.above = depth > 0 ? rows[depth - 1] : PM_NONE,
		.nested = depth > 0 && pm_tree_frame(g->tree, context)->nested,
		.outer = true};
	if (g->place(g->self, context, share) < 0)
		return -ENOMEM;
	rows[depth] = share->row;
	if (share->row == PM_NONE)
		return 0;
	share->outer = share->outer && share->counts && context >= sums->until[share->row];
	if (share->outer)
		sums->until[share->row] = g->tree->end[context];
	return 0;
}

static int add_context(const struct pmfs_grouping *g, struct pmfs_sums *sums, uint32_t context,
	const struct pmfs_share *share, pm_number *cells, struct pm_error *err)
{
	if (share->row == PM_NONE || pmfs_share_is_empty(sums->columns, share))
		return 0;
	int r = pmfs_run_cells(g->model, context, true, cells, err);
	if (r < 0)
		return r;
	pmfs_share_costs(sums->columns, sums->cells, sums->taken, share, cells);
	if (g->added && g->added(g->self, context, cells, share) < 0)
		return pmfs_no_memory(err);
	return 0;
}

int pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err)
{
	size_t height = pmfs_tree_height(g->tree);
	uint32_t *rows = pm_arena_realloc(sums->arena, NULL, (height + 1) * sizeof(*rows));
	pm_number *cells = pmfs_cells_new(sums->arena, sums->columns->n);
	struct pmfs_share share;
	int r = rows && cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = g->first; r == 0 && i < g->end; i++) {
		if (place_context(g, sums, rows, i, &share) < 0)
			r = pmfs_no_memory(err);
		else
			r = add_context(g, sums, i, &share, cells, err);
	}
	pm_arena_free(sums->arena, rows);
	pm_arena_free(sums->arena, cells);
	return r;
}
