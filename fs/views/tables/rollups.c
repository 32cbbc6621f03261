/* modules.csv and files.csv. A row's position is its number. */
#include "fs/views/sums/rollups.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"

/* table.a = is it of files? */
static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_rollup *u;
	int r = rows->table->a ? pmfs_files(m, &u, err) : pmfs_modules(m, &u, err);
	if (r < 0 || rows->at >= u->sums.n)
		return r;
	uint32_t row = u->order[rows->at++];
	pm_set_u64(cells++, u->n_functions[row]);
	cells = pmfs_number_cells(
		u->sums.columns, u->sums.cells + (size_t)row * u->sums.columns->n, cells);
	if (u->of_files && pmfs_texts_are_joined(u->functions->evals))
		*cells++ = pmfs_texts_cell(u->functions->evals, u->file[row]);
	pm_set_text(cells, u->names.items[row]);
	return 1;
}

static const struct pm_table_type rollup_type = {.next = rows_next, .dense = true};
static const char *const before[] = {"functions", NULL};

int pmfs_modules_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const char *const after[] = {"module", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &rollup_type, before, after, ret, err);
}

int pmfs_files_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const char *const after[] = {"texts", "file", NULL};
	const struct pm_flat *flat;
	(void)item;
	int r = pmfs_model_flat(m, &flat, err);
	if (r == 0)
		r = pmfs_table_with_metrics(m, &rollup_type, before,
			after + !pmfs_texts_are_joined(flat->evals), ret, err);
	ret->a = true;
	return r;
}

int pmfs_has_modules(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	(void)item;
	(void)err;
	return p->has_modules || p->module_end;
}
