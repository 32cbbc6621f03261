/*
 * functions.csv: the flat profile of the run, of a context and of a thread. Those of a part are
 * summed when a cursor starts. A row's position is its number.
 */
#include "fs/views/sums/functions.h"

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"

/* table.b: of what; table.a: which of them. */
enum { OF_RUN, OF_CONTEXT, OF_THREAD };

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	uint32_t item = (uint32_t)rows->table->a;
	struct pmfs_flat_profile *part;
	int r = rows->table->b == OF_THREAD ? pmfs_thread_functions(m, item, &part, err)
					    : pmfs_context_functions(m, item, &part, err);
	if (r == 0)
		rows->own = part;
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	pmfs_flat_profile_free(rows->own);
}

/* How long calls took, where they are recorded one by one; of the run alone. */
static int time_cells(struct pmfs_model *m, const struct pmfs_functions *f, uint32_t function,
	bool known, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_call_times none;
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_call_times *times = &none;
	int r = known ? pm_profile_call_times(p, &times, err) : 0;
	if (r < 0)
		return r;
	times = known && function < f->tree->n_functions ? &times[function] : &none;
	const uint64_t values[] = {times->p50_ns, times->p90_ns, times->p99_ns, times->max_ns};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		pm_set_empty(&cells[i]);
		if (times->known)
			pm_set_u64(&cells[i], values[i]);
	}
	return 0;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_flat_profile *part = rows->own;
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || rows->at >= (part ? part->n : f->n))
		return r;
	uint32_t at = part ? part->order[rows->at] : (uint32_t)rows->at;
	uint32_t row = part && part->whole ? part->whole[at] : at;
	const struct pmfs_function *function = pmfs_function_at(f, row);
	rows->at++;
	*cells++ = pm_cell_u64(pmfs_function_id(f, row));
	*cells++ = pm_cell_u64(part ? part->contexts[at] : pmfs_function_count(f, row));
	cells = pmfs_number_cells(
		f->columns, (part ? part->cells : f->cells) + (size_t)at * f->columns->n, cells);
	int timed = pmfs_functions_are_timed(m, err);
	if (timed > 0)
		r = time_cells(m, f, f->function[row], !part, cells, err);
	if (timed < 0 || r < 0)
		return timed < 0 ? timed : r;
	cells += timed ? 4 : 0;
	if (pmfs_texts_are_joined(f->evals))
		*cells++ = pmfs_texts_cell(f->evals, function->file);
	pmfs_set_known(cells++, function->line, 0);
	*cells++ = pm_cell_text(pmfs_category_name(f->category[f->function[row]]));
	*cells++ = pm_cell_lasting(f->tree->texts[function->module]);
	*cells++ = pm_cell_lasting(f->tree->texts[function->file]);
	*cells++ = pm_cell_lasting(function->name);
	return 1;
}

static int table_of(struct pmfs_model *m, uint32_t item, unsigned of, struct pm_table *ret,
	struct pm_error *err)
{
	static const struct pm_table_type of_run = {.next = rows_next, .dense = true};
	static const struct pm_table_type of_part = {
		.start = rows_start, .next = rows_next, .done = rows_done};
	static const char *const before[] = {"function_id", "contexts", NULL};
	static const char *const columns[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns", "line",
		"category", "module", "file", "name", NULL};
	static const char *const joined[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns", "texts",
		"line", "category", "module", "file", "name", NULL};
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	int timed = r < 0 ? r : pmfs_functions_are_timed(m, err);
	if (timed < 0)
		return timed;
	const char *const *after = pmfs_texts_are_joined(flat->evals) ? joined : columns;
	r = pmfs_table_with_metrics(
		m, of == OF_RUN ? &of_run : &of_part, before, after + (timed ? 0 : 4), ret, err);
	ret->a = item;
	ret->b = of;
	return r;
}

int pmfs_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return table_of(m, item, OF_RUN, ret, err);
}

int pmfs_context_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return table_of(m, item, OF_CONTEXT, ret, err);
}

int pmfs_thread_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return table_of(m, item, OF_THREAD, ret, err);
}
