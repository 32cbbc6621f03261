/* iterations.csv: one row per iteration. A row's position is the iteration's number. */
#include "fs/views/sums/iterations.h"

#include "formats/common/span.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

static void add_window(
	struct pm_text *out, const struct pmfs_iterations *all, const struct pmfs_iteration *it)
{
	uint64_t start, end;
	if (!pmfs_iteration_window(all, it, &start, &end))
		return;
	pm_text_str(out, "windows/");
	pm_span_print(out, start, end);
}

/* The window and, behind it in `scratch`, the path. */
static int set_places(struct pm_rows *rows, const struct pmfs_iterations *all,
	const struct pmfs_iteration *it, struct pm_cell cells[2], struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct pm_bytes path;
	add_window(rows->scratch, all, it);
	size_t len = rows->scratch->len;
	int r = pmfs_call_path(m, all->thread, it->seq, rows->scratch, &path, err);
	if (r < 0)
		return r;
	cells[0] = pm_cell_empty();
	if (len > 0)
		cells[0] = pm_cell_text((struct pm_bytes){pm_text_view(rows->scratch).p, len});
	cells[1] = pm_cell_text(path);
	return 0;
}

static int iterations_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_iterations *all;
	const struct pm_threads *threads;
	int r = pmfs_iterations(m, &all, err);
	if (r < 0 || rows->at >= all->n || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	bool on_thread = all->thread < threads->n; /* some formats have calls without threads */
	const struct pmfs_iteration *it = &all->items[rows->at++];
	*cells++ = pm_cell_u64(rows->at);
	pmfs_set_time(cells++, it->time_ns, all->origin_ns);
	pmfs_set_known(cells++, it->duration_ns, PM_NO_TIME);
	for (unsigned i = 0; i < PMFS_N_CATEGORIES; i++)
		*cells++ = it->own_ns[i] == (int64_t)PM_NO_SELF ? pm_cell_empty()
								: pm_cell_i64(it->own_ns[i]);
	*cells++ = on_thread ? pm_cell_u64(threads->threads[all->thread].id) : pm_cell_empty();
	r = set_places(rows, all, it, cells, err);
	return r < 0 ? r : 1;
}

int pmfs_iterations_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = iterations_next, .dense = true};
	static const char *const columns[] = {"iteration", "time_ns", "duration_ns", "program_ns",
		"idle_ns", "mpi_ns", "openmp_ns", "gpu_ns", "thread_ns", "io_ns", "memory_ns",
		"gc_ns", "sql_ns", "net_ns", "thread_id", "window", "path", NULL};
	_Static_assert(
		sizeof(columns) / sizeof(*columns) == PMFS_N_CATEGORIES + 7, "a column each");
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	return 0;
}
