/* What the flat tables share: sums of cells and their order. */
#include "fs/views/model/flat.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

void pmfs_add_cells(const struct pmfs_columns *c, pm_number *to, const pm_number *cells, bool outer)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (outer || c->columns[i].role != PM_ROLE_INCLUSIVE)
			pmfs_add(&to[i], cells[i]);
}

int pmfs_sums_row(struct pmfs_sums *s, uint32_t *ret)
{
	size_t n_columns = s->columns->n;
	size_t n = n_columns ? n_columns : 1;
	struct pm_arena *a = s->arena;
	if (s->n >= PM_LIMIT_ITEMS ||
		pm_list_room_in(a, &s->cells, s->n, &s->room_cells, n * sizeof(*s->cells)) < 0 ||
		(s->to_be_tidied &&
			pm_list_room_in(a, &s->taken, s->n, &s->room_taken, n * sizeof(*s->taken)) <
				0) ||
		pm_list_room_in(a, &s->until, s->n, &s->room_until, sizeof(*s->until)) < 0) {
		pm_arena_failed(a);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_columns; i++) {
		s->cells[s->n * n_columns + i] = NAN;
		if (s->taken)
			s->taken[s->n * n_columns + i] = 0;
	}
	s->until[s->n] = 0;
	*ret = s->n++;
	return 0;
}

void pmfs_sums_tidy(struct pmfs_sums *s)
{
	for (size_t i = 0; i < (size_t)s->n * s->columns->n; i++)
		if (!isnan(s->cells[i]) && fabs((double)s->cells[i]) <= 1e-11 * s->taken[i])
			s->cells[i] = 0;
}

void pmfs_sums_done(struct pmfs_sums *s)
{
	pm_arena_free(s->arena, s->cells);
	pm_arena_free(s->arena, s->taken);
	pm_arena_free(s->arena, s->until);
}

uint32_t pmfs_tree_height(const struct pm_tree *tree)
{
	uint32_t height = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (tree->depth[i] >= height)
			height = tree->depth[i] + 1;
	return height;
}

void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const pm_number *values, pm_number *cells)
{
	for (uint32_t i = 0; i < c->n; i++)
		cells[i] = c->columns[i].flat ? values[c->columns[i].flat - metrics->metrics] : NAN;
}

pm_number *pmfs_cells_new(struct pm_arena *a, size_t n)
{
	pm_number *cells = pm_arena_zeroed(a, n + 1, sizeof(*cells));
	for (size_t i = 0; cells && i < n; i++)
		cells[i] = NAN;
	return cells;
}

struct weighed {
	double weight;
	uint32_t row;
};

static int heavier_first(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

uint32_t *pmfs_order(
	struct pm_arena *a, const pm_number *cells, uint32_t n, uint32_t n_columns, uint32_t column)
{
	uint32_t *order = pm_arena_realloc(a, NULL, ((size_t)n + 1) * sizeof(*order));
	struct weighed *weighed = order ? malloc(((size_t)n + 1) * sizeof(*weighed)) : NULL;
	for (uint32_t i = 0; weighed && i < n; i++) {
		double weight = column == PM_NONE ? 0 : cells[(size_t)i * n_columns + column];
		weighed[i] = (struct weighed){isnan(weight) ? -INFINITY : fabs(weight), i};
	}
	bool sorted = weighed && pm_sort(weighed, n, sizeof(*weighed), heavier_first) == 0;
	for (uint32_t i = 0; sorted && i < n; i++)
		order[i] = weighed[i].row;
	free(weighed);
	if (sorted)
		return order;
	pm_arena_free(a, order);
	return pm_arena_failed(a);
}

uint32_t pmfs_order_column(const struct pmfs_columns *c)
{
	if (c->first_excl != PM_NONE)
		return c->first_excl;
	return c->n > 0 ? 0 : PM_NONE;
}

struct pm_cell pmfs_texts_cell(const struct pm_evals *evals, uint32_t file)
{
	uint64_t i = PM_LOWER_BOUND(k, 0, evals->n_joined, evals->joined[k].text < file);
	bool found = i < evals->n_joined && evals->joined[i].text == file;
	return found ? pm_cell_u64(evals->joined[i].texts) : pm_cell_empty();
}

bool pmfs_costs_overlap(const struct pmfs_model *m)
{
	return pmfs_model_profile(m)->inclusive_overlaps;
}
