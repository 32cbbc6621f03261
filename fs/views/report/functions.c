/* Functions: rows of the flat profile, and one function with those around it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"

/* [row, name, module, file, line, category, colour, contexts, [cells], number of the file, nothing
 * runs in it] */
static void write_row(struct pmfs_report *r, const struct pmfs_functions *f,
	const struct pmfs_colours *colours, uint32_t row)
{
	const struct pmfs_function *function = pmfs_function_at(f, row);
	struct pm_bytes name = pmfs_function_name(f, row);
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, row);
	pm_json_text(&r->json, name);
	pm_json_text(&r->json, r->tree->texts[function->module]);
	pm_json_text(&r->json, r->tree->texts[function->file]);
	pm_json_u64(&r->json, function->line);
	pm_json_text(
		&r->json, pmfs_category_name((enum pmfs_category)f->category[f->function[row]]));
	pm_json_u64(&r->json, pmfs_colour_of(colours, name));
	pm_json_u64(&r->json, pmfs_function_count(f, row));
	pmfs_report_cells(r, f->cells + (size_t)row * r->columns->n);
	pm_json_u64(&r->json, function->file);
	pm_json_bool(&r->json, pmfs_function_is_nothing(f, row));
	pm_json_close(&r->json, ']');
}

struct placed {
	double value;
	struct pm_bytes name;
	uint32_t row;
};

static int greatest_first(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int by_name(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = pm_bytes_compare(x->name, y->name);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/*
 * Rows by a column of the page, the greatest first: costs, derived columns, and behind those the
 * name, the least first.
 */
static const uint32_t *order_by(struct pmfs_report *r, const struct pmfs_functions *f, uint32_t by)
{
	const struct pmfs_columns *c = r->columns;
	if (by < c->n_shown)
		return pmfs_order(r->a, f->cells, f->n, c->n, by);
	uint32_t derived = by - c->n_shown;
	bool named = derived >= c->n_derived;
	struct placed *placed = pm_arena_array(r->a, (size_t)f->n + 1, sizeof(*placed));
	uint32_t *order = pm_arena_array(r->a, (size_t)f->n + 1, sizeof(*order));
	for (uint32_t i = 0; i < f->n; i++) {
		placed[i] = (struct placed){-INFINITY, pmfs_function_name(f, i), i};
		if (named)
			continue;
		pmfs_derived_cells(c, f->cells + (size_t)i * c->n, r->derived);
		if (r->derived[derived].kind != PM_CELL_EMPTY)
			placed[i].value = pmfs_cell_number(&r->derived[derived]);
	}
	pmfs_report_check(
		r, pm_sort(placed, f->n, sizeof(*placed), named ? by_name : greatest_first));
	for (uint32_t i = 0; i < f->n; i++)
		order[i] = placed[i].row;
	return order;
}

void pmfs_report_functions(struct pmfs_report *r)
{
	const struct pmfs_functions *f;
	const struct pmfs_colours *colours;
	uint32_t by = r->n[1];
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	pmfs_report_check(r, pmfs_colours(r->model, &colours, r->err));
	if (by > r->columns->n_shown + r->columns->n_derived + 1) {
		pm_json_null(&r->json);
		return;
	}
	const uint32_t *order = by > 0 ? order_by(r, f, by - 1) : NULL;
	uint64_t first = (uint64_t)r->n[0] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t i = first; i < end && i < f->n; i++)
		write_row(r, f, colours, order ? order[i] : (uint32_t)i);
	pm_json_close(&r->json, ']');
}

/* Of a thread: [row, contexts, [cells]], most expensive first. */
void pmfs_report_thread_functions(struct pmfs_report *r)
{
	const struct pm_threads *threads;
	pmfs_report_check(r, pmfs_model_threads(r->model, &threads, r->err));
	if (r->n[0] >= threads->n) {
		pm_json_null(&r->json);
		return;
	}
	const struct pmfs_flat_profile *t = pmfs_thread_functions(r->a, r->model, r->n[0], r->err);
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
}

/* ---- names of functions that other data refers to ---- */

void pmfs_report_row(struct pmfs_report *r, const struct pmfs_functions *f, uint32_t function)
{
	uint32_t row = function == PM_NONE ? PM_NONE : f->row[function];
	pm_json_i64(&r->json, row == PM_NONE ? -1 : (int64_t)row);
	if (row == PM_NONE)
		return;
	pm_list_grow(r->a, &r->named, r->n_named, &r->room, sizeof(*r->named));
	r->named[r->n_named++] = row;
}

static int by_row(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

void pmfs_report_names(struct pmfs_report *r, const struct pmfs_functions *f)
{
	/* Functions of one name, told apart by their files, may each repeat a long one. */
	enum { WHOLE_BYTES = 4 << 20, CUT = 256 };
	char key[16];
	size_t written = 0;
	pmfs_report_check(r, pm_sort(r->named, r->n_named, sizeof(*r->named), by_row));
	pm_json_key(&r->json, "names");
	pm_json_open(&r->json, '{');
	for (size_t i = 0; i < r->n_named; i++) {
		if (i > 0 && r->named[i] == r->named[i - 1])
			continue;
		snprintf(key, sizeof(key), "%" PRIu32, r->named[i]);
		pm_json_key(&r->json, key);
		struct pm_bytes name = pmfs_function_name(f, r->named[i]);
		if (written > WHOLE_BYTES && name.len > CUT)
			name.len = CUT;
		pm_json_text(&r->json, name);
		written += name.len;
	}
	pm_json_close(&r->json, '}');
}

/* ---- one function ---- */

/*
 * Rows of callers.csv, the most expensive first: [row of the other function, or -1; file, line,
 * calls, [cells], number of the file].
 */
static void write_calls(struct pmfs_report *r, const struct pmfs_functions *f,
	const struct pmfs_calls *calls, uint32_t function, bool callers)
{
	const uint32_t *list = callers ? calls->by_callee : calls->by_caller;
	const uint32_t *first = callers ? calls->callee_first : calls->caller_first;
	uint32_t end = first[function + 1], n = end - first[function];
	if (n > PMFS_REPORT_ROWS)
		end = first[function] + PMFS_REPORT_ROWS;
	pm_json_key(&r->json, callers ? "n_callers" : "n_callees");
	pm_json_u64(&r->json, n);
	pm_json_key(&r->json, callers ? "callers" : "callees");
	pm_json_open(&r->json, '[');
	for (uint32_t i = first[function]; i < end; i++) {
		const struct pmfs_call_edge *call = &calls->calls[list[i]];
		pm_json_open(&r->json, '[');
		pmfs_report_row(r, f, callers ? call->caller : call->callee);
		pm_json_text(&r->json, r->tree->texts[call->file]);
		pm_json_u64(&r->json, call->line);
		if (call->calls == PMFS_UNCOUNTED)
			pm_json_null(&r->json);
		else
			pm_json_u64(&r->json, call->calls);
		pmfs_report_cells(r, calls->cells + (size_t)list[i] * r->columns->n);
		pm_json_u64(&r->json, call->file);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* The durations of its calls: [p50, p90, p99, max] in ns, or null. */
static void write_times(struct pmfs_report *r, uint32_t function)
{
	const struct pm_profile *p = pmfs_model_profile(r->model);
	const struct pm_call_times *times;
	int timed = pmfs_functions_are_timed(r->model, r->err);
	pmfs_report_check(r, timed > 0 ? pm_profile_call_times(p, &times, r->err) : timed);
	pm_json_key(&r->json, "times");
	if (timed == 0 || function >= r->tree->n_functions || !times[function].known) {
		pm_json_null(&r->json);
		return;
	}
	const struct pm_call_times *t = &times[function];
	const uint64_t values[] = {t->p50_ns, t->p90_ns, t->p99_ns, t->max_ns};
	pm_json_open(&r->json, '[');
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		pm_json_u64(&r->json, values[i]);
	pm_json_close(&r->json, ']');
}

void pmfs_report_function(struct pmfs_report *r)
{
	const struct pmfs_functions *f;
	const struct pmfs_calls *calls;
	const struct pmfs_colours *colours;
	uint32_t row = r->n[0];
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	pmfs_report_check(r, pmfs_calls(r->model, &calls, r->err));
	pmfs_report_check(r, pmfs_colours(r->model, &colours, r->err));
	if (row >= f->n) {
		pm_json_null(&r->json);
		return;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "row");
	write_row(r, f, colours, row);
	write_calls(r, f, calls, f->function[row], true);
	write_calls(r, f, calls, f->function[row], false);
	pmfs_report_names(r, f);
	pm_json_key(&r->json, "context");
	if (pmfs_function_count(f, row) > 0)
		pm_json_u64(&r->json, f->contexts[f->first[row]]);
	else
		pm_json_null(&r->json);
	write_times(r, f->function[row]);
	pm_json_close(&r->json, '}');
}
