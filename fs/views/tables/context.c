/* The tables of one context: its values over the whole run and on each thread. */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"

/* ---- metrics.csv: position = place in the list of metrics ---- */

struct metric_rows {
	const struct pm_metrics *metrics;
	uint32_t n;
	struct pm_value values[]; /* of the context, metrics->n at most */
};

static int metrics_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0)
		return r;
	struct metric_rows *own = malloc(sizeof(*own) + metrics->n * sizeof(*own->values));
	if (!own)
		return pmfs_no_memory(err);
	rows->own = own;
	own->metrics = metrics;
	int64_t n = pmfs_run_values(m, (uint32_t)rows->table->a, own->values, metrics->n, err);
	own->n = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : 0;
}

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct metric_rows *own = rows->own;
	(void)err;
	while (rows->at < own->metrics->n) {
		const struct pm_metric *metric = &own->metrics->metrics[rows->at++];
		for (uint32_t i = 0; i < own->n; i++) {
			if (own->values[i].metric != metric->id)
				continue;
			cells[0] = pm_cell_u64(metric->id);
			pmfs_set_value(&cells[1], &own->values[i]);
			cells[2] = pm_cell_text(metric->scope);
			cells[3] = pm_cell_text(metric->name);
			return 1;
		}
	}
	return 0;
}

int pmfs_context_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = metrics_start, .next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "value", "scope", "name", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "?f??";
	ret->a = item;
	return 0;
}

/* ---- values.csv: position = place in the context's sequence ---- */

static int values_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pm_values_of of = {PM_OF_CONTEXT, (uint32_t)rows->table->a, true};
	return pmfs_values_rows_start(rows, of, err);
}

static int values_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_threads *threads;
	const struct pm_value *v;
	int r = pmfs_model_threads(pmfs_model_of(rows->table->self), &threads, err);
	if (r < 0 || (r = pmfs_values_peek(rows->own, &v, err)) <= 0)
		return r;
	cells[0] = pm_cell_u64(v->metric);
	cells[1] = v->thread < threads->n ? pm_cell_u64(threads->threads[v->thread].id)
					  : pm_cell_empty();
	pmfs_set_value(&cells[2], v);
	pmfs_values_step(rows->own);
	rows->at++;
	return 1;
}

int pmfs_context_values_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = values_start, .next = values_next, .dense = true};
	static const char *const columns[] = {"metric_id", "thread_id", "value", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "??f";
	ret->a = item;
	return 0;
}
