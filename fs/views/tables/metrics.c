/* metrics.csv: every metric that can have values, with its column, and every derived column. */
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"

/* The column of a metric in any table, or the empty text. */
static const char *column_name(const struct pmfs_columns *c, const struct pm_metric *metric)
{
	uint32_t column = pmfs_column_of(c, metric->id, false);
	if (column == PM_NONE)
		column = pmfs_column_of(c, metric->id, true);
	return column == PM_NONE || c->columns[column].hidden ? "" : c->columns[column].name;
}

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_metrics *metrics;
	const struct pmfs_columns *columns;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0 || (r = pmfs_model_column_names(m, &columns, err)) < 0)
		return r;
	if (rows->at >= (uint64_t)metrics->n + columns->n_derived)
		return 0;
	if (rows->at >= metrics->n) {
		const struct pmfs_derived *derived = &columns->derived[rows->at++ - metrics->n];
		*cells++ = pm_cell_empty(); /* there are no values of it in values.csv */
		*cells++ = pm_cell_str(derived->name);
		*cells++ = pm_cell_text(derived->unit);
		*cells++ = pm_cell_str("derived");
		*cells++ = pm_cell_text(derived->text);
		return 1;
	}
	const struct pm_metric *metric = &metrics->metrics[rows->at++];
	*cells++ = pm_cell_u64(metric->id);
	*cells++ = pm_cell_str(column_name(columns, metric));
	*cells++ = pm_cell_text(metric->unit);
	*cells++ = pm_cell_text(metric->scope);
	*cells++ = pm_cell_text(metric->name);
	return 1;
}

int pmfs_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "column", "unit", "scope", "name", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	return 0;
}
