/*
 * Threads: their totals and times; sums by rank; and the values in a thread's directory, where
 * profile.csv has the contexts of the tree with their costs on the thread, values.csv everything as
 * stored. Both are streamed: a row's position is the index of its (first) value in the thread's
 * sequence.
 */
#include "fs/views/sums/threads.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/peers.h"

/* ---- threads.csv: a row's position is the thread's index ---- */

/* The times of the first and last of n samples; PM_NO_TIME if they are not there. */
static int trace_ends(const struct pm_profile *p, uint32_t thread, uint64_t n, uint64_t ret_ns[2],
	struct pm_error *err)
{
	struct pm_sample ends[2] = {{.time_ns = PM_NO_TIME}, {.time_ns = PM_NO_TIME}};
	int64_t r = 0;
	if (p->ops->trace_ends)
		return p->ops->trace_ends(p, thread, &ret_ns[0], &ret_ns[1], err);
	for (int i = 0; i < 2 && r >= 0 && p->ops->samples; i++)
		r = p->ops->samples(p, thread, i == 0 ? 0 : n - 1, &ends[i], 1, err);
	ret_ns[0] = ends[0].time_ns;
	ret_ns[1] = ends[1].time_ns;
	return r < 0 ? (int)r : 0;
}

/* samples, first_ns, last_ns */
static int trace_cells(struct pmfs_model *m, const struct pm_threads *threads, uint32_t i,
	struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_thread *thread = &threads->threads[i];
	uint64_t origin, ends[2];
	cells[0] = cells[1] = cells[2] = pm_cell_empty();
	if (!thread->has_trace)
		return 0;
	cells[0] = pm_cell_u64(thread->n_samples);
	if (thread->n_samples == 0)
		return 0;
	int r = pmfs_time_origin(m, &origin, err);
	if (r == 0)
		r = trace_ends(pmfs_model_profile(m), i, thread->n_samples, ends, err);
	if (r < 0)
		return r;
	pmfs_set_time(&cells[1], ends[0], origin);
	pmfs_set_time(&cells[2], ends[1], origin);
	return 0;
}

/* contexts, values, and last_ns if the format provides a better one */
static int count_cells(
	struct pmfs_model *m, uint32_t thread, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_thread_counts counts = {PM_NO_TIME, PM_NO_TIME, 0};
	uint64_t origin;
	int r = p->ops->thread_counts ? p->ops->thread_counts(p, thread, &counts, err) : 0;
	pmfs_set_known(&cells[0], counts.contexts, PM_NO_TIME);
	pmfs_set_known(&cells[1], counts.values, PM_NO_TIME);
	if (r < 0 || counts.last_ns == 0)
		return r;
	r = pmfs_time_origin(m, &origin, err);
	pmfs_set_time(&cells[4], counts.last_ns, origin);
	return r;
}

static int threads_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(pmfs_model_of(rows->table->self), &columns, err);
	if (r < 0)
		return r;
	rows->own = malloc((columns->n + 1) * sizeof(pm_number));
	return rows->own ? 0 : pmfs_no_memory(err);
}

/* A thread with unreadable costs has none in the table; damage.csv lists it. */
static int row_totals(struct pmfs_model *m, uint32_t thread, const struct pmfs_columns *columns,
	pm_number *cells, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	int r = pmfs_thread_totals(m, thread, cells, &error);
	if (r >= 0)
		return 0;
	if (pm_is_passing(r))
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < columns->n; i++)
		cells[i] = NAN;
	return 0;
}

static int threads_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_threads *threads;
	const struct pmfs_columns *columns;
	const char *path;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0 || rows->at >= threads->n)
		return r;
	uint32_t i = (uint32_t)rows->at++;
	const struct pm_thread *thread = &threads->threads[i];
	if ((r = pmfs_model_columns(m, &columns, err)) < 0 ||
		(r = row_totals(m, i, columns, rows->own, err)) < 0 ||
		(r = pmfs_thread_path(m, i, &path, err)) < 0)
		return r;
	*cells++ = pm_cell_u64(thread->id);
	cells = pmfs_identity_cells(threads, i, cells);
	cells = pmfs_number_cells(columns, rows->own, cells);
	if ((r = trace_cells(m, threads, i, cells + 2, err)) < 0 ||
		(r = count_cells(m, i, cells, err)) < 0)
		return r;
	cells += 5;
	if (threads->has_files)
		*cells++ = pm_cell_text(thread->file);
	if (threads->has_processes)
		*cells++ = pm_cell_text(thread->process);
	if (threads->has_names)
		*cells++ = pm_cell_text(thread->name);
	*cells++ = pm_cell_str(path);
	return 1;
}

int pmfs_threads_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = threads_start, .next = threads_next, .dense = true};
	const char *after[10] = {"contexts", "values", "samples", "first_ns", "last_ns"};
	unsigned n = 5;
	const struct pmfs_thread_names *names;
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0 || (r = pmfs_model_thread_names(m, &names, err)) < 0)
		return r;
	if (threads->has_files)
		after[n++] = "file";
	if (threads->has_processes)
		after[n++] = "process_name";
	if (threads->has_names)
		after[n++] = "thread_name";
	after[n++] = "path";
	after[n] = NULL;
	r = pmfs_table_with_metrics(m, &type, names->before, after, ret, err);
	ret->end = threads->n;
	return r;
}

int pmfs_has_threads(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pm_profile_has(pmfs_model_profile(m), threads);
}

/* ---- ranks.csv: threads.csv summed by rank, in order of the ranks ---- */

struct rank_place {
	uint64_t number;
	uint32_t index; /* in struct pmfs_peers */
};

struct ranks {
	const struct pmfs_columns *columns;
	const struct pmfs_peers *peers;
	struct rank_place *order; /* by number */
	uint32_t *threads;        /* by index */
	pm_number *cells;         /* by index: columns->n each */
};

static int by_number(const void *a, const void *b)
{
	const struct rank_place *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

/* A thread that cannot be read has no costs, as in threads.csv. */
static void add_up(struct pm_arena *a, struct ranks *all, struct pmfs_model *m)
{
	uint32_t n = all->columns->n;
	pm_number *cells = pmfs_cells_new(a, n);
	for (uint32_t i = 0; i < all->peers->n_threads; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		uint32_t thread = all->peers->by_rank[i], rank = all->peers->rank[thread];
		if (rank == PM_NONE)
			continue;
		int r = pmfs_thread_totals(m, thread, cells, &why);
		if (pm_is_passing(r))
			pm_build_fail(a, r);
		all->threads[rank]++;
		for (uint32_t k = 0; r >= 0 && k < n; k++)
			pmfs_add(&all->cells[(size_t)rank * n + k], cells[k]);
	}
}

static void start_ranks(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct ranks *all = own;
	pm_build_check(a, pmfs_model_columns(m, &all->columns, err));
	pm_build_check(a, pmfs_peers(m, &all->peers, err));
	uint32_t n = all->peers->n_ranks;
	all->order = pm_arena_array(a, (size_t)n + 1, sizeof(*all->order));
	all->threads = pm_arena_array(a, (size_t)n + 1, sizeof(*all->threads));
	all->cells = pmfs_cells_new(a, (size_t)n * all->columns->n);
	for (uint32_t i = 0; i < n; i++)
		all->order[i] = (struct rank_place){all->peers->number_of[i], i};
	pm_build_check(a, pm_sort(all->order, n, sizeof(*all->order), by_number));
	add_up(a, all, m);
}

static int ranks_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct ranks), start_ranks, err);
}

static int ranks_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct ranks *all = rows->own;
	(void)err;
	if (rows->at >= all->peers->n_ranks)
		return 0;
	uint32_t rank = all->order[rows->at++].index;
	*cells++ = pm_cell_u64(all->peers->number_of[rank]);
	*cells++ = pm_cell_u64(all->threads[rank]);
	pmfs_number_cells(all->columns, all->cells + (size_t)rank * all->columns->n, cells);
	return 1;
}

int pmfs_ranks_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = ranks_start, .next = ranks_next, .done = pmfs_rows_done, .dense = true};
	static const char *const before[] = {"rank", "threads", NULL};
	static const char *const after[] = {NULL};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_table_with_metrics(m, &type, before, after, ret, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	ret->end = threads->n; /* at most */
	return 0;
}

/* If threads cannot be read, there is none. */
int pmfs_has_ranks(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	(void)item;
	int r = p->ops->has ? p->ops->has(p, PM_HAS_RANKS, err) : 1;
	if (r <= 0)
		return r;
	r = pmfs_model_threads(m, &threads, NULL);
	if (pm_is_passing(r))
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < threads->n_keys; i++)
		if (strcmp(threads->keys[i], "rank") == 0)
			return 1;
	return 0;
}

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

/* Adds a value to what is nested in the context's parent. */
static void add_nested(struct pm_arena *a, struct profile_rows *p, const struct pm_value *v)
{
	const struct pmfs_columns *c = p->columns;
	uint32_t column = pmfs_column_of(c, v->metric, true), k = 0;
	uint32_t context = pm_tree_find(p->tree, v->context);
	bool fresh;
	while (k < c->n_self && c->self[k].own != column)
		k++;
	if (k == c->n_self || context == PM_NONE || p->tree->parent[context] == PM_NONE ||
		!pm_tree_frame(p->tree, context)->nested)
		return;
	uint32_t *place =
		pm_map_put(&p->nested_of, p->tree->parent[context], (uint32_t)p->n_nested, &fresh);
	if (fresh)
		pm_list_grow(a, &p->nested, p->n_nested, &p->room_nested,
			c->n_self * sizeof(*p->nested));
	pm_number *at = &p->nested[*place * (size_t)c->n_self];
	for (uint32_t i = 0; fresh && i < c->n_self; i++)
		at[i] = NAN;
	p->n_nested += fresh;
	pmfs_add(&at[k], pmfs_value_number(v));
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

static void start_profile(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct profile_rows *p = own;
	const struct pm_values_of of = {PM_OF_THREAD, (uint32_t)rows->table->a, false};
	const struct pm_value *v;
	p->nested_of.arena = a;
	pm_build_check(a, pmfs_model_columns(m, &p->columns, err));
	pm_build_check(a, pmfs_model_tree(m, &p->tree, err));
	pm_build_check(a, pmfs_categories(m, &p->categories, err));
	if (p->columns->n_derived > 0)
		p->numbers = pmfs_cells_new(a, p->columns->n);
	/* Only HPCToolkit's databases have such columns: others are not read twice. */
	if (p->columns->n_self > 0) {
		p->own = pmfs_cells_new(a, p->columns->n_self);
		pmfs_values_start(&p->values, m, of, 0);
		while ((v = pmfs_values_take(a, &p->values, err)))
			add_nested(a, p, v);
	}
	pmfs_values_start(&p->values, m, of, rows->at);
	pm_build_check(a, skip_begun(p, rows, err));
}

static int profile_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct profile_rows), start_profile, err);
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
	static const struct pm_table_type type = {.start = profile_start,
		.next = profile_next,
		.done = pmfs_rows_done,
		.dense = true};
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
