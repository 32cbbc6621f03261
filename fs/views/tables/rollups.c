/*
 * Costs by load module, file and category. A row's position is its number; of
 * threads-by-category.csv, its thread's index × PMFS_N_CATEGORIES + its place among the rows of the
 * thread.
 */
#include "fs/views/sums/rollups.h"

#include <math.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

/* ---- modules.csv, files.csv ---- */

/* table.a = is it of files? */
static int rollup_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_rollup *u;
	int r = rows->table->a ? pmfs_files(m, &u, err) : pmfs_modules(m, &u, err);
	if (r < 0 || rows->at >= u->sums.n)
		return r;
	uint32_t row = u->order[rows->at++];
	pm_set_u64(cells++, u->n_functions[row]);
	cells = pmfs_number_cells(
		u->sums.columns, u->sums.cells + (size_t)row * u->sums.columns->n, cells);
	if (u->of_files && pmfs_texts_are_joined(u->functions->evals))
		*cells++ = pmfs_texts_cell(u->functions->evals, u->file[row]);
	pm_set_text(cells, u->names.items[row]);
	return 1;
}

static const struct pm_table_type rollup_type = {.next = rollup_next, .dense = true};
static const char *const before_rollup[] = {"functions", NULL};

int pmfs_modules_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const char *const after[] = {"module", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &rollup_type, before_rollup, after, ret, err);
}

int pmfs_files_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const char *const after[] = {"texts", "file", NULL};
	const struct pm_flat *flat;
	(void)item;
	int r = pmfs_model_flat(m, &flat, err);
	if (r == 0)
		r = pmfs_table_with_metrics(m, &rollup_type, before_rollup,
			after + !pmfs_texts_are_joined(flat->evals), ret, err);
	ret->a = true;
	return r;
}

int pmfs_has_files(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_files;
}

int pmfs_has_modules(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	(void)item;
	(void)err;
	return p->has_modules || p->module_end;
}

/* ---- categories.csv ---- */

static int categories_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_category_sums *s = NULL;
	int r = pmfs_category_sums(pmfs_model_of(rows->table->self), &s, err);
	if (r < 0 || !s || rows->at >= s->n)
		return r;
	uint32_t category = s->order[rows->at++];
	const pm_number *numbers = s->cells + (size_t)category * s->columns->n;
	uint32_t own = s->columns->first_excl;
	*cells++ = pm_cell_u64(s->contexts[category]);
	cells = pmfs_number_cells(s->columns, numbers, cells);
	pm_set_f64(cells,
		own == PM_NONE ? NAN
			       : pmfs_category_share(category, numbers[own], s->idle, s->busy));
	pm_set_text(&cells[1], pmfs_category_name((enum pmfs_category)category));
	return 1;
}

int pmfs_categories_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = categories_next, .dense = true};
	static const char *const before[] = {"contexts", NULL};
	static const char *const after[] = {"share", "category", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

/* ---- threads-by-category.csv ---- */

struct reading {
	struct pm_arena *arena;
	struct pmfs_thread_categories costs;
	const struct pm_threads *threads;
	const struct pmfs_thread_names *names;
	uint32_t thread; /* whose costs these are, or PM_NONE */
	uint32_t n, order[PMFS_N_CATEGORIES];
	double busy; /* what shares are of, as in categories.csv */
};

static void start_threads(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct reading *t = own;
	t->arena = a;
	t->thread = PM_NONE;
	pm_build_check(a, pmfs_model_threads(m, &t->threads, err));
	pm_build_check(a, pmfs_model_thread_names(m, &t->names, err));
	pmfs_thread_categories_start(a, &t->costs, m, err);
}

static int threads_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct reading), start_threads, err);
}

/* Categories with costs, by those. */
static void order_thread(void *context)
{
	struct reading *t = context;
	const struct pmfs_columns *c = t->costs.columns;
	uint32_t *order =
		pmfs_order(t->arena, t->costs.cells, PMFS_N_CATEGORIES, c->n, pmfs_order_column(c));
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
	pm_arena_free(t->arena, order);
}

/* A thread that cannot be read has no rows; damage.csv lists it. */
static int read_thread(struct reading *t, uint32_t thread, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = pmfs_thread_categories_read(&t->costs, thread, &why);
	t->n = 0;
	t->busy = -t->costs.nothing;
	if (r == 0 && (r = pm_build(t->arena, order_thread, t)) == 0)
		t->thread = thread;
	return pm_is_passing(r) ? pmfs_no_memory(err) : 0;
}

static int threads_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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
	pm_set_f64(cells,
		c->first_excl == PM_NONE ? NAN
					 : pmfs_category_share(category, numbers[c->first_excl],
						   t->costs.nothing, t->busy));
	pm_set_text(&cells[1], pmfs_category_name((enum pmfs_category)category));
	pm_set_text(&cells[2], pm_bytes_of(t->names->paths[t->thread]));
	return 1;
}

int pmfs_thread_categories_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = threads_start,
		.next = threads_next,
		.done = pmfs_rows_done,
		.dense = true};
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

/* ---- missing-symbols.csv: load modules of which code has no names ---- */

static int missing_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_missings *all;
	int r = pmfs_missings(pmfs_model_of(table->self), &all, err);
	if (r < 0)
		return r;
	table->columns = all->columns;
	table->n_columns = sizeof(all->columns) / sizeof(*all->columns);
	return 0;
}

static int missing_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_missings *all = NULL;
	int r = pmfs_missings(pmfs_model_of(rows->table->self), &all, err);
	if (r < 0 || rows->at >= all->n)
		return r;
	const struct pmfs_missing *row = &all->rows[rows->at++];
	cells[0] = pmfs_cell(row->samples);
	cells[1] = pmfs_cell(row->cost);
	cells[2] = pm_cell_text(row->module);
	cells[3] = pm_cell_text(row->build_id);
	cells[4] = pm_cell_str(row->why ? row->why : "");
	cells[5] = pm_cell_str(row->tried ? row->tried : "");
	return 1;
}

int pmfs_missing_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.next = missing_next, .columns = missing_columns, .dense = true};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type, .self = m, .types = "fftttt"};
	return 0;
}

/* Of measurements of machine code, whether or not all of it has names. */
int pmfs_may_miss_names(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pm_profile_has(pmfs_model_profile(m), missing);
}
