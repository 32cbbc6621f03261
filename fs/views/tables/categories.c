/* categories.csv: cost by category. A row's position is its number. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/rollups.h"

static int categories_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_category_sums *s = NULL;
	int r = pmfs_category_sums(pmfs_model_of(rows->table->self), &s, err);
	if (r < 0 || !s || rows->at >= s->n)
		return r;
	uint32_t category = s->order[rows->at++];
	const pm_number *numbers = s->cells + (size_t)category * s->columns->n;
	uint32_t own = s->columns->first_excl;
	*cells++ = pm_cell_u64(s->contexts[category]);
	cells = pmfs_number_cells(s->columns, numbers, cells);
	pm_set_empty(cells);
	bool counts = s->busy == s->whole || category != PMFS_IDLE;
	if (own != PM_NONE && s->busy != 0 && counts)
		pm_set_f64(cells, isnan(numbers[own]) ? 0 : (double)numbers[own] / s->busy);
	pm_set_text(&cells[1], pmfs_category_name((enum pmfs_category)category));
	return 1;
}

int pmfs_categories_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = categories_next, .dense = true};
	static const char *const before[] = {"contexts", NULL};
	static const char *const after[] = {"share", "category", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}
