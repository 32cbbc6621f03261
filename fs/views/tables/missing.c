/* missing-symbols.csv: load modules of which code has no names. A row's position is its number. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/rollups.h"

static int rows_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_missings *all;
	int r = pmfs_missings(pmfs_model_of(table->self), &all, err);
	if (r < 0)
		return r;
	table->columns = all->columns;
	table->n_columns = sizeof(all->columns) / sizeof(*all->columns);
	return 0;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_missings *all = NULL;
	int r = pmfs_missings(pmfs_model_of(rows->table->self), &all, err);
	if (r < 0 || rows->at >= all->n)
		return r;
	const struct pmfs_missing *row = &all->rows[rows->at++];
	cells[0] = pmfs_cell(row->samples);
	cells[1] = pmfs_cell(row->cost);
	cells[2] = pm_cell_text(row->module);
	cells[3] = pm_cell_text(row->build_id);
	cells[4] = pm_cell_str(row->why ? row->why : "");
	cells[5] = pm_cell_str(row->tried ? row->tried : "");
	return 1;
}

int pmfs_missing_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.next = rows_next, .columns = rows_columns, .dense = true};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type, .self = m, .types = "fftttt"};
	return 0;
}

/* Of measurements of machine code, whether or not all of it has names. */
int pmfs_may_miss_names(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pm_profile_has(pmfs_model_profile(m), missing);
}
