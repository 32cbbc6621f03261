/*
 * children.csv: the cost of a context by child. Children are in the order of the tree, most
 * expensive first; the last row is the exclusive cost. A position is the child's index, or the
 * context's own end for the last row; 0 means the first child.
 */
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/rollups.h"

struct children_rows {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	double whole;
	void *names;         /* taken from the entries, or NULL */
	pm_number numbers[]; /* columns->n, and as many again */
};

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_entries *entries = pmfs_model_entries(m);
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	struct children_rows *c = malloc(sizeof(*c) + 2 * columns->n * sizeof(*c->numbers));
	if (!c)
		return pmfs_no_memory(err);
	rows->own = c;
	c->model = m;
	c->columns = columns;
	c->names = NULL;
	r = pmfs_model_tree(m, &c->tree, err);
	if (r == 0)
		r = pmfs_whole(m, &c->whole, err);
	if (r == 0 && entries)
		r = entries->take(entries->self, (uint32_t)rows->table->a, &c->names, err);
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	struct children_rows *c = rows->own;
	if (c && c->names) {
		const struct pmfs_entries *entries = pmfs_model_entries(c->model);
		entries->release(entries->self, c->names);
	}
	free(c);
}

/* ---- the exclusive cost of the context ---- */

static void take_child(const struct pmfs_columns *columns, pm_number *own, const pm_number *child)
{
	for (uint32_t k = 0; k < columns->n; k++)
		if (columns->columns[k].role == PM_ROLE_INCLUSIVE && !isnan(child[k]))
			own[k] -= child[k];
}

/* Rounding errors count as 0. */
static void drop_rounding(const struct pmfs_columns *columns, pm_number *own, const pm_number *all)
{
	for (uint32_t k = 0; k < columns->n; k++)
		if (fabsl(own[k]) < fabsl(all[k]) * 1e-12)
			own[k] = 0;
}

/*
 * Counts have no exclusive part. If any child is nested in the context, the stored exclusive cost
 * includes that of children; the exclusive cost is then the rest of the inclusive cost.
 */
static void settle_own(const struct pmfs_columns *columns, pm_number *own, bool any_nested)
{
	for (uint32_t k = 0; k < columns->n; k++) {
		const struct pmfs_column *c = &columns->columns[k];
		if (c->role == PM_ROLE_COUNT)
			own[k] = NAN;
		else if (c->role == PM_ROLE_EXCLUSIVE && any_nested && c->pair != PM_NONE)
			own[k] = own[c->pair];
	}
}

/* Costs minus those of the children. */
static int own_numbers(struct children_rows *c, uint32_t context, struct pm_error *err)
{
	const struct pm_tree *tree = c->tree;
	pm_number *own = c->numbers, *child = c->numbers + c->columns->n;
	bool any_nested = false;
	int r = pmfs_run_cells(c->model, context, false, own, err);
	for (uint32_t i = context + 1; r == 0 && i < tree->end[context]; i = tree->end[i]) {
		r = pmfs_run_cells(c->model, i, false, child, err);
		if (r == 0)
			take_child(c->columns, own, child);
		any_nested |= pm_tree_frame(tree, i)->nested;
	}
	if (r == 0 && (r = pmfs_run_cells(c->model, context, false, child, err)) == 0)
		drop_rounding(c->columns, own, child);
	if (r == 0)
		settle_own(c->columns, own, any_nested);
	return r;
}

/* Of the primary quantity: inclusive cost, else exclusive cost. */
static struct pm_cell share_cell(const struct children_rows *c, const pm_number *numbers)
{
	uint32_t column =
		c->columns->first_incl != PM_NONE ? c->columns->first_incl : c->columns->first_excl;
	return pmfs_cell(column == PM_NONE || c->whole == 0 ? NAN : numbers[column] / c->whole);
}

/* ---- rows ---- */

static int set_entry(struct children_rows *c, uint32_t child, struct pm_cell *cell,
	struct pm_text *scratch, struct pm_error *err)
{
	const struct pmfs_entries *entries = pmfs_model_entries(c->model);
	if (!c->names) {
		pm_set_text(cell, pmfs_frame_name(c->tree, pm_tree_frame(c->tree, child), scratch));
		return 1;
	}
	if (entries->name(c->names, c->tree, child, scratch) < 0)
		return pmfs_no_memory(err);
	pm_set_text(cell, pm_text_view(scratch));
	return 1;
}

static int own_row(
	struct children_rows *c, uint32_t context, struct pm_cell *cells, struct pm_error *err)
{
	int r = own_numbers(c, context, err);
	if (r < 0)
		return r;
	*cells++ = pm_cell_u64(pm_tree_number(c->tree, context));
	cells = pmfs_number_cells(c->columns, c->numbers, cells);
	cells[0] = share_cell(c, c->numbers);
	pmfs_set_kind(&cells[1], pm_tree_frame(c->tree, context));
	cells[2] = pm_cell_str("(self)");
	return 1;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct children_rows *c = rows->own;
	uint32_t context = (uint32_t)rows->table->a, end = c->tree->end[context];
	uint32_t child = rows->at ? (uint32_t)rows->at : context + 1;
	if (child > end)
		return 0;
	rows->at = child < end ? c->tree->end[child] : (uint64_t)end + 1;
	if (child == end)
		return own_row(c, context, cells, err);
	int r = pmfs_run_cells(c->model, child, false, c->numbers, err);
	if (r == 0)
		r = pmfs_run_row(c->model, child, cells + 1, err);
	if (r < 0)
		return r;
	cells[0] = pm_cell_u64(pm_tree_number(c->tree, child));
	cells += 1 + c->columns->n_shown + c->columns->n_derived;
	cells[0] = share_cell(c, c->numbers);
	pmfs_set_kind(&cells[1], pm_tree_frame(c->tree, child));
	return set_entry(c, child, &cells[2], rows->scratch, err);
}

int pmfs_context_children_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done};
	static const char *const before[] = {"context_id", NULL};
	static const char *const after[] = {"share", "kind", "entry", NULL};
	int r = pmfs_table_with_metrics(m, &type, before, after, ret, err);
	ret->a = item;
	return r;
}
