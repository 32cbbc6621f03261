/* ranks.csv: threads.csv summed by rank, in order of the ranks. */
#include <math.h>
#include <stdlib.h>

#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/peers.h"
#include "fs/views/sums/threads.h"

struct place {
	uint64_t number;
	uint32_t index; /* in struct pmfs_peers */
};

struct ranks {
	const struct pmfs_columns *columns;
	const struct pmfs_peers *peers;
	struct place *order; /* by number */
	uint32_t *threads;   /* by index */
	pm_number *cells;    /* by index: columns->n each */
};

static int by_number(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static void rows_done(struct pm_rows *rows)
{
	struct ranks *all = rows->own;
	if (all) {
		free(all->order);
		free(all->threads);
		free(all->cells);
	}
	free(all);
	rows->own = NULL;
}

/* A thread that cannot be read has no costs, as in threads.csv. */
static int add_up(struct ranks *all, struct pmfs_model *m, pm_number *cells, struct pm_error *err)
{
	uint32_t n = all->columns->n;
	for (uint32_t i = 0; i < all->peers->n_threads; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		uint32_t thread = all->peers->by_rank[i], rank = all->peers->rank[thread];
		if (rank == PM_NONE)
			continue;
		int r = pmfs_thread_totals(m, thread, cells, &why);
		if (pm_is_passing(r))
			return pmfs_no_memory(err);
		all->threads[rank]++;
		for (uint32_t k = 0; r >= 0 && k < n; k++)
			pmfs_add(&all->cells[(size_t)rank * n + k], cells[k]);
	}
	return 0;
}

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct ranks *all = rows->own = calloc(1, sizeof(*all));
	int r = all ? pmfs_model_columns(m, &all->columns, err) : pmfs_no_memory(err);
	if (r < 0 || (r = pmfs_peers(m, &all->peers, err)) < 0)
		return r;
	uint32_t n = all->peers->n_ranks;
	all->order = malloc(((size_t)n + 1) * sizeof(*all->order));
	all->threads = calloc((size_t)n + 1, sizeof(*all->threads));
	all->cells = pmfs_cells_new(NULL, (size_t)n * all->columns->n);
	pm_number *cells = pmfs_cells_new(NULL, all->columns->n);
	if (!all->order || !all->threads || !all->cells || !cells) {
		free(cells);
		return pmfs_no_memory(err);
	}
	for (uint32_t i = 0; i < n; i++)
		all->order[i] = (struct place){all->peers->number_of[i], i};
	if (pm_sort(all->order, n, sizeof(*all->order), by_number) < 0)
		r = pmfs_no_memory(err);
	else
		r = add_up(all, m, cells, err);
	free(cells);
	return r;
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct ranks *all = rows->own;
	(void)err;
	if (rows->at >= all->peers->n_ranks)
		return 0;
	uint32_t rank = all->order[rows->at++].index;
	*cells++ = pm_cell_u64(all->peers->number_of[rank]);
	*cells++ = pm_cell_u64(all->threads[rank]);
	pmfs_number_cells(all->columns, all->cells + (size_t)rank * all->columns->n, cells);
	return 1;
}

int pmfs_ranks_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done, .dense = true};
	static const char *const before[] = {"rank", "threads", NULL};
	static const char *const after[] = {NULL};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_table_with_metrics(m, &type, before, after, ret, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	ret->end = threads->n; /* at most */
	return 0;
}

/* If threads cannot be read, there is none. */
int pmfs_has_ranks(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	(void)item;
	int r = p->ops->has ? p->ops->has(p, PM_HAS_RANKS, err) : 1;
	if (r <= 0)
		return r;
	r = pmfs_model_threads(m, &threads, NULL);
	if (pm_is_passing(r))
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < threads->n_keys; i++)
		if (strcmp(threads->keys[i], "rank") == 0)
			return 1;
	return 0;
}
