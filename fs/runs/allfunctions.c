/*
 * functions.csv of all runs, concatenated: each as in the run's own functions.csv. A position is a
 * run and a row in it; a cursor keeps its current run open.
 */
#include <stdlib.h>

#include "fs/runs/runs.h"
#include "fs/views/model/catalog.h"
#include "fs/views/sums/functions.h"

enum { N_BEFORE = 4 }; /* columns before the costs */

/* The run of a cursor. */
struct reader {
	const struct pmfs_ensemble *e;
	const struct pmfs_facts *facts;
	const struct pmfs_functions *functions; /* NULL: none is open */
	uint32_t run;
	struct pm_table table; /* the run's own functions.csv … */
	struct pm_rows rows;   /* … a cursor in it … */
	struct pm_cell *own;   /* … and its current row */
};

static uint64_t position(uint64_t run, uint64_t row)
{
	return run << 32 | row;
}

static void leave(struct reader *reader)
{
	if (reader->functions) {
		pm_rows_done(&reader->rows);
		free(reader->own);
		reader->own = NULL;
		pmfs_shelf_release(reader->e->shelf, reader->run);
	}
	reader->functions = NULL;
}

/* Starts the run's own table at a row. */
static int open_table(
	struct reader *reader, struct pmfs_model *m, uint32_t row, struct pm_error *err)
{
	int r = pmfs_functions_table(m, 0, &reader->table, err);
	if (r == 0)
		r = pm_rows_start(&reader->rows, &reader->table, row, err);
	reader->own = r == 0 ? calloc(reader->table.n_columns, sizeof(*reader->own)) : NULL;
	return r < 0 ? r : reader->own ? 0 : pmfs_ensemble_no_memory(err);
}

/* Opens a run for the cursor; returns 0, with no functions, if it is broken. */
static int enter(struct reader *reader, uint32_t run, uint32_t row, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	leave(reader);
	reader->run = run;
	if (reader->facts->of[run].broken)
		return 0;
	int r = pmfs_shelf_acquire(reader->e->shelf, run, &m, &why);
	if (r == 0 && (r = pmfs_functions(m, &reader->functions, &why)) < 0) {
		reader->functions = NULL;
		pmfs_shelf_release(reader->e->shelf, run);
	}
	if (r == 0 && (r = open_table(reader, m, row, &why)) < 0)
		leave(reader);
	return pm_is_lasting(r) ? 0 : r < 0 ? pm_error_plain(err, r) : 0;
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

/*
 * Moves the columns of the run's own row between its contexts and its line to their places in the
 * common header.
 */
static void fill(const struct reader *reader, struct pm_cell *cells)
{
	enum { BEFORE = 2, AFTER = 5 }; /* of the run's own */
	const struct pmfs_run *run = &reader->e->runs.runs[reader->run];
	const struct pmfs_run_facts *facts = &reader->facts->of[reader->run];
	struct pm_cell *middle = cells + N_BEFORE, *rest = middle + reader->facts->columns.n;
	uint32_t n = reader->table.n_columns - BEFORE - AFTER;
	cells[0] = pm_cell_str(run->name);
	cells[1] = pm_cell_u64(run->repetition);
	cells[2] = reader->own[0];
	cells[3] = reader->own[1];
	for (struct pm_cell *cell = middle; cell < rest; cell++)
		pm_set_empty(cell);
	for (uint32_t k = 0; k < n && k < facts->n_columns; k++)
		middle[facts->columns[k]] = reader->own[BEFORE + k];
	for (uint32_t k = 0; k < AFTER; k++) {
		rest[k] = reader->own[BEFORE + n + k];
		rest[k].lasts = false; /* the run may be closed before this table is */
	}
}

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct reader *reader = rows->own;
	for (;;) {
		uint32_t run = (uint32_t)(rows->at >> 32), row = (uint32_t)rows->at;
		if (run >= reader->e->runs.n)
			return 0;
		if (pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		int r = reader->functions && reader->run == run ? 0 : enter(reader, run, row, err);
		if (r == 0 && reader->functions && row < reader->functions->n)
			r = pm_rows_next(&reader->rows, reader->own, err);
		if (r < 0)
			return r;
		if (r > 0) {
			rows->row = rows->at++;
			fill(reader, cells);
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
