/* imbalance.csv: load imbalance of each context. A row's position is the context's index. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/imbalance.h"

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_imbalance *s;
	int r = pmfs_imbalance_new(pmfs_model_of(rows->table->self), &s, err);
	if (r == 0)
		rows->own = s;
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	pmfs_imbalance_free(rows->own);
}

static struct pm_cell *spread_cells(const struct pmfs_spread *s, struct pm_cell *cells)
{
	bool known = s->n > 0;
	cells[0] = known ? pm_cell_f64(s->min) : pm_cell_empty();
	cells[1] = known ? pm_cell_f64(s->mean) : pm_cell_empty();
	cells[2] = known ? pm_cell_f64(s->max) : pm_cell_empty();
	cells[3] = known ? pm_cell_f64(sqrt(s->squares / s->n)) : pm_cell_empty();
	return cells + 4;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_imbalance *s = rows->own;
	uint32_t context;
	do {
		if (rows->at >= s->tree->n_contexts)
			return 0;
		context = (uint32_t)rows->at++;
		int r = pmfs_imbalance_read(s, context, err);
		if (r < 0)
			return r;
	} while (s->n_threads == 0);
	*cells++ = pm_cell_u64(pm_tree_number(s->tree, context));
	for (uint32_t i = 0; i < s->columns->n; i++)
		cells = spread_cells(&s->spreads[i], cells);
	*cells++ = pm_cell_u64(s->n_threads);
	cells[0] = cells[1] = cells[2] = pm_cell_empty();
	uint32_t column = pmfs_leading_column(s->columns);
	if (column != PM_NONE && s->spreads[column].n > 0) {
		const struct pmfs_spread *first = &s->spreads[column];
		if (first->mean != 0)
			cells[0] = pm_cell_f64(first->max / first->mean);
		cells[1] = pm_cell_f64(first->max - first->mean);
		cells[2] = pm_cell_u64(s->threads->threads[first->slowest].id);
	}
	cells[3] = pm_cell_text(
		pmfs_frame_name(s->tree, pm_tree_frame(s->tree, context), rows->scratch));
	return 1;
}

int pmfs_imbalance_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done, .dense = true};
	static const char *const before[] = {"context_id", NULL};
	static const char *const spreads[] = {"_min", "_mean", "_max", "_stddev", NULL};
	static const char *const after[] = {
		"threads", "imbalance", "lost", "slowest_thread_id", "name", NULL};
	const struct pm_tree *tree;
	(void)item;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = &type, .self = m, .end = tree->n_contexts};
	return pmfs_model_header(
		m, before, spreads, after, PM_NONE, &ret->columns, &ret->n_columns, err);
}

/* If threads cannot be read, the file still exists: reading it reports the reason. */
int pmfs_has_several_threads(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	(void)item;
	if (p->ops->has)
		return p->ops->has(p, PM_HAS_SEVERAL_THREADS, err);
	int r = pmfs_model_threads(m, &threads, NULL);
	return r == -ENOMEM ? pmfs_no_memory(err) : r < 0 || threads->n > 1;
}
