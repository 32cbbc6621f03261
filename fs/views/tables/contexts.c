/*
 * contexts.csv: contexts with their costs over the whole run: every one of the tree, in pre-order,
 * or those of a function. A row's position is its place in that list.
 */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/functions.h"

enum { AHEAD = 16 }; /* rows whose frames are fetched from memory while others are made */

struct context_rows {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const uint8_t *categories; /* by context */
	const uint32_t *list;      /* of a function; NULL: all */
	uint32_t n;
};

/* table.a = the row of a function, table.b = is it one of a function? */
static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_functions *f;
	struct context_rows *c = calloc(1, sizeof(*c));
	if (!c)
		return pmfs_no_memory(err);
	rows->own = c;
	c->model = m;
	int r = pmfs_model_columns(m, &c->columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &c->tree, err)) < 0 ||
		(r = pmfs_categories(m, &c->categories, err)) < 0)
		return r;
	c->n = c->tree->n_contexts;
	if (!rows->table->b)
		return 0;
	uint32_t row = (uint32_t)rows->table->a;
	r = pmfs_functions(m, &f, err);
	if (r == 0) {
		c->list = f->contexts + f->first[row];
		c->n = pmfs_function_count(f, row);
	}
	return r;
}

static void set_parent(struct pm_cell *cell, const struct pm_tree *tree, uint32_t parent)
{
	if (parent == PM_NONE)
		pm_set_empty(cell);
	else
		pm_set_u64(cell, pm_tree_number(tree, parent));
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct context_rows *c = rows->own;
	const struct pm_tree *tree = c->tree;
	if (rows->at >= c->n)
		return 0;
	uint32_t context = c->list ? c->list[rows->at] : (uint32_t)rows->at;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	if (context + AHEAD < tree->n_contexts)
		__builtin_prefetch(pm_tree_frame(tree, context + AHEAD));
	int r = pmfs_run_row_with_self(c->model, context, cells + 3, err);
	if (r < 0)
		return r;
	rows->at++;
	pm_set_u64(cells++, pm_tree_number(tree, context));
	set_parent(cells++, tree, tree->parent[context]);
	pm_set_u64(cells++, tree->depth[context]);
	cells += c->columns->n_shown + c->columns->n_self + c->columns->n_derived;
	pmfs_set_known(cells++, frame->line, 0);
	*cells++ = frame->has_offset ? pm_cell_hex(frame->offset) : pm_cell_empty();
	pmfs_set_kind(cells++, frame);
	pm_set_text(cells++, pmfs_category_name(c->categories[context]));
	pm_set_lasting(cells++, tree->texts[frame->module]);
	pm_set_lasting(cells++, tree->texts[frame->file]);
	pmfs_set_name(cells, tree, frame, rows->scratch);
	return 1;
}

static int table_of(struct pmfs_model *m, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .dense = true};
	static const char *const before[] = {"context_id", "parent_id", "depth", NULL};
	static const char *const after[] = {
		"line", "offset", "kind", "category", "module", "file", "name", NULL};
	return pmfs_table_with_self(m, &type, before, after, ret, err);
}

int pmfs_contexts_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = table_of(m, ret, err);
	(void)item;
	if (r < 0 || (r = pmfs_model_tree(m, &tree, err)) < 0)
		return r;
	ret->end = tree->n_contexts;
	return 0;
}

int pmfs_function_contexts_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	int r = table_of(m, ret, err);
	ret->a = item;
	ret->b = true;
	return r;
}
