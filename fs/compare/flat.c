/* Joins the flat tables of runs other than functions: callers, modules, files, categories. */
#include "fs/compare/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/model/catalog.h"
#include "fs/views/sums/callers.h"

static int read_callers(
	struct pmfs_joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const uint32_t *of = j->functions->of[run];
	const struct pmfs_calls *c;
	int r = pmfs_joining_calls(j, run, m, &c, err);
	if (r < 0)
		return r;
	uint32_t n = c->columns->n;
	double *cells = malloc(((size_t)n + 1) * sizeof(*cells));
	r = cells ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < c->n; i++) {
		const struct pmfs_call_edge *call = &c->calls[c->order[i]];
		uint32_t caller = call->caller == PM_NONE ? PM_NONE : of[call->caller];
		memcpy(cells, c->cells + (size_t)c->order[i] * n, n * sizeof(*cells));
		if (c->columns->calls < n) /* callers.csv has those of the edge */
			cells[c->columns->calls] =
				call->calls == PMFS_UNCOUNTED ? NAN : (double)call->calls;
		r = pm_work_cancelled() ? -ENOMEM
					: pmfs_joining_add(j, run, caller, of[call->callee], cells);
	}
	free(cells);
	return r;
}

/* ---- modules, files and categories: from a table whose last column is the name ---- */

static uint32_t find(const struct pm_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->n_columns; i++)
		if (strcmp(pm_table_column(table, i), name) == 0)
			return i;
	return PM_NONE;
}

static double number_at(const struct pm_cell *cells, uint32_t place)
{
	if (place == PM_NONE)
		return NAN;
	const struct pm_cell *cell = &cells[place];
	if (cell->kind == PM_CELL_F64)
		return cell->f;
	if (cell->kind == PM_CELL_I64)
		return (double)cell->i;
	return cell->kind == PM_CELL_U64 ? (double)cell->u : NAN;
}

static int add_table_row(struct pmfs_joining *j, uint32_t run, const struct pm_cell *cells,
	uint32_t n_cells, const uint32_t *places, double *numbers)
{
	const struct pmfs_compared_run *of = &j->costs->runs[run];
	const struct pm_bytes none = pm_bytes_of("");
	const struct pm_cell *name = &cells[n_cells - 1];
	struct pm_bytes text[3] = {none, none, none};
	uint32_t spelling;
	if (name->kind == PM_CELL_TEXT)
		text[pmfs_text_place(j->which)] = name->text;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[i] = number_at(cells, places[i]);
	if (pm_work_cancelled() ||
		pmfs_match_add(&j->joined->match, of->side, run, text, &spelling) < 0)
		return -ENOMEM;
	return pmfs_joining_add(j, run, spelling, PM_NONE, numbers);
}

static int read_table(struct pmfs_joining *j, uint32_t run, const struct pm_table *table,
	const struct pmfs_columns *columns, struct pm_error *err)
{
	struct pm_cell *cells = malloc(((size_t)table->n_columns + 1) * sizeof(*cells));
	uint32_t *places = malloc(((size_t)columns->n + 1) * sizeof(*places));
	double *numbers = malloc(((size_t)columns->n + 1) * sizeof(*numbers));
	struct pm_rows rows = {.table = NULL};
	int r = cells && places && numbers ? pm_rows_start(&rows, table, 0, err) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < columns->n; i++)
		places[i] = find(table, columns->columns[i].name);
	while (r == 0 && (r = pm_rows_next(&rows, cells, err)) > 0)
		r = add_table_row(j, run, cells, table->n_columns, places, numbers);
	pm_rows_done(&rows);
	free(cells);
	free(places);
	free(numbers);
	pmfs_match_run_ends(&j->joined->match);
	return r;
}

static int table_of(enum pmfs_compare_part which, struct pmfs_model *m, struct pm_table *ret,
	struct pm_error *err)
{
	pmfs_table_fn *table = which == PMFS_COMPARE_MODULES ? pmfs_modules_table
		: which == PMFS_COMPARE_FILES                ? pmfs_files_table
							     : pmfs_categories_table;
	return table(m, 0, ret, err);
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_joining *j = self;
	const struct pmfs_columns *columns;
	struct pm_table table;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0 || (r = pmfs_joining_check(j, run, m, err)) < 0)
		return r;
	if (j->which == PMFS_COMPARE_CALLERS)
		r = read_callers(j, run, m, err);
	else if ((r = table_of(j->which, m, &table, err)) == 0 &&
		(r = pmfs_compare_evals(&j->joined->match, m, j->compare->of.exact, err)) == 0)
		r = read_table(j, run, &table, columns, err);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

/* What takes time: the first row of a table needs what all rows need. */
static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_joining *j = self;
	const struct pmfs_calls *calls;
	struct pm_rows rows = {.table = NULL};
	struct pm_table table;
	if (j->which == PMFS_COMPARE_CALLERS)
		return pmfs_calls(m, &calls, err);
	int r = table_of(j->which, m, &table, err);
	struct pm_cell *cells = r < 0 ? NULL : malloc((table.n_columns + 1) * sizeof(*cells));
	if (cells && (r = pm_rows_start(&rows, &table, 0, err)) == 0)
		r = pm_rows_next(&rows, cells, err);
	pm_rows_done(&rows);
	free(cells);
	return r;
}

int pmfs_flat_join(struct pmfs_compare *c, enum pmfs_compare_part which, struct pmfs_joined *joined,
	struct pm_error *err)
{
	struct pmfs_joining j = {.compare = c,
		.costs = joined->costs,
		.which = which,
		.joined = joined,
		.functions = joined};
	int r = 0;
	if (which == PMFS_COMPARE_CALLERS && (r = pmfs_functions_get(c, &j.functions, err)) < 0)
		return r;
	j.rows = calloc((size_t)j.costs->n_runs + 1, sizeof(*j.rows));
	r = j.rows ? pmfs_compare_read(c, j.costs, (struct pmfs_reader){prepare, read_run}, &j, err)
		   : -ENOMEM;
	if (r == 0 && which != PMFS_COMPARE_CALLERS)
		r = pmfs_match_finish(&joined->match);
	if (r == 0)
		r = pmfs_joining_join(&j);
	pmfs_joining_done(&j);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}
