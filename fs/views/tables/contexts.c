/*
 * contexts.csv: every context of the tree with its costs over the whole run, in pre-order. A row's
 * position is the context's index.
 */
#include "fs/views/tables/contexts.h"

#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"

enum { AHEAD = 16 }; /* rows whose frames are fetched from memory while others are made */

int pmfs_context_rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_columns *columns;
	const struct pm_tree *tree;
	const uint8_t *categories;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &tree, err)) < 0 ||
		(r = pmfs_categories(m, &categories, err)) < 0)
		return r;
	struct pmfs_context_rows *c = malloc(sizeof(*c));
	if (!c)
		return pmfs_no_memory(err);
	c->model = m;
	c->tree = tree;
	c->columns = columns;
	c->categories = categories;
	rows->own = c;
	return 0;
}

static void set_parent(struct pm_cell *cell, const struct pm_tree *tree, uint32_t parent)
{
	if (parent == PM_NONE)
		pm_set_empty(cell);
	else
		pm_set_u64(cell, pm_tree_number(tree, parent));
}

int pmfs_context_row(struct pmfs_context_rows *c, uint32_t context, struct pm_cell *cells,
	struct pm_text *scratch, struct pm_error *err)
{
	const struct pm_tree *tree = c->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	if (context + AHEAD < tree->n_contexts)
		__builtin_prefetch(pm_tree_frame(tree, context + AHEAD));
	int r = pmfs_run_row_with_self(c->model, context, cells + 3, err);
	if (r < 0)
		return r;
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
	pmfs_set_name(cells, tree, frame, scratch);
	return 1;
}

int pmfs_context_table(struct pmfs_model *m, const struct pm_table_type *type, struct pm_table *ret,
	struct pm_error *err)
{
	static const char *const before[] = {"context_id", "parent_id", "depth", NULL};
	static const char *const after[] = {
		"line", "offset", "kind", "category", "module", "file", "name", NULL};
	return pmfs_table_with_self(m, type, before, after, ret, err);
}

/* ---- contexts.csv ---- */

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_context_rows *c = rows->own;
	if (rows->at >= c->tree->n_contexts)
		return 0;
	return pmfs_context_row(c, (uint32_t)rows->at++, cells, rows->scratch, err);
}

static const struct pm_table_type contexts_type = {
	.start = pmfs_context_rows_start,
	.next = rows_next,
	.dense = true,
};

int pmfs_contexts_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_context_table(m, &contexts_type, ret, err);
	(void)item;
	if (r < 0 || (r = pmfs_model_tree(m, &tree, err)) < 0)
		return r;
	ret->end = tree->n_contexts;
	return 0;
}
