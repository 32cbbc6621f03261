/* Threads: their identities, and the costs of a context on each of them. */
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/threadnames.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/flatprofile.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/threads.h"

static int get_threads(struct pmfs_report *r, const struct pm_threads **ret, struct pm_error *err)
{
	*ret = NULL;
	return pmfs_model_threads(r->model, ret, err);
}

/* [id, path, [[key, value] …], samples, name of the thread, and of its process] */
static void write_thread(
	struct pmfs_report *r, const struct pm_threads *threads, const char *path, uint32_t thread)
{
	const struct pm_thread *t = &threads->threads[thread];
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, t->id);
	pm_json_str(&r->json, path);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->n_identity; i++) {
		pm_json_open(&r->json, '[');
		pm_json_str(&r->json, threads->keys[t->identity[i].key]);
		pm_json_i64(&r->json, (int64_t)t->identity[i].value);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_u64(&r->json, t->n_samples);
	pm_json_text(&r->json, t->name);
	pm_json_text(&r->json, t->process);
	pm_json_close(&r->json, ']');
}

int pmfs_report_threads(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_threads *threads;
	const struct pmfs_thread_names *names;
	int e = get_threads(r, &threads, err);
	if (e == 0)
		e = pmfs_model_thread_names(r->model, &names, err);
	if (e < 0)
		return e;
	uint64_t first = (uint64_t)r->n[0] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t i = first; i < end && i < threads->n; i++)
		write_thread(r, threads, names->paths[i], (uint32_t)i);
	pm_json_close(&r->json, ']');
	return 0;
}

/* ---- costs ---- */

static int take_totals(struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column,
	double *costs, struct pm_error *err)
{
	(void)of;
	double *cells = pmfs_cells_new(r->columns->n);
	int e = cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = 0; e == 0 && i < n; i++) {
		e = pmfs_thread_totals(r->model, i, cells, err);
		costs[i] = cells[column];
	}
	free(cells);
	return e;
}

static int take_context(struct pmfs_report *r, uint32_t context, uint32_t n, uint32_t column,
	double *costs, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	int e;
	pmfs_values_start(
		&values, r->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (e = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values))
		if (v->thread < n && pmfs_column_of(r->columns, v->metric, false) == column)
			costs[v->thread] = pmfs_value_number(v);
	return e;
}

/* The function's cells of each thread's functions.csv, where values are cheap by thread. */
static int take_by_thread(struct pmfs_report *r, uint32_t row, uint32_t n, uint32_t column,
	double *costs, struct pm_error *err)
{
	struct pmfs_flat_profile *t;
	int e = 0;
	for (uint32_t i = 0; e == 0 && i < n; i++) {
		e = pm_work_cancelled() ? pmfs_no_memory(err)
					: pmfs_thread_functions(r->model, i, &t, err);
		if (e < 0)
			break;
		if (t->contexts[row] > 0)
			costs[i] = t->cells[(size_t)row * r->columns->n + column];
		pmfs_flat_profile_free(t);
	}
	return e;
}

/* The same where they are cheap by context. */
static int take_function(struct pmfs_report *r, uint32_t row, uint32_t n, uint32_t column,
	double *costs, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int e = pmfs_functions(r->model, &f, err);
	if (e < 0)
		return e;
	if (r->profile->costs_by_thread)
		return take_by_thread(r, row, n, column, costs, err);
	enum pm_role role = r->columns->columns[column].role;
	uint32_t function = f->function[row];
	for (uint32_t i = 0; e >= 0 && i < r->tree->n_contexts; i++) {
		struct pmfs_share share = pmfs_function_share(f->identity, i);
		double sign = share.row == function ? 1 : -1;
		struct pmfs_values values;
		const struct pm_value *v;
		bool above = share.nested && share.above == function;
		if (role == PM_ROLE_EXCLUSIVE ? above == (share.row == function)
					      : share.row != function)
			continue;
		if (role == PM_ROLE_INCLUSIVE && !(share.counts && share.outer))
			continue;
		pmfs_values_start(
			&values, r->model, (struct pm_values_of){PM_OF_CONTEXT, i, false}, 0);
		for (; (e = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values))
			if (v->thread < n && pmfs_column_of(r->columns, v->metric, true) == column)
				pmfs_add(&costs[v->thread], sign * pmfs_value_number(v));
	}
	return e;
}

/* By thread: a number, or null where the thread has none; null if there is no such thing. */
static int write_costs(struct pmfs_report *r, bool exists,
	int (*take)(struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column, double *costs,
		struct pm_error *err),
	uint32_t of, struct pm_error *err)
{
	const struct pm_threads *threads;
	int e = get_threads(r, &threads, err);
	if (e < 0)
		return e;
	if (!exists || r->n[1] >= r->columns->n || !r->profile->ops->threads) {
		pm_json_null(&r->json);
		return 0;
	}
	double *costs = pmfs_cells_new(threads->n);
	if (!costs)
		return pmfs_no_memory(err);
	e = take(r, of, threads->n, r->n[1], costs, err);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; e == 0 && i < threads->n; i++)
		pm_json_f64(&r->json, costs[i]);
	pm_json_close(&r->json, ']');
	free(costs);
	return e;
}

int pmfs_report_costs(struct pmfs_report *r, struct pm_error *err)
{
	uint32_t of = r->n[0];
	return write_costs(r, of <= r->tree->n_contexts, of == 0 ? take_totals : take_context,
		of - (of > 0), err);
}

int pmfs_report_function_costs(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int e = pmfs_functions(r->model, &f, err);
	return e < 0 ? e : write_costs(r, r->n[0] < f->n, take_function, r->n[0], err);
}
