/* What the flat tables share: sums of cells, their order, and to which row costs go. */
#include "fs/views/model/flat.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

void pmfs_add_cells(const struct pmfs_columns *c, pm_number *to, const pm_number *cells, bool outer)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (outer || c->columns[i].role != PM_ROLE_INCLUSIVE)
			pmfs_add(&to[i], cells[i]);
}

uint32_t pmfs_sums_row(struct pmfs_sums *s)
{
	size_t n_columns = s->columns->n, n = n_columns ? n_columns : 1;
	if (s->n >= PM_LIMIT_ITEMS)
		pm_build_fail(s->arena, -ENOMEM);
	pm_list_grow(s->arena, &s->cells, s->n, &s->room_cells, n * sizeof(*s->cells));
	if (s->to_be_tidied)
		pm_list_grow(s->arena, &s->taken, s->n, &s->room_taken, n * sizeof(*s->taken));
	pm_list_grow(s->arena, &s->until, s->n, &s->room_until, sizeof(*s->until));
	for (size_t i = 0; i < n_columns; i++) {
		s->cells[s->n * n_columns + i] = NAN;
		if (s->taken)
			s->taken[s->n * n_columns + i] = 0;
	}
	s->until[s->n] = 0;
	return s->n++;
}

void pmfs_sums_tidy(struct pmfs_sums *s)
{
	for (size_t i = 0; i < (size_t)s->n * s->columns->n; i++)
		if (pmfs_is_rounding(s->cells[i], s->taken[i], 1e-11))
			s->cells[i] = 0;
}

uint32_t pmfs_tree_height(const struct pm_tree *tree)
{
	uint32_t height = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (tree->depth[i] >= height)
			height = tree->depth[i] + 1;
	return height;
}

void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const pm_number *values, pm_number *cells)
{
	for (uint32_t i = 0; i < c->n; i++)
		cells[i] = c->columns[i].flat ? values[c->columns[i].flat - metrics->metrics] : NAN;
}

struct weighed {
	double weight;
	uint32_t row;
};

static int heavier_first(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

uint32_t *pmfs_order(
	struct pm_arena *a, const pm_number *cells, uint32_t n, uint32_t n_columns, uint32_t column)
{
	uint32_t *order = pm_arena_realloc(a, NULL, ((size_t)n + 1) * sizeof(*order));
	struct weighed *weighed = pm_arena_realloc(a, NULL, ((size_t)n + 1) * sizeof(*weighed));
	for (uint32_t i = 0; i < n; i++) {
		double weight = column == PM_NONE ? 0 : cells[(size_t)i * n_columns + column];
		weighed[i] = (struct weighed){isnan(weight) ? -INFINITY : fabs(weight), i};
	}
	pm_build_check(a, pm_sort(weighed, n, sizeof(*weighed), heavier_first));
	for (uint32_t i = 0; i < n; i++)
		order[i] = weighed[i].row;
	pm_arena_free(a, weighed);
	return order;
}

uint32_t pmfs_order_column(const struct pmfs_columns *c)
{
	if (c->first_excl != PM_NONE)
		return c->first_excl;
	return c->n > 0 ? 0 : PM_NONE;
}

struct pm_cell pmfs_texts_cell(const struct pm_evals *evals, uint32_t file)
{
	uint64_t i = PM_LOWER_BOUND(k, 0, evals->n_joined, evals->joined[k].text < file);
	bool found = i < evals->n_joined && evals->joined[i].text == file;
	return found ? pm_cell_u64(evals->joined[i].texts) : pm_cell_empty();
}

bool pmfs_costs_overlap(const struct pmfs_model *m)
{
	return pmfs_model_profile(m)->inclusive_overlaps;
}

/*
 * ---- grouping ----
 *
 * In one pass in pre-order. A context is the outermost of its row on its path iff it is at or after
 * the end of the last outermost one: ends of subtrees replace a stack of rows.
 */

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
static struct pmfs_share place_context(
	const struct pmfs_grouping *g, struct pmfs_sums *sums, uint32_t *rows, uint32_t context)
{
	uint32_t depth = g->tree->depth[context] - g->tree->depth[g->first];
	struct pmfs_share share = {.above = depth > 0 ? rows[depth - 1] : PM_NONE,
		.nested = depth > 0 && pm_tree_frame(g->tree, context)->nested,
		.outer = true};
	g->place(g->self, context, &share);
	rows[depth] = share.row;
	if (share.row == PM_NONE)
		return share;
	share.outer = share.outer && share.counts && context >= sums->until[share.row];
	if (share.outer)
		sums->until[share.row] = g->tree->end[context];
	return share;
}

void pmfs_group(const struct pmfs_grouping *g, struct pmfs_sums *sums, struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(sums->arena);
	uint32_t *rows = pm_arena_array(scratch, pmfs_tree_height(g->tree), sizeof(*rows));
	pm_number *cells = pmfs_cells_new(scratch, sums->columns->n);
	for (uint32_t i = g->first; i < g->end; i++) {
		struct pmfs_share share = place_context(g, sums, rows, i);
		if (share.row == PM_NONE || pmfs_share_is_empty(sums->columns, &share))
			continue;
		pm_build_check(scratch, pmfs_run_cells(g->model, i, true, cells, err));
		pmfs_share_costs(sums->columns, sums->cells, sums->taken, &share, cells);
		if (g->added)
			g->added(g->self, i, cells, &share);
	}
	pm_arena_done(scratch);
}
