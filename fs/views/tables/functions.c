/* functions.csv: the flat profile. A row's position is its number. */
#include "fs/views/tables/functions.h"

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"

/* What identifies a function, from `texts` or `line` on. */
static void name_cells(const struct pmfs_functions *f, uint32_t row, struct pm_cell *cells)
{
	const struct pmfs_function *function = pmfs_function_at(f, row);
	if (pmfs_texts_are_joined(f->evals))
		*cells++ = pmfs_texts_cell(f->evals, function->file);
	pmfs_set_known(cells++, function->line, 0);
	*cells++ = pm_cell_text(pmfs_category_name(f->category[f->function[row]]));
	*cells++ = pm_cell_lasting(f->tree->texts[function->module]);
	*cells++ = pm_cell_lasting(f->tree->texts[function->file]);
	*cells++ = pm_cell_lasting(function->name);
}

static struct pm_cell *cost_cells(const struct pmfs_functions *f, uint32_t row, uint32_t contexts,
	const double *numbers, struct pm_cell *cells)
{
	*cells++ = pm_cell_u64(pmfs_function_id(f, row));
	*cells++ = pm_cell_u64(contexts);
	return pmfs_number_cells(f->columns, numbers, cells);
}

/* ---- how long calls took, where they are recorded one by one ---- */

static struct pm_cell *time_cells(
	const struct pm_call_times *times, uint32_t function, uint32_t n, struct pm_cell *cells)
{
	static const struct pm_call_times none;
	const struct pm_call_times *t = function < n ? &times[function] : &none;
	const uint64_t values[] = {t->p50_ns, t->p90_ns, t->p99_ns, t->max_ns};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++, cells++) {
		pm_set_empty(cells);
		if (t->known)
			pm_set_u64(cells, values[i]);
	}
	return cells;
}

void pmfs_function_row(const struct pmfs_functions *f, uint32_t row, uint32_t contexts,
	const double *numbers, bool timed, struct pm_cell *cells)
{
	cells = cost_cells(f, row, contexts, numbers, cells);
	name_cells(f, row, timed ? time_cells(NULL, 0, 0, cells) : cells);
}

int pmfs_function_table(struct pmfs_model *m, const struct pm_table_type *type,
	struct pm_table *ret, struct pm_error *err)
{
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
	return pmfs_table_with_metrics(m, type, before, after + (timed ? 0 : 4), ret, err);
}

/* ---- of the run ---- */

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_call_times *times;
	const struct pmfs_functions *f;
	int timed, r = pmfs_functions(m, &f, err);
	if (r < 0 || rows->at >= f->n)
		return r;
	uint32_t row = (uint32_t)rows->at++;
	cells = cost_cells(
		f, row, pmfs_function_count(f, row), f->cells + (size_t)row * f->columns->n, cells);
	timed = r = pmfs_functions_are_timed(m, err);
	if (timed > 0)
		r = p->ops->call_times(p, &times, err);
	if (r < 0)
		return r;
	if (timed > 0)
		cells = time_cells(times, f->function[row], f->tree->n_functions, cells);
	name_cells(f, row, cells);
	return 1;
}

int pmfs_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = functions_next, .dense = true};
	(void)item;
	return pmfs_function_table(m, &type, ret, err);
}
