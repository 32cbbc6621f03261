/* The cursor of all tables: implements what struct pm_table_type guarantees to its callbacks. */
#include "profmount/table.h"

#include <stdlib.h>

#include "formats/common/sheet.h"
#include "formats/common/text.h"

const char *pm_table_column(const struct pm_table *table, uint32_t i)
{
	return table->columns ? table->columns[i] : table->sheet->columns[i].name;
}

int pm_rows_start(
	struct pm_rows *rows, const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	*rows = (struct pm_rows){.table = table, .at = at};
	rows->scratch = calloc(1, sizeof(*rows->scratch));
	if (!rows->scratch)
		return pm_error_plain(err, -ENOMEM);
	return table->type->start ? table->type->start(rows, err) : 0;
}

int pm_rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	pm_text_clear(rows->scratch);
	rows->row = rows->at;
	int r = rows->table->type->next(rows, cells, err);
	if (r > 0 && rows->scratch->failed)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a row");
	return r;
}

void pm_rows_done(struct pm_rows *rows)
{
	if (rows->table && rows->table->type->done && rows->own)
		rows->table->type->done(rows);
	else
		free(rows->own);
	if (rows->scratch)
		pm_text_done(rows->scratch);
	free(rows->scratch);
	*rows = (struct pm_rows){.table = NULL};
}
