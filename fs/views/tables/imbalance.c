/*
 * imbalance.csv: load imbalance of each context; a row's position is the context's index.
 * imbalance-functions.csv: of each function; its position is the row of functions.csv.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/efficiency.h"
#include "fs/views/sums/imbalance.h"
#include "fs/views/sums/threads.h"

/* ---- cells ---- */

static struct pm_cell *spread_cells(const struct pmfs_spread *s, struct pm_cell *cells)
{
	bool known = s->n > 0;
	cells[0] = known ? pm_cell_f64(s->min) : pm_cell_empty();
	cells[1] = known ? pm_cell_f64(s->mean) : pm_cell_empty();
	cells[2] = known ? pm_cell_f64(s->max) : pm_cell_empty();
	cells[3] = known ? pm_cell_f64(sqrt(s->squares / s->n)) : pm_cell_empty();
	return cells + 4;
}

/* The columns of ranks are there if threads have any. */
static bool has_ranks(const struct pm_threads *threads)
{
	for (uint32_t i = 0; i < threads->n_keys; i++)
		if (strcmp(threads->keys[i], "rank") == 0)
			return true;
	return false;
}

static struct pm_cell *work_cells(const struct pmfs_work *w, bool waiting,
	const struct pmfs_peers *peers, const struct pm_threads *threads, struct pm_cell *cells)
{
	*cells++ = pm_cell_u64(w->threads);
	*cells++ = pm_cell_u64(w->peers);
	*cells++ = pm_cell_u64(waiting);
	cells[0] = cells[1] = cells[2] = pm_cell_empty();
	if (w->threads > 0) {
		if (w->mean != 0)
			cells[0] = pm_cell_f64(w->max / w->mean);
		cells[1] = pm_cell_f64(w->max - w->mean);
		cells[2] = pm_cell_u64(threads->threads[w->slowest].id);
	}
	cells += 3;
	if (!has_ranks(threads))
		return cells;
	bool ranked = w->threads > 0 && w->slowest_rank != PM_NONE;
	*cells++ = ranked ? pm_cell_f64(w->rank_lost) : pm_cell_empty();
	*cells++ = ranked ? pm_cell_u64(peers->number_of[w->slowest_rank]) : pm_cell_empty();
	return cells;
}

static int describe(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, uint64_t end, struct pm_table *ret, struct pm_error *err)
{
	static const char *const spreads[] = {"_min", "_mean", "_max", "_stddev", NULL};
	static const char *const after[] = {"threads", "peers", "waiting", "imbalance", "lost",
		"slowest_thread_id", "name", NULL};
	static const char *const after_ranks[] = {"threads", "peers", "waiting", "imbalance",
		"lost", "slowest_thread_id", "rank_lost", "slowest_rank", "name", NULL};
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = type, .self = m, .end = end};
	return pmfs_model_header(m, before, spreads, has_ranks(threads) ? after_ranks : after,
		PM_NONE, &ret->columns, &ret->n_columns, err);
}

/* ---- contexts ---- */

struct reading {
	struct pmfs_imbalance spreads;
	const struct pmfs_work *work;
	const uint8_t *categories;
};

static void start_rows(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct reading *reading = own;
	pmfs_imbalance_start(a, &reading->spreads, m, err);
	pm_build_check(a, pmfs_works(m, &reading->work, err));
	pm_build_check(a, pmfs_categories(m, &reading->categories, err));
}

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct reading), start_rows, err);
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct reading *reading = rows->own;
	struct pmfs_imbalance *s = &reading->spreads;
	uint32_t context;
	int r;
	do {
		if (rows->at >= s->tree->n_contexts)
			return 0;
		context = (uint32_t)rows->at++;
		r = pmfs_imbalance_read(s, context, err);
		if (r < 0)
			return r;
	} while (r == 0);
	*cells++ = pm_cell_u64(pm_tree_number(s->tree, context));
	for (uint32_t i = 0; i < s->columns->n_shown; i++)
		cells = spread_cells(&s->spreads[i], cells);
	cells = work_cells(&reading->work[context], pmfs_is_waiting(reading->categories[context]),
		s->peers, s->threads, cells);
	*cells = pm_cell_text(
		pmfs_frame_name(s->tree, pm_tree_frame(s->tree, context), rows->scratch));
	return 1;
}

int pmfs_imbalance_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = pmfs_rows_done, .dense = true};
	static const char *const before[] = {"context_id", NULL};
	const struct pm_tree *tree;
	(void)item;
	int r = pmfs_model_tree(m, &tree, err);
	return r < 0 ? r : describe(m, &type, before, tree->n_contexts, ret, err);
}

/* ---- functions ---- */

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_function_imbalance *s;
	const struct pm_threads *threads;
	int r = pmfs_function_imbalance(m, &s, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	const struct pmfs_functions *f = s->functions;
	const struct pmfs_spread *spreads;
	uint32_t n = f->columns->n, row;
	bool some = false;
	do {
		if (rows->at >= f->n)
			return 0;
		row = (uint32_t)rows->at++;
		spreads = s->spreads + (size_t)row * n;
		for (uint32_t i = 0; i < n; i++)
			some |= spreads[i].n > 0;
	} while (!some);
	*cells++ = pm_cell_u64(pmfs_function_id(f, row));
	for (uint32_t i = 0; i < f->columns->n_shown; i++)
		cells = spread_cells(&spreads[i], cells);
	cells = work_cells(&s->work[row], pmfs_is_waiting(f->category[f->function[row]]), s->peers,
		threads, cells);
	*cells = pm_cell_text(pmfs_function_name(f, row));
	return 1;
}

int pmfs_imbalance_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = functions_next, .dense = true};
	static const char *const before[] = {"function_id", NULL};
	const struct pmfs_functions *f;
	(void)item;
	int r = pmfs_functions(m, &f, err);
	return r < 0 ? r : describe(m, &type, before, f->n, ret, err);
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
	return pm_is_passing(r) ? pmfs_no_memory(err) : r < 0 || threads->n - threads->n_lanes > 1;
}

/* ---- efficiency.csv of a run: one row ---- */

/*
 * Where costs would have to be read to be sure, and directories are listed without, there may be no
 * row. What a filter leaves out is no loss.
 */
int pmfs_has_efficiency(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pmfs_empty_threads *empty;
	int r = pmfs_model_unfiltered(m) ? 0 : pmfs_has_several_threads(m, item, err);
	if (r <= 0 || (r = pmfs_efficiency_may_apply(m, err)) <= 0 ||
		pmfs_model_profile(m)->ops->has || (r = pmfs_empty_threads(m, &empty, err)) < 0)
		return r;
	return empty->n_threads - empty->n_empty > 1;
}

static int efficiency_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_efficiency *e;
	struct pm_bytes title;
	if (rows->at > 0)
		return 0;
	int r = pmfs_efficiency(m, &e, err);
	if (r < 0 || (r = pm_profile_title(pmfs_model_profile(m), &title, err)) < 0)
		return r;
	rows->at = 1;
	if (e->threads < 2)
		return 0;
	pmfs_efficiency_cells(e, NULL, false, cells);
	pm_set_text(cells, title);
	return 1;
}

int pmfs_efficiency_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = efficiency_next, .dense = true};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.columns = pmfs_efficiency_columns,
		.n_columns = PMFS_EFFICIENCY_COLUMNS,
		.self = m,
		.end = 1};
	return 0;
}
