/* functions.csv: the flat profile. A row's position is its number. */
#include "fs/views/tables/functions.h"

#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"

void pmfs_function_row(const struct pmfs_functions *f, uint32_t row, uint32_t contexts,
	const double *numbers, struct pm_cell *cells)
{
	const struct pmfs_function *function = pmfs_function_at(f, row);
	*cells++ = pm_cell_u64(pmfs_function_id(f, row));
	*cells++ = pm_cell_u64(contexts);
	cells = pmfs_number_cells(f->columns, numbers, cells);
	pmfs_set_known(cells++, function->line, 0);
	*cells++ = pm_cell_text(pmfs_category_name(f->category[f->function[row]]));
	*cells++ = pm_cell_text(f->tree->texts[function->module]);
	*cells++ = pm_cell_text(f->tree->texts[function->file]);
	*cells++ = pm_cell_text(function->name);
}

int pmfs_function_table(struct pmfs_model *m, const struct pm_table_type *type,
	struct pm_table *ret, struct pm_error *err)
{
	static const char *const before[] = {"function_id", "contexts", NULL};
	static const char *const after[] = {"line", "category", "module", "file", "name", NULL};
	return pmfs_table_with_metrics(m, type, before, after, ret, err);
}

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(pmfs_model_of(rows->table->self), &f, err);
	if (r < 0 || rows->at >= f->n)
		return r;
	uint32_t row = (uint32_t)rows->at++;
	pmfs_function_row(
		f, row, pmfs_function_count(f, row), f->cells + (size_t)row * f->columns->n, cells);
	return 1;
}

int pmfs_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = functions_next, .dense = true};
	(void)item;
	return pmfs_function_table(m, &type, ret, err);
}
