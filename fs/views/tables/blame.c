/* blame.csv: who holds up whom. A row's position is its index. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/blame.h"

int pmfs_has_blame(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	return pmfs_blame_applies(m, err);
}

/* The program's own code has no category in the table, either. */
static int blame_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_blame *b;
	const uint8_t *categories;
	int r = pmfs_blame(m, &b, err);
	if (r < 0 || (r = pmfs_categories(m, &categories, err)) < 0 || rows->at >= b->n)
		return r;
	const struct pmfs_blame_row *row = &b->rows[rows->at++];
	const struct pm_tree *tree = b->identity->tree;
	cells[0] = pm_cell_u64((uint64_t)llround(row->wait_ns));
	cells[1] = pm_cell_f64(row->wait_ns / b->whole_ns);
	pm_set_text(&cells[5], pm_bytes_of(pmfs_wait_names[row->waiting]));
	if (row->function == PM_NONE) {
		cells[2] = cells[3] = cells[4] = cells[6] = pm_cell_empty();
		pm_set_text(&cells[7],
			pm_bytes_of(row->waiting == PMFS_WAIT_LOCK ? "(lock holder unknown)"
					: pmfs_model_unfiltered(m) ? "(all wait or filtered out)"
								   : "(all wait)"));
		return 1;
	}
	const struct pmfs_function *f = &b->identity->functions[row->function];
	cells[2] = pm_cell_u64(pm_tree_number(tree, row->context));
	pmfs_set_known(&cells[3], f->line, 0);
	pm_set_text(&cells[4], pmfs_category_name((enum pmfs_category)categories[row->context]));
	pm_set_lasting(&cells[6], tree->texts[f->file]);
	pm_set_lasting(&cells[7], f->name);
	return 1;
}

int pmfs_blame_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = blame_next};
	static const char *const columns[] = {
		"wait_ns", "share", "context_id", "line", "category", "waiting", "file", "name"};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.self = m,
		.columns = columns,
		.n_columns = sizeof(columns) / sizeof(*columns),
		.types = "ifiitttt"};
	return 0;
}
