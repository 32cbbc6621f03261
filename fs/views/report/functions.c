/* Functions: rows of the flat profile, and one function with those around it. */
#include <stdlib.h>

#include "formats/common/sort.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/flatprofile.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

/* [name, module, file, line, category, colour, contexts, [cells]] */
static void write_row(struct pmfs_report *r, const struct pmfs_functions *f,
	const struct pmfs_colours *colours, uint32_t row)
{
	const struct pmfs_function *function = pmfs_function_at(f, row);
	struct pm_bytes name = pmfs_function_name(f, row);
	pm_json_open(&r->json, '[');
	pm_json_text(&r->json, name);
	pm_json_text(&r->json, r->tree->texts[function->module]);
	pm_json_text(&r->json, r->tree->texts[function->file]);
	pm_json_u64(&r->json, function->line);
	pm_json_text(
		&r->json, pmfs_category_name((enum pmfs_category)f->category[f->function[row]]));
	pm_json_u64(&r->json, pmfs_colour_of(colours, name));
	pm_json_u64(&r->json, pmfs_function_count(f, row));
	pmfs_report_cells(r, f->cells + (size_t)row * r->columns->n);
	pm_json_close(&r->json, ']');
}

int pmfs_report_functions(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_functions *f;
	const struct pmfs_colours *colours;
	int e = pmfs_functions(r->model, &f, err);
	if (e == 0)
		e = pmfs_colours(r->model, &colours, err);
	if (e < 0)
		return e;
	uint64_t first = (uint64_t)r->n[0] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t row = first; row < end && row < f->n; row++)
		write_row(r, f, colours, (uint32_t)row);
	pm_json_close(&r->json, ']');
	return 0;
}

/* Of a thread: [row, contexts, [cells]], most expensive first. */
int pmfs_report_thread_functions(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_threads *threads;
	struct pmfs_flat_profile *t;
	int e = pmfs_model_threads(r->model, &threads, err);
	if (e < 0)
		return e;
	if (r->n[0] >= threads->n) {
		pm_json_null(&r->json);
		return 0;
	}
	e = pmfs_thread_functions(r->model, r->n[0], &t, err);
	if (e < 0)
		return e;
	uint64_t first = (uint64_t)r->n[1] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t i = first; i < end && i < t->n; i++) {
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, t->order[i]);
		pm_json_u64(&r->json, t->contexts[t->order[i]]);
		pmfs_report_cells(r, t->cells + (size_t)t->order[i] * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pmfs_flat_profile_free(t);
	return 0;
}

/* ---- one function ---- */

/* Call edges: [row of the other function, or -1; file, line, calls, [cells]]. */
static void write_calls(struct pmfs_report *r, const struct pmfs_functions *f,
	const struct pmfs_calls *calls, uint32_t function, bool callers)
{
	const uint32_t *list = callers ? calls->by_callee : calls->by_caller;
	const uint32_t *first = callers ? calls->callee_first : calls->caller_first;
	uint32_t end = first[function + 1];
	if (end - first[function] > PMFS_REPORT_ROWS)
		end = first[function] + PMFS_REPORT_ROWS;
	pm_json_key(&r->json, callers ? "callers" : "callees");
	pm_json_open(&r->json, '[');
	for (uint32_t i = first[function]; i < end; i++) {
		const struct pmfs_call_edge *call = &calls->calls[list[i]];
		uint32_t other = callers ? call->caller : call->callee;
		uint32_t row = other == PM_NONE ? PM_NONE : f->row[other];
		pm_json_open(&r->json, '[');
		pm_json_i64(&r->json, row == PM_NONE ? -1 : (int64_t)row);
		pm_json_text(&r->json, r->tree->texts[call->file]);
		pm_json_u64(&r->json, call->line);
		if (call->calls == PMFS_UNCOUNTED)
			pm_json_null(&r->json);
		else
			pm_json_u64(&r->json, call->calls);
		pmfs_report_cells(r, calls->cells + (size_t)list[i] * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

struct instance {
	double value;
	uint32_t context;
};

static int compare_instances(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->context > y->context) - (x->context < y->context);
}

/*
 * The functions of the contexts above a context, from the innermost on, as rows; at most
 * PM_LIMIT_STACK_LEVELS levels. Parts of a function count as the function.
 */
static void write_path(struct pmfs_report *r, const struct pmfs_functions *f, uint32_t context)
{
	uint32_t last = pmfs_function_of(f->identity, context), levels = PM_LIMIT_STACK_LEVELS;
	pm_json_open(&r->json, '[');
	for (uint32_t i = r->tree->parent[context]; i != PM_NONE && levels-- > 0;
		i = r->tree->parent[i]) {
		uint32_t function = pmfs_function_of(f->identity, i);
		if (pmfs_is_call(f->identity, i) ||
			(function != last && r->tree->parent[i] == PM_NONE))
			pm_json_i64(&r->json,
				f->row[function] == PM_NONE ? -1 : (int64_t)f->row[function]);
		last = function;
	}
	pm_json_close(&r->json, ']');
}

/*
 * The most expensive contexts of a function with their callers, of which the page makes a bottom-up
 * tree.
 */
static int write_instances(
	struct pmfs_report *r, const struct pmfs_functions *f, uint32_t row, struct pm_error *err)
{
	uint32_t n = pmfs_function_count(f, row), column = pmfs_leading_column(r->columns);
	const uint32_t *contexts = f->contexts + f->first[row];
	struct instance *list = malloc(((size_t)n + 1) * sizeof(*list));
	double *cells = pmfs_cells_new(r->columns->n);
	int e = list && cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = 0; e == 0 && i < n; i++) {
		e = pmfs_run_cells(r->model, contexts[i], true, cells, err);
		list[i] = (struct instance){
			column != PM_NONE && cells[column] > 0 ? cells[column] : 0, contexts[i]};
	}
	if (e == 0 && pm_sort(list, n, sizeof(*list), compare_instances) < 0)
		e = pmfs_no_memory(err);
	if (e == 0) {
		pm_json_key(&r->json, "instances");
		pm_json_open(&r->json, '[');
	}
	for (uint32_t i = 0; e == 0 && i < n && i < PMFS_REPORT_INSTANCES; i++) {
		e = pmfs_run_cells(r->model, list[i].context, true, cells, err);
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, list[i].context);
		pm_json_bool(&r->json, pmfs_is_outer(f->identity, list[i].context));
		pmfs_report_cells(r, cells);
		write_path(r, f, list[i].context);
		pm_json_close(&r->json, ']');
	}
	if (e == 0)
		pm_json_close(&r->json, ']');
	free(cells);
	free(list);
	return e;
}

/* The durations of its calls: [p50, p90, p99, max] in ns, or null. */
static int write_times(struct pmfs_report *r, uint32_t function, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(r->model);
	const struct pm_call_times *times;
	int timed = pmfs_functions_are_timed(r->model, err);
	int e = timed > 0 ? p->ops->call_times(p, &times, err) : timed;
	if (e < 0)
		return e;
	pm_json_key(&r->json, "times");
	if (timed == 0 || function >= r->tree->n_functions || !times[function].known) {
		pm_json_null(&r->json);
		return 0;
	}
	const struct pm_call_times *t = &times[function];
	const uint64_t values[] = {t->p50_ns, t->p90_ns, t->p99_ns, t->max_ns};
	pm_json_open(&r->json, '[');
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		pm_json_u64(&r->json, values[i]);
	pm_json_close(&r->json, ']');
	return 0;
}

int pmfs_report_function(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_functions *f;
	const struct pmfs_calls *calls;
	const struct pmfs_colours *colours;
	uint32_t row = r->n[0];
	int e = pmfs_functions(r->model, &f, err);
	if (e == 0)
		e = pmfs_calls(r->model, &calls, err);
	if (e == 0)
		e = pmfs_colours(r->model, &colours, err);
	if (e < 0)
		return e;
	if (row >= f->n) {
		pm_json_null(&r->json);
		return 0;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "row");
	write_row(r, f, colours, row);
	write_calls(r, f, calls, f->function[row], true);
	write_calls(r, f, calls, f->function[row], false);
	e = write_times(r, f->function[row], err);
	if (e == 0)
		e = write_instances(r, f, row, err);
	pm_json_close(&r->json, '}');
	return e;
}
