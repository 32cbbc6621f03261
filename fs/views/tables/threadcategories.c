/*
 * threads-by-category.csv: what each thread costs, by category. A row's position is its thread's
 * index × PMFS_N_CATEGORIES + its place among the rows of the thread.
 */
#include "fs/views/sums/rollups.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

struct reading {
	struct pm_arena arena;
	struct pmfs_thread_categories costs;
	const struct pm_threads *threads;
	const struct pmfs_thread_names *names;
	uint32_t thread; /* whose costs these are, or PM_NONE */
	uint32_t n, order[PMFS_N_CATEGORIES];
	double busy; /* what shares are of, as in categories.csv */
	bool idles;
};

static void rows_done(struct pm_rows *rows)
{
	struct reading *r = rows->own;
	if (r)
		pm_arena_done(&r->arena);
	free(r);
	rows->own = NULL;
}

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct reading *t = rows->own = calloc(1, sizeof(*t));
	int r = t ? pmfs_model_threads(m, &t->threads, err) : pmfs_no_memory(err);
	if (r < 0 || (r = pmfs_model_thread_names(m, &t->names, err)) < 0)
		return r;
	t->thread = PM_NONE;
	return pmfs_thread_categories_start(&t->arena, &t->costs, m, err);
}

/* A thread that cannot be read has no rows; damage.csv lists it. */
static int read_thread(struct reading *t, uint32_t thread, struct pm_error *err)
{
	const struct pmfs_columns *c = t->costs.columns;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = pmfs_thread_categories_read(&t->costs, thread, &why);
	t->n = 0;
	t->busy = -t->costs.nothing;
	t->idles = t->costs.nothing != 0;
	if (r < 0)
		return pm_is_passing(r) ? pmfs_no_memory(err) : 0;
	uint32_t *order =
		pmfs_order(NULL, t->costs.cells, PMFS_N_CATEGORIES, c->n, pmfs_order_column(c));
	if (!order)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++) {
		const pm_number *cells = t->costs.cells + (size_t)order[i] * c->n;
		bool costs = false;
		for (uint32_t k = 0; k < c->n; k++)
			costs |= !isnan(cells[k]);
		if (costs)
			t->order[t->n++] = order[i];
		if (c->first_excl != PM_NONE && !isnan(cells[c->first_excl]))
			t->busy += cells[c->first_excl];
	}
	free(order);
	t->thread = thread;
	return 0;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct reading *t = rows->own;
	const struct pmfs_columns *c = t->costs.columns;
	for (;; rows->at = (rows->at / PMFS_N_CATEGORIES + 1) * PMFS_N_CATEGORIES) {
		uint32_t thread = (uint32_t)(rows->at / PMFS_N_CATEGORIES);
		if (thread >= t->threads->n)
			return 0;
		int r = t->thread == thread ? 0 : read_thread(t, thread, err);
		if (r < 0)
			return r;
		if (rows->at % PMFS_N_CATEGORIES < t->n)
			break;
	}
	rows->row = rows->at++;
	uint32_t category = t->order[rows->row % PMFS_N_CATEGORIES];
	const pm_number *numbers = t->costs.cells + (size_t)category * c->n;
	*cells++ = pm_cell_u64(t->threads->threads[t->thread].id);
	cells = pmfs_identity_cells(t->threads, t->thread, cells);
	cells = pmfs_number_cells(c, numbers, cells);
	pm_set_empty(cells);
	if (c->first_excl != PM_NONE && t->busy != 0 && !(t->idles && category == PMFS_IDLE))
		pm_set_f64(cells,
			isnan(numbers[c->first_excl]) ? 0
						      : (double)numbers[c->first_excl] / t->busy);
	pm_set_text(&cells[1], pmfs_category_name((enum pmfs_category)category));
	pm_set_text(&cells[2], pm_bytes_of(t->names->paths[t->thread]));
	return 1;
}

int pmfs_thread_categories_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done, .dense = true};
	static const char *const after[] = {"share", "category", "path", NULL};
	const struct pmfs_thread_names *names;
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0 || (r = pmfs_model_thread_names(m, &names, err)) < 0 ||
		(r = pmfs_table_with_metrics(m, &type, names->before, after, ret, err)) < 0)
		return r;
	ret->end = (uint64_t)threads->n * PMFS_N_CATEGORIES;
	return 0;
}
