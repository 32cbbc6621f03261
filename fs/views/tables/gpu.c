/* gpu.csv. A row's position is its number. */
#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/gpu.h"

static int gpu_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_gpu *t;
	int r = pmfs_gpu(pmfs_model_of(rows->table->self), &t, err);
	if (r < 0 || rows->at >= t->n)
		return r;
	const struct pmfs_gpu_row *g = &t->rows[rows->at++];
	const struct pmfs_function *function = pmfs_function_at(t->functions, g->row);
	double launches = (double)g->launches, total_ns = (double)g->total_ns;
	cells[0] = pmfs_cell(g->launches);
	cells[1] = pmfs_cell(g->total_ns);
	cells[2] = pmfs_cell(launches > 0 ? total_ns / launches : NAN);
	cells[3] = pmfs_cell(g->max_ns);
	cells[4] = pmfs_cell(t->total_ns > 0 ? total_ns / t->total_ns : NAN);
	cells[5] = pmfs_cell(g->bytes);
	cells[6] = pmfs_cell(total_ns > 0 ? (double)g->bytes / total_ns * 1e9 : NAN);
	cells[7] = pm_cell_str(g->operation);
	cells[8] = pm_cell_lasting(t->functions->tree->texts[function->module]);
	cells[9] = pm_cell_lasting(function->name);
	return 1;
}

int pmfs_gpu_table(struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = gpu_next, .dense = true};
	static const char *const columns[] = {"launches", "total_ns", "mean_ns", "max_ns", "share",
		"bytes", "bytes_per_sec", "operation", "module", "kernel", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	return 0;
}

int pmfs_has_gpu(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	return pmfs_gpu_has(m, err);
}
