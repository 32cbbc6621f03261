/*
 * threads.csv of a context: its costs on each thread. The format may return the values in any
 * order, so they are collected for a block of threads at a time: memory is bounded, and few
 * profiles have more threads than a block. A row's position is the thread's index.
 */
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"

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

static void rows_done(struct pm_rows *rows)
{
	struct thread_rows *t = rows->own;
	free(t->seen);
	free(t->numbers);
	free(t);
}

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct thread_rows *t = calloc(1, sizeof(*t));
	if (!t)
		return pmfs_no_memory(err);
	rows->own = t;
	t->model = pmfs_model_of(rows->table->self);
	int r = pmfs_model_columns(t->model, &t->columns, err);
	if (r < 0 || (r = pmfs_model_threads(t->model, &t->threads, err)) < 0 ||
		(r = pmfs_model_thread_names(t->model, &t->names, err)) < 0)
		return r;
	size_t n = t->threads->n < BLOCK ? t->threads->n : BLOCK;
	t->seen = calloc(n + 1, sizeof(*t->seen));
	t->numbers = calloc(n * t->columns->n + 1, sizeof(*t->numbers));
	return t->seen && t->numbers ? 0 : pmfs_no_memory(err);
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

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done, .dense = true};
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
