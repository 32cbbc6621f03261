/*
 * Contexts with their costs over the whole run: every one of the tree, in pre-order, or those of a
 * function; and the tables of one context: its values over the whole run and on each thread, its
 * children, its costs on each thread.
 */
#include <math.h>
#include <stdlib.h>

#include "formats/common/row.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/rollups.h"

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
static int contexts_start(struct pm_rows *rows, struct pm_error *err)
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

static int contexts_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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
		.start = contexts_start, .next = contexts_next, .dense = true};
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

/* ---- metrics.csv: position = place in the list of metrics ---- */

struct metric_rows {
	const struct pm_metrics *metrics;
	uint32_t n;
	struct pm_value values[]; /* of the context, metrics->n at most */
};

static int metrics_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0)
		return r;
	struct metric_rows *own = malloc(sizeof(*own) + metrics->n * sizeof(*own->values));
	if (!own)
		return pmfs_no_memory(err);
	rows->own = own;
	own->metrics = metrics;
	int64_t n = pmfs_run_values(m, (uint32_t)rows->table->a, own->values, metrics->n, err);
	own->n = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : 0;
}

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct metric_rows *own = rows->own;
	(void)err;
	while (rows->at < own->metrics->n) {
		const struct pm_metric *metric = &own->metrics->metrics[rows->at++];
		for (uint32_t i = 0; i < own->n; i++) {
			if (own->values[i].metric != metric->id)
				continue;
			cells[0] = pm_cell_u64(metric->id);
			pmfs_set_value(&cells[1], &own->values[i]);
			cells[2] = pm_cell_text(metric->scope);
			cells[3] = pm_cell_text(metric->name);
			return 1;
		}
	}
	return 0;
}

int pmfs_context_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = metrics_start, .next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "value", "scope", "name", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "?f??";
	ret->a = item;
	return 0;
}

/* ---- values.csv: position = place in the context's sequence ---- */

static int values_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pm_values_of of = {PM_OF_CONTEXT, (uint32_t)rows->table->a, true};
	return pmfs_values_rows_start(rows, of, err);
}

static int values_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_threads *threads;
	const struct pm_value *v;
	int r = pmfs_model_threads(pmfs_model_of(rows->table->self), &threads, err);
	if (r < 0 || (r = pmfs_values_peek(rows->own, &v, err)) <= 0)
		return r;
	cells[0] = pm_cell_u64(v->metric);
	cells[1] = v->thread < threads->n ? pm_cell_u64(threads->threads[v->thread].id)
					  : pm_cell_empty();
	pmfs_set_value(&cells[2], v);
	pmfs_values_step(rows->own);
	rows->at++;
	return 1;
}

int pmfs_context_values_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = values_start, .next = values_next, .dense = true};
	static const char *const columns[] = {"metric_id", "thread_id", "value", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "??f";
	ret->a = item;
	return 0;
}

/* ---- children.csv: in the order of the tree; the last row is the exclusive cost ---- */

struct children_rows {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	double whole;
	void *names;         /* taken from the entries, or NULL */
	pm_number numbers[]; /* columns->n, and as many again */
};

static int children_start(struct pm_rows *rows, struct pm_error *err)
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

static void children_done(struct pm_rows *rows)
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
		if (pmfs_is_rounding(own[k], all[k], 1e-12))
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

static int children_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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
		.start = children_start, .next = children_next, .done = children_done};
	static const char *const before[] = {"context_id", NULL};
	static const char *const after[] = {"share", "kind", "entry", NULL};
	int r = pmfs_table_with_metrics(m, &type, before, after, ret, err);
	ret->a = item;
	return r;
}

/* ---- threads.csv ---- */

enum { BLOCK = 4096 };

struct thread_rows {
	struct pmfs_model *model;
	const struct pm_threads *threads;
	const struct pmfs_columns *columns;
	const struct pmfs_thread_names *names;
	uint64_t begin, end; /* the block; empty before the first */
	bool *seen;          /* by thread of the block */
	pm_number *numbers;  /* columns->n for each of them */
};

static void start_threads(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	struct thread_rows *t = own;
	t->model = pmfs_model_of(rows->table->self);
	pm_build_check(a, pmfs_model_columns(t->model, &t->columns, err));
	pm_build_check(a, pmfs_model_threads(t->model, &t->threads, err));
	pm_build_check(a, pmfs_model_thread_names(t->model, &t->names, err));
	size_t n = t->threads->n < BLOCK ? t->threads->n : BLOCK;
	t->seen = pm_arena_array(a, n + 1, sizeof(*t->seen));
	t->numbers = pm_arena_array(a, n * t->columns->n + 1, sizeof(*t->numbers));
}

static int threads_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct thread_rows), start_threads, err);
}

/* Reads all values of the context and keeps those of the block starting at thread `begin`. */
static int gather(struct thread_rows *t, uint32_t context, uint64_t begin, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t n = t->threads->n - begin < BLOCK ? t->threads->n - begin : BLOCK;
	int r;
	t->begin = begin;
	t->end = begin + n;
	memset(t->seen, 0, n * sizeof(*t->seen));
	for (size_t i = 0; i < n * t->columns->n; i++)
		t->numbers[i] = NAN;
	pmfs_values_start(
		&values, t->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (v->thread < t->begin || v->thread >= t->end)
			continue;
		size_t place = v->thread - t->begin;
		uint32_t column = pmfs_column_of(t->columns, v->metric, false);
		t->seen[place] = true;
		if (column != PM_NONE)
			t->numbers[place * t->columns->n + column] = pmfs_value_number(v);
	}
	return r;
}

static int threads_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct thread_rows *t = rows->own;
	for (; rows->at < t->threads->n; rows->at++) {
		if (rows->at >= t->end || rows->at < t->begin) {
			int r = gather(t, (uint32_t)rows->table->a, rows->at, err);
			if (r < 0)
				return r;
		}
		if (t->seen[rows->at - t->begin])
			break;
	}
	if (rows->at >= t->threads->n)
		return 0;
	size_t place = rows->at - t->begin;
	*cells++ = pm_cell_u64(t->threads->threads[rows->at].id);
	cells = pmfs_number_cells(t->columns, t->numbers + place * t->columns->n, cells);
	*cells++ = pm_cell_str(t->names->paths[rows->at++]);
	return 1;
}

int pmfs_context_threads_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = threads_start,
		.next = threads_next,
		.done = pmfs_rows_done,
		.dense = true};
	static const char *const before[] = {"thread_id", NULL};
	static const char *const after[] = {"path", NULL};
	const struct pm_threads *threads;
	int r = pmfs_table_with_metrics(m, &type, before, after, ret, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	ret->a = item;
	ret->end = threads->n;
	return 0;
}

/* ---- metrics/COLUMN: the number that contexts.csv has there ---- */

static int render_number(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	struct pm_cell *cells =
		calloc((size_t)columns->n_shown + columns->n_derived + 1, sizeof(*cells));
	if (!cells)
		return pmfs_no_memory(err);
	r = pmfs_run_row(m, (uint32_t)doc->text.a, cells, err);
	if (r == 0 && cells[doc->text.b].kind == PM_CELL_EMPTY)
		r = pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET, "has no such value");
	if (r == 0)
		pm_row_render(out, PM_CSV, &cells[doc->text.b], 1);
	free(cells);
	return r;
}

int pmfs_value_document(struct pmfs_model *m, uint32_t context, uint32_t column, struct pm_doc *ret)
{
	*ret = pmfs_doc_of_text(m, context, render_number);
	ret->text.b = column;
	ret->text.brief = true;
	return 0;
}
