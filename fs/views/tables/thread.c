/*
 * Values in a thread's directory: profile.csv has the contexts of the tree with their costs on the
 * thread, values.csv everything as stored. Both are streamed: a row's position is the index of its
 * (first) value in the thread's sequence.
 */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
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
};

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
	struct profile_rows *p = malloc(sizeof(*p));
	if (!p)
		return pmfs_no_memory(err);
	rows->own = p;
	int r = pmfs_model_columns(m, &p->columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &p->tree, err)) < 0 ||
		(r = pmfs_categories(m, &p->categories, err)) < 0)
		return r;
	struct pm_values_of of = {PM_OF_THREAD, (uint32_t)rows->table->a, false};
	pmfs_values_start(&p->values, m, of, rows->at);
	return skip_begun(p, rows, err);
}

/*
 * Takes the values of the next context that is in the tree, as cells, one a column: 1, 0 at the
 * end, or an error.
 */
static int next_context(
	struct profile_rows *p, struct pm_cell *cells, uint32_t *ret, struct pm_error *err)
{
	const struct pm_value *v;
	uint32_t context = PM_NONE;
	int r = pmfs_values_peek(&p->values, &v, err);
	while (r > 0 && context == PM_NONE) {
		uint64_t number = v->context;
		context = pm_tree_find(p->tree, number);
		for (uint32_t i = 0; i < p->columns->n + p->columns->n_self; i++)
			pm_set_empty(&cells[i]);
		do {
			uint32_t column = pmfs_place_of(p->columns, v->metric);
			if (column != PM_NONE)
				pmfs_set_value(&cells[column], v);
			pmfs_values_step(&p->values);
			r = pmfs_values_peek(&p->values, &v, err);
		} while (r > 0 && v->context == number);
	}
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
	cells += 1 + p->columns->n + p->columns->n_self;
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
		.start = profile_start, .next = profile_next, .dense = true};
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
