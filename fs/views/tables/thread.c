/*
 * Values in a thread's directory: profile.csv has the contexts of the tree with their costs on the
 * thread, values.csv everything as stored. Both are streamed: a row's position is the index of its
 * (first) value in the thread's sequence.
 */
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"

/* The number of stored values of the thread, or 0 if unknown. */
static int count_values(
	const struct pm_profile *p, uint32_t thread, uint64_t *ret, struct pm_error *err)
{
	struct pm_thread_counts counts = {PM_NO_TIME, PM_NO_TIME};
	int r = p->ops->thread_counts ? p->ops->thread_counts(p, thread, &counts, err) : 0;
	*ret = counts.values == PM_NO_TIME ? 0 : counts.values;
	return r;
}

/* ---- profile.csv ---- */

struct profile_rows {
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const uint8_t *categories; /* by context */
	struct pmfs_values values;
	/* For _self columns: what is nested in contexts, n_self each, by their place. */
	struct pm_map nested_of; /* context → place */
	pm_number *nested;
	size_t n_nested, room_nested;
	pm_number *own;     /* of the context at hand, n_self */
	pm_number *numbers; /* the same, of all columns; NULL if nothing is derived from them */
};

static void profile_done(struct pm_rows *rows)
{
	struct profile_rows *p = rows->own;
	if (!p)
		return;
	pm_map_done(&p->nested_of);
	free(p->nested);
	free(p->own);
	free(p->numbers);
	free(p);
}

/* Adds a value to what is nested in the context's parent. */
static int add_nested(struct profile_rows *p, const struct pm_value *v)
{
	const struct pmfs_columns *c = p->columns;
	uint32_t column = pmfs_column_of(c, v->metric, true), k = 0;
	uint32_t context = pm_tree_find(p->tree, v->context);
	bool fresh;
	while (k < c->n_self && c->self[k].own != column)
		k++;
	if (k == c->n_self || context == PM_NONE || p->tree->parent[context] == PM_NONE ||
		!pm_tree_frame(p->tree, context)->nested)
		return 0;
	uint32_t *place =
		pm_map_put(&p->nested_of, p->tree->parent[context], (uint32_t)p->n_nested, &fresh);
	if (!place ||
		(fresh &&
			pm_list_room(&p->nested, p->n_nested, &p->room_nested,
				c->n_self * sizeof(*p->nested)) < 0))
		return -ENOMEM;
	pm_number *at = &p->nested[*place * (size_t)c->n_self];
	for (uint32_t i = 0; fresh && i < c->n_self; i++)
		at[i] = NAN;
	p->n_nested += fresh;
	pmfs_add(&at[k], pmfs_value_number(v));
	return 0;
}

/* Only HPCToolkit's databases have such columns: others are not read twice. */
static int find_nested(
	struct profile_rows *p, struct pmfs_model *m, struct pm_values_of of, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	int r = 0;
	if (p->columns->n_self == 0)
		return 0;
	p->own = pmfs_cells_new(NULL, p->columns->n_self);
	if (!p->own)
		return pmfs_no_memory(err);
	pmfs_values_start(&values, m, of, 0);
	while ((r = pmfs_values_peek(&values, &v, err)) > 0) {
		if (add_nested(p, v) < 0)
			return pmfs_no_memory(err);
		pmfs_values_step(&values);
	}
	return r;
}

/* A position in the middle of a context's values means the next context. */
static int skip_begun(struct profile_rows *p, const struct pm_rows *rows, struct pm_error *err)
{
	const struct pm_profile *profile = pmfs_model_profile(p->values.model);
	const struct pm_value *v;
	struct pm_value before;
	int r;
	if (rows->at == 0)
		return 0;
	int64_t n = profile->ops->values(profile, p->values.of, rows->at - 1, &before, 1, err);
	if (n <= 0)
		return (int)n;
	for (; (r = pmfs_values_peek(&p->values, &v, err)) > 0; pmfs_values_step(&p->values))
		if (v->context != before.context)
			return 0;
	return r;
}

static int profile_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct profile_rows *p = calloc(1, sizeof(*p));
	if (!p)
		return pmfs_no_memory(err);
	rows->own = p;
	int r = pmfs_model_columns(m, &p->columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &p->tree, err)) < 0 ||
		(r = pmfs_categories(m, &p->categories, err)) < 0)
		return r;
	if (p->columns->n_derived > 0 && !(p->numbers = pmfs_cells_new(NULL, p->columns->n)))
		return pmfs_no_memory(err);
	struct pm_values_of of = {PM_OF_THREAD, (uint32_t)rows->table->a, false};
	r = find_nested(p, m, of, err);
	if (r < 0)
		return r;
	pmfs_values_start(&p->values, m, of, rows->at);
	return skip_begun(p, rows, err);
}

static void note_own(struct profile_rows *p, const struct pm_value *v)
{
	uint32_t column = pmfs_column_of(p->columns, v->metric, true);
	for (uint32_t k = 0; k < p->columns->n_self; k++)
		if (p->columns->self[k].own == column)
			p->own[k] = pmfs_value_number(v);
}

static void set_selfs(struct profile_rows *p, uint32_t context, struct pm_cell *cells)
{
	uint32_t n = p->columns->n_self;
	const uint32_t *place = n ? pm_map_find(&p->nested_of, context) : NULL;
	for (uint32_t k = 0; k < n; k++) {
		pmfs_set_self(
			&cells[k], p->own[k], place ? p->nested[*place * (size_t)n + k] : NAN);
		p->own[k] = NAN;
	}
}

/*
 * Takes the values of the next context that is in the tree, as cells, one a column: 1, 0 at the
 * end, or an error.
 */
static int next_context(
	struct profile_rows *p, struct pm_cell *cells, uint32_t *ret, struct pm_error *err)
{
	const struct pmfs_columns *c = p->columns;
	const struct pm_value *v;
	uint32_t context = PM_NONE;
	int r = pmfs_values_peek(&p->values, &v, err);
	while (r > 0 && context == PM_NONE) {
		uint64_t number = v->context;
		context = pm_tree_find(p->tree, number);
		for (uint32_t i = 0; i < c->n_shown + c->n_self; i++)
			pm_set_empty(&cells[i]);
		for (uint32_t i = 0; p->numbers && i < c->n; i++)
			p->numbers[i] = NAN;
		do {
			uint32_t column = pmfs_place_of(c, v->metric);
			uint32_t place = pmfs_shown_place(c, column);
			if (place != PM_NONE)
				pmfs_set_value(&cells[place], v);
			if (p->numbers && column < c->n)
				p->numbers[column] = pmfs_value_number(v);
			note_own(p, v);
			pmfs_values_step(&p->values);
			r = pmfs_values_peek(&p->values, &v, err);
		} while (r > 0 && v->context == number);
		set_selfs(p, context, cells + c->n_shown);
	}
	if (r >= 0 && context != PM_NONE)
		pmfs_derived_cells(c, p->numbers, cells + c->n_shown + c->n_self);
	*ret = context;
	return r < 0 ? r : context != PM_NONE;
}

static int profile_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct profile_rows *p = rows->own;
	uint32_t context;
	int r = next_context(p, cells + 1, &context, err);
	if (r <= 0)
		return r;
	rows->at = p->values.at;
	const struct pm_frame *frame = pm_tree_frame(p->tree, context);
	pm_set_u64(cells, pm_tree_number(p->tree, context));
	cells += 1 + p->columns->n_shown + p->columns->n_self + p->columns->n_derived;
	pmfs_set_known(&cells[0], frame->line, 0);
	pmfs_set_kind(&cells[1], frame);
	pm_set_text(&cells[2], pmfs_category_name(p->categories[context]));
	pm_set_lasting(&cells[3], p->tree->texts[frame->file]);
	pmfs_set_name(&cells[4], p->tree, frame, rows->scratch);
	return 1;
}

int pmfs_thread_profile_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = profile_start, .next = profile_next, .done = profile_done, .dense = true};
	static const char *const before[] = {"context_id", NULL};
	static const char *const after[] = {"line", "kind", "category", "file", "name", NULL};
	const struct pm_profile *p = pmfs_model_profile(m);
	int r = pmfs_table_with_self(m, &type, before, after, ret, err);
	ret->a = item;
	if (r < 0 || p->stores_values) /* counts are of stored values, not of costs */
		return r;
	return count_values(p, item, &ret->end, err);
}

/* ---- values.csv ---- */

static int values_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pm_values_of of = {PM_OF_THREAD, (uint32_t)rows->table->a, true};
	return pmfs_values_rows_start(rows, of, err);
}

static int values_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_value *v;
	int r = pmfs_values_peek(rows->own, &v, err);
	if (r <= 0)
		return r;
	pm_set_u64(&cells[0], v->context);
	pm_set_u64(&cells[1], v->metric);
	pmfs_set_value(&cells[2], v);
	pmfs_values_step(rows->own);
	rows->at++;
	return 1;
}

int pmfs_thread_values_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = values_start, .next = values_next, .dense = true};
	static const char *const columns[] = {"context_id", "metric_id", "value", NULL};
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "??f";
	ret->a = item;
	return count_values(pmfs_model_profile(m), item, &ret->end, err);
}
