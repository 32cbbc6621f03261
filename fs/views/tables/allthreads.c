/*
 * profiles.parquet and timeline.parquet: the profiles and the traces of all threads, one thread
 * after the other, each row with its thread. Made of the tables of the threads. The rows of a
 * thread end where it cannot be read (its own files give errors, and damage.csv has the reason);
 * the other threads follow. Where the size of the file was laid out (fs/document/layout.h), the
 * number of rows is fixed: rows that cannot be read then contain only the thread. What all threads
 * need, such as the tree, must be readable.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/common/search.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"
#include "fs/views/tables/trace.h"

/* A position is the place among all samples, or, of profiles, the thread and the place in it. */
enum { PLACE_BITS = 40 };

enum {
	PIECES = 16,   /* of profiles: what one processor takes at a time */
	FEW = 1 << 18, /* fewer rows are not divided */
};

struct all_rows {
	struct pmfs_model *model;
	const struct pm_threads *threads;
	uint64_t *first; /* of samples: before each thread; NULL: of profiles */
	pmfs_table_fn *table_of;
	uint32_t thread;
	bool is_open;
	struct pm_table table; /* of the thread, while it is open */
	struct pm_rows rows;
};

static void thread_close(struct all_rows *a)
{
	if (a->is_open)
		pm_rows_done(&a->rows);
	a->is_open = false;
}

static void all_done(struct pm_rows *rows)
{
	struct all_rows *a = rows->own;
	thread_close(a);
	free(a->first);
	free(a);
}

static int thread_open(struct all_rows *a, uint64_t at, struct pm_error *err)
{
	int r = a->table_of(a->model, a->thread, &a->table, err);
	if (r < 0)
		return r;
	a->is_open = true;
	return pm_rows_start(&a->rows, &a->table, at, err);
}

/* The same at the start; an unreadable thread is then handled by the first row. */
static int thread_try(struct all_rows *a, uint64_t at, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = thread_open(a, at, &why);
	if (pmfs_is_unreadable(r)) {
		thread_close(a);
		a->thread++;
	}
	return pmfs_unless_unreadable(r, &why, err);
}

static int all_start(struct pm_rows *rows, pmfs_table_fn *table_of, struct pm_error *err)
{
	struct all_rows *a = calloc(1, sizeof(*a));
	if (!a)
		return pmfs_no_memory(err);
	rows->own = a;
	a->model = pmfs_model_of(rows->table->self);
	a->table_of = table_of;
	return pmfs_model_threads(a->model, &a->threads, err);
}

static int profiles_start(struct pm_rows *rows, struct pm_error *err)
{
	int r = all_start(rows, pmfs_thread_profile_table, err);
	if (r < 0)
		return r;
	struct all_rows *a = rows->own;
	const struct pm_tree *tree;
	const uint8_t *categories;
	if ((r = pmfs_model_tree(a->model, &tree, err)) < 0 ||
		(r = pmfs_categories(a->model, &categories, err)) < 0)
		return r;
	a->thread = (uint32_t)(rows->at >> PLACE_BITS);
	uint64_t at = rows->at & (((uint64_t)1 << PLACE_BITS) - 1);
	return a->thread < a->threads->n ? thread_try(a, at, err) : 0;
}

/* Positions are divided among processors if there may be many rows. */
static int profiles_end(const struct pm_table *table, uint64_t *ret, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	int r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	bool few = (uint64_t)threads->n * tree->n_contexts <= FEW;
	*ret = few ? 0 : (uint64_t)threads->n << PLACE_BITS;
	return 0;
}

static int timeline_start(struct pm_rows *rows, struct pm_error *err)
{
	int r = all_start(rows, pmfs_trace_table, err);
	if (r < 0)
		return r;
	struct all_rows *a = rows->own;
	if ((r = pmfs_trace_prepare(a->model, err)) < 0)
		return r;
	uint32_t n = a->threads->n;
	a->first = malloc(((size_t)n + 1) * sizeof(*a->first));
	if (!a->first)
		return pmfs_no_memory(err);
	a->first[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		a->first[i + 1] = a->first[i] + a->threads->threads[i].n_samples;
	a->thread = PM_LOWER_BOUND(i, 0, n, a->first[i + 1] <= rows->at);
	return a->thread < n ? thread_try(a, rows->at - a->first[a->thread], err) : 0;
}

static uint64_t position(const struct all_rows *a, uint64_t place)
{
	return a->first ? a->first[a->thread] + place : (uint64_t)a->thread << PLACE_BITS | place;
}

/* The next row of the thread; 0 at its end, which is also where it cannot be read. */
static int thread_next(struct all_rows *a, struct pm_cell *cells, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = a->is_open ? 0 : thread_open(a, 0, &why);
	if (r >= 0)
		r = pm_rows_next(&a->rows, cells, &why);
	return pmfs_unless_unreadable(r, &why, err);
}

static int all_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct all_rows *a = rows->own;
	while (a->thread < a->threads->n) {
		int r = thread_next(a, cells + 1, err);
		if (r < 0)
			return r;
		if (r > 0) {
			pm_set_u64(cells, a->threads->threads[a->thread].id);
			rows->row = position(a, a->rows.row);
			rows->at = position(a, a->rows.at);
			return 1;
		}
		thread_close(a);
		a->thread++;
		rows->at = position(a, 0);
	}
	return 0;
}

int pmfs_profiles_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = profiles_start,
		.next = all_next,
		.done = all_done,
		.end = profiles_end,
		.dense = true};
	static const char *const before[] = {"thread_id", "context_id", NULL};
	static const char *const after[] = {"line", "kind", "category", "file", "name", NULL};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_table_with_self(m, &type, before, after, ret, err);
	if (r == 0)
		ret->piece = ((uint64_t)threads->n + PIECES - 1) / PIECES << PLACE_BITS;
	return r;
}

static int timeline_texts(
	const struct pm_table *table, pm_text_fn *each, void *context, struct pm_error *err)
{
	return pmfs_trace_texts(pmfs_model_of(table->self), 1, each, context, err);
}

/* The rows of a thread's trace among rows of all. */
struct part {
	uint64_t from, to;
	uint64_t end; /* of the thread, among those of all; 0 before the first */
};

/* The part of the next thread: false if there is none. */
static bool next_part(const struct pm_thread *thread, uint64_t from, uint64_t to, struct part *part)
{
	uint64_t first = part->end;
	part->end += thread->n_samples;
	part->from = from > first ? from - first : 0;
	part->to = (to < part->end ? to : part->end) - first;
	return part->from < part->to;
}

/* What cannot be read is empty, but for the thread. */
static int add_thread(struct pmfs_model *m, uint32_t thread, uint64_t id, const struct part *part,
	struct pm_strip *strips, uint32_t n_columns, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	uint64_t n = part->to - part->from;
	bool wanted = false;
	for (uint32_t c = 0; c < n_columns; c++) {
		if (!strips[c].values)
			continue;
		wanted |= c > 0;
		for (uint64_t i = 0; i < n; i++)
			strips[c].values[i] = c > 0 ? 0 : (int64_t)id;
		memset(strips[c].known, c == 0, n);
	}
	int r = wanted ? pmfs_trace_strips(m, thread, part->from, part->to, strips + 1, &why) : 0;
	pmfs_strips_advance(strips, n_columns, n);
	return pmfs_unless_unreadable(r, &why, err);
}

static int timeline_strips(const struct pm_table *table, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	struct pm_strip rest[1 + PMFS_TRACE_COLUMNS];
	const struct pm_threads *threads;
	struct part part = {.end = 0};
	int r = pmfs_model_threads(m, &threads, err);
	memcpy(rest, strips, table->n_columns * sizeof(*rest));
	for (uint32_t i = 0; r == 0 && i < threads->n && part.end < to; i++)
		if (next_part(&threads->threads[i], from, to, &part))
			r = add_thread(
				m, i, threads->threads[i].id, &part, rest, table->n_columns, err);
	return r;
}

static int timeline_bounds(const struct pm_table *table, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	const struct pm_threads *threads;
	struct part part = {.end = 0};
	int r = pmfs_model_threads(m, &threads, err);
	for (uint32_t i = 0; r == 0 && i < threads->n && part.end < to; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		if (!next_part(&threads->threads[i], from, to, &part))
			continue;
		pmfs_widen(least, greatest, (int64_t)threads->threads[i].id);
		r = pmfs_trace_bounds(m, i, part.from, part.to, least + 1, greatest + 1, &why);
		r = pmfs_unless_unreadable(r, &why, err);
	}
	return r;
}

int pmfs_timeline_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = timeline_start,
		.next = all_next,
		.done = all_done,
		.texts = timeline_texts,
		.strips = timeline_strips,
		.bounds = timeline_bounds,
		.dense = true};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = &type, .self = m};
	pmfs_trace_set_columns(m, ret);
	for (uint32_t i = 0; i < threads->n; i++)
		ret->end += threads->threads[i].n_samples;
	return 0;
}
