/*
 * functions.csv of a context and of a thread: the flat profile of that part. Summed when a cursor
 * starts; a row's position is its number.
 */
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/functions.h"
#include "fs/views/tables/functions.h"

/* table.a = the context or thread, table.b = is it a thread? */
static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	uint32_t item = (uint32_t)rows->table->a;
	struct pmfs_flat_profile *f;
	int r = rows->table->b ? pmfs_thread_functions(m, item, &f, err)
			       : pmfs_context_functions(m, item, &f, err);
	if (r == 0)
		rows->own = f;
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	pmfs_flat_profile_free(rows->own);
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_flat_profile *f = rows->own;
	int timed = pmfs_functions_are_timed(pmfs_model_of(rows->table->self), err);
	if (timed < 0 || rows->at >= f->n)
		return timed < 0 ? timed : 0;
	uint32_t row = f->order[rows->at++];
	pmfs_function_row(f->functions, f->whole ? f->whole[row] : row, f->contexts[row],
		f->cells + (size_t)row * f->functions->columns->n, timed > 0, cells);
	return 1;
}

static int table_of(struct pmfs_model *m, uint32_t item, bool is_thread, struct pm_table *ret,
	struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done};
	int r = pmfs_function_table(m, &type, ret, err);
	ret->a = item;
	ret->b = is_thread;
	return r;
}

int pmfs_context_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return table_of(m, item, false, ret, err);
}

int pmfs_thread_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return table_of(m, item, true, ret, err);
}
