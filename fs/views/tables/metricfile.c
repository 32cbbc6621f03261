/* metrics/<column> of a context: the number that contexts.csv has there. */
#include "fs/views/tables/metricfile.h"

#include <stdlib.h>

#include "formats/common/row.h"
#include "fs/views/model/tables.h"

static int render_number(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	struct pm_cell *cells =
		calloc((size_t)columns->n_shown + columns->n_derived + 1, sizeof(*cells));
	if (!cells)
		return pmfs_no_memory(err);
	r = pmfs_run_row(m, (uint32_t)doc->text.a, cells, err);
	if (r == 0 && cells[doc->text.b].kind == PM_CELL_EMPTY)
		r = pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET, "has no such value");
	if (r == 0)
		pm_row_render(out, PM_CSV, &cells[doc->text.b], 1);
	free(cells);
	return r;
}

int pmfs_value_document(struct pmfs_model *m, uint32_t context, uint32_t column, struct pm_doc *ret)
{
	*ret = pmfs_doc_of_text(m, context, render_number);
	ret->text.b = column;
	ret->text.brief = true;
	return 0;
}
