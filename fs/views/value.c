#include "fs/views/value.h"

#include <stdlib.h>

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = (struct pmfs_model *)(uintptr_t)doc->text.self;
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	double *cells = malloc((columns->n + 1) * sizeof(*cells));
	if (!cells)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
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
	*ret = (struct pm_doc){.kind = PM_DOC_TEXT,
		.text = {.render = render, .self = m, .a = context, .b = column}};
	return 0;
}
