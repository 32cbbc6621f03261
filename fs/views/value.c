/* metrics/<column> of a context: the number that contexts.csv has there. */
#include "fs/views/value.h"

#include <stdlib.h>

#include "fs/views/flat.h"
#include "fs/views/tables.h"

static int render_number(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	double *cells = pmfs_cells_new(columns->n);
	if (!cells)
		return pmfs_no_memory(err);
	r = pmfs_run_cells(m, (uint32_t)doc->text.a, false, cells, err);
	double value = r < 0 ? 0 : cells[doc->text.b];
	free(cells);
	if (r < 0)
		return r;
	if (value != value)
		return pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET, "has no such value");
	pm_text_f64(out, value);
	pm_text_char(out, '\n');
	return 0;
}

int pmfs_value_document(struct pmfs_model *m, uint32_t context, uint32_t column, struct pm_doc *ret)
{
	*ret = pmfs_doc_of_text(m, context, render_number);
	ret->text.b = column;
	return 0;
}
