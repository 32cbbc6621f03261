/*
 * Exclusive and inclusive costs by category. An inclusive cost counts once, at the outermost
 * context of a category on each path.
 */
#include "fs/views/sums/categorysums.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/parts.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/totals.h"

struct grouping {
	const uint8_t *of;
	uint64_t *contexts;
};

static void sums_done(void *p)
{
	struct pmfs_category_sums *s = p;
	free(s->cells);
}

static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct grouping *g = self;
	share->row = g->of[context];
	share->counts = true;
	g->contexts[share->row]++;
	return 0;
}

/* ---- the whole ---- */

static int inclusive_at_top(
	struct pmfs_model *m, const struct pm_tree *tree, double *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*ret = 0;
	if (r < 0 || c->first_incl == PM_NONE)
		return r;
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i = tree->end[i]) {
		r = pmfs_run_cells(m, i, true, cells, err);
		if (r == 0 && !isnan(cells[c->first_incl]))
			*ret += cells[c->first_incl];
	}
	free(cells);
	return r;
}

static int find_whole(struct pmfs_model *m, const struct pm_tree *tree,
	struct pmfs_category_sums *s, struct pm_error *err)
{
	uint32_t own = s->columns->first_excl;
	for (uint32_t i = 0; own != PM_NONE && i < PMFS_N_CATEGORIES; i++)
		if (!isnan(s->cells[i * s->columns->n + own]))
			s->whole += s->cells[i * s->columns->n + own];
	int r = s->whole != 0 ? 0 : inclusive_at_top(m, tree, &s->whole, err);
	if (r == 0 && s->columns->n > 0 && s->columns->columns[0].decreases) {
		const struct pmfs_totals *totals;
		r = pmfs_totals(m, &totals, err);
		s->whole = r < 0 ? 0 : totals->busy;
	}
	s->busy = s->whole;
	uint32_t nothing = pm_tree_find(tree, 0);
	if (r < 0 || nothing == PM_NONE || own == PM_NONE)
		return r;
	double *cells = pmfs_cells_new(s->columns->n);
	r = cells ? pmfs_run_cells(m, nothing, true, cells, err) : pmfs_no_memory(err);
	if (r == 0 && !isnan(cells[own]))
		s->busy -= cells[own];
	free(cells);
	return r;
}

/* ---- adding up ---- */

static int order_rows(struct pmfs_category_sums *s)
{
	uint32_t *order = pmfs_order(
		s->cells, PMFS_N_CATEGORIES, s->columns->n, pmfs_order_column(s->columns));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++) {
		bool costs = false;
		for (uint32_t k = 0; k < s->columns->n; k++)
			costs |= !isnan(s->cells[(size_t)order[i] * s->columns->n + k]);
		if (s->contexts[order[i]] > 0 || costs)
			s->order[s->n++] = order[i];
	}
	free(order);
	return 0;
}

/* Contexts have no statements: they are in the category of the function around them, if any. */
static uint32_t category_of_line(const void *self, const struct pm_line *line)
{
	const struct pmfs_functions *f = self;
	return line->function == PM_NONE ? PMFS_PROGRAM : f->category[line->function];
}

static int add_statements(struct pmfs_model *m, struct pmfs_sums *sums, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	return r < 0 ? r : pmfs_add_statements(m, category_of_line, f, sums->cells, err);
}

static int add_up(struct pmfs_model *m, struct pmfs_category_sums *s, struct pm_error *err)
{
	struct grouping by = {.contexts = s->contexts};
	struct pmfs_sums sums = {.columns = s->columns};
	struct pmfs_grouping g = {.model = m, .place = place, .self = &by};
	uint32_t row;
	int r = pmfs_model_tree(m, &g.tree, err);
	if (r < 0 || (r = pmfs_categories(m, &by.of, err)) < 0)
		return r;
	g.end = g.tree->n_contexts;
	for (uint32_t i = 0; r == 0 && i < PMFS_N_CATEGORIES; i++)
		r = pmfs_sums_row(&sums, &row) < 0 ? pmfs_no_memory(err) : 0;
	if (r == 0)
		r = pmfs_group(&g, &sums, err);
	if (r == 0)
		r = add_statements(m, &sums, err);
	s->cells = sums.cells;
	sums.cells = NULL;
	pmfs_sums_done(&sums);
	return r < 0 ? r : find_whole(m, g.tree, s, err);
}

static int sums_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_category_sums *s = p;
	int r = pmfs_model_columns(m, &s->columns, err);
	if (r == 0)
		r = add_up(m, s, err);
	if (r == 0 && order_rows(s) < 0)
		r = pmfs_no_memory(err);
	return r;
}

int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_category_sums), sums_fill,
		sums_done, .what = "the sums of categories"};
	return pmfs_model_part(m, PMFS_PART_CATEGORY_SUMS, &type, ret, err);
}

int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err)
{
	const struct pmfs_category_sums *s;
	int r = pmfs_category_sums(m, &s, err);
	if (r == 0)
		*ret = s->whole;
	return r;
}
