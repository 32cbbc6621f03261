/* efficiency.csv of a run: one row. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/efficiency.h"
#include "fs/views/sums/threads.h"

/*
 * Where costs would have to be read to be sure, and directories are listed without, there may be no
 * row. What a filter leaves out is no loss.
 */
int pmfs_has_efficiency(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pmfs_empty_threads *empty;
	int r = pmfs_model_unfiltered(m) ? 0 : pmfs_has_several_threads(m, item, err);
	if (r <= 0 || (r = pmfs_efficiency_may_apply(m, err)) <= 0 ||
		pmfs_model_profile(m)->ops->has || (r = pmfs_empty_threads(m, &empty, err)) < 0)
		return r;
	return empty->n_threads - empty->n_empty > 1;
}

static int efficiency_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_efficiency *e;
	struct pm_bytes title;
	if (rows->at > 0)
		return 0;
	int r = pmfs_efficiency(m, &e, err);
	if (r < 0 || (r = pm_profile_title(pmfs_model_profile(m), &title, err)) < 0)
		return r;
	rows->at = 1;
	if (e->threads < 2)
		return 0;
	pmfs_efficiency_cells(e, NULL, false, cells);
	pm_set_text(cells, title);
	return 1;
}

int pmfs_efficiency_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = efficiency_next, .dense = true};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.columns = pmfs_efficiency_columns,
		.n_columns = PMFS_EFFICIENCY_COLUMNS,
		.self = m,
		.end = 1};
	return 0;
}
