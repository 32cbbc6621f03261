/*
 * threads.csv: one row per thread with its identity, totals and times. A row's position is the
 * thread's index.
 */
#include "fs/views/sums/threads.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"

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

/* ---- the table ---- */

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
