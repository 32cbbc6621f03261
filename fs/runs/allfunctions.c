/*
 * functions.csv of all runs, one after the other, each as its own functions.csv has it. A position
 * is a run and a row of it; a cursor keeps the run open that it is in.
 */
#include <stdlib.h>

#include "fs/runs/internal.h"
#include "fs/views/model/categories.h"
#include "fs/views/sums/functions.h"

enum { N_BEFORE = 4 }; /* columns before the costs */

/* A cursor's run. */
struct reader {
	const struct pmfs_ensemble *e;
	const struct pmfs_facts *facts;
	const struct pmfs_functions *functions; /* NULL: none is open */
	uint32_t run;
};

static uint64_t position(uint64_t run, uint64_t row)
{
	return run << 32 | row;
}

static void leave(struct reader *reader)
{
	if (reader->functions)
		pmfs_shelf_release(reader->e->shelf, reader->run);
	reader->functions = NULL;
}

/* Opens a run for the cursor; 0 with no functions where it is broken. */
static int enter(struct reader *reader, uint32_t run, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	leave(reader);
	reader->run = run;
	int r = pmfs_shelf_acquire(reader->e->shelf, run, &m, &why);
	if (r == 0 && (r = pmfs_functions(m, &reader->functions, &why)) < 0) {
		reader->functions = NULL;
		pmfs_shelf_release(reader->e->shelf, run);
	}
	return pmfs_is_lasting(r) ? 0 : r < 0 ? pm_error_plain(err, r) : 0;
}

static int functions_start(struct pm_rows *rows, struct pm_error *err)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return pmfs_ensemble_no_memory(err);
	rows->own = reader;
	reader->e = pmfs_ensemble_of(rows->table->self);
	return pmfs_facts(reader->e, &reader->facts, err);
}

static void functions_done(struct pm_rows *rows)
{
	if (!rows->own)
		return;
	leave(rows->own);
	free(rows->own);
	rows->own = NULL;
}

static void fill(const struct reader *reader, uint32_t row, struct pm_cell *cells)
{
	const struct pmfs_functions *f = reader->functions;
	const struct pmfs_function *function = pmfs_function_at(f, row);
	const struct pmfs_run *run = &reader->e->runs.runs[reader->run];
	const struct pmfs_run_facts *facts = &reader->facts->of[reader->run];
	struct pm_cell *middle = cells + N_BEFORE, *rest = middle + reader->facts->columns.n;
	cells[0] = pm_cell_str(run->name);
	cells[1] = pm_cell_u64(run->repetition);
	cells[2] = pm_cell_u64(pmfs_function_id(f, row));
	cells[3] = pm_cell_u64(pmfs_function_count(f, row));
	for (struct pm_cell *cell = middle; cell < rest; cell++)
		pm_set_empty(cell);
	for (uint32_t k = 0; k < f->columns->n && k < facts->n_columns; k++)
		middle[facts->columns[k]] = pmfs_cell(pmfs_function_cell(f, row, k));
	rest[0] = function->line ? pm_cell_u64(function->line) : pm_cell_empty();
	rest[1] = pm_cell_text(pmfs_category_name(f->category[f->function[row]]));
	rest[2] = pm_cell_text(f->tree->texts[function->module]);
	rest[3] = pm_cell_text(f->tree->texts[function->file]);
	rest[4] = pm_cell_text(function->name);
}

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct reader *reader = rows->own;
	for (;;) {
		uint32_t run = (uint32_t)(rows->at >> 32), row = (uint32_t)rows->at;
		if (run >= reader->e->runs.n)
			return 0;
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		int r = reader->functions && reader->run == run ? 0 : enter(reader, run, err);
		if (r < 0)
			return r;
		if (reader->functions && row < reader->functions->n) {
			rows->row = rows->at++;
			fill(reader, row, cells);
			return 1;
		}
		rows->at = position((uint64_t)run + 1, 0);
	}
}

static int functions_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	int r = pmfs_facts(pmfs_ensemble_of(table->self), &facts, err);
	if (r < 0)
		return r;
	table->columns = facts->functions_header;
	table->n_columns = facts->n_functions_header;
	return 0;
}

struct pm_table pmfs_all_functions_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = functions_next,
		.start = functions_start,
		.columns = functions_columns,
		.done = functions_done};
	return (struct pm_table){.type = &type, .self = e};
}
