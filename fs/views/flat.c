/* What the flat tables share: sums of cells and their order. */
#include "fs/views/flat.h"

#include <stdlib.h>

void pmfs_add_cells(const struct pmfs_columns *c, double *to, const double *cells, bool outer)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (outer || c->columns[i].role != PM_ROLE_INCLUSIVE)
			pmfs_add(&to[i], cells[i]);
}

void pmfs_native_cells(const struct pmfs_columns *c, const struct pm_metrics *metrics,
	const double *values, double *cells)
{
	for (uint32_t i = 0; i < c->n; i++)
		cells[i] = c->columns[i].flat ? values[c->columns[i].flat - metrics->metrics] : NAN;
}

double *pmfs_cells_new(size_t n)
{
	double *cells = calloc(n + 1, sizeof(*cells));
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

uint32_t *pmfs_order(const double *cells, uint32_t n, uint32_t n_columns, uint32_t column)
{
	struct weighed *weighed = malloc(((size_t)n + 1) * sizeof(*weighed));
	uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));
	if (!weighed || !order) {
		free(weighed);
		free(order);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		double weight = column == PM_NONE ? 0 : cells[(size_t)i * n_columns + column];
		weighed[i] = (struct weighed){isnan(weight) ? -INFINITY : weight, i};
	}
	qsort(weighed, n, sizeof(*weighed), heavier_first);
	for (uint32_t i = 0; i < n; i++)
		order[i] = weighed[i].row;
	free(weighed);
	return order;
}

uint32_t pmfs_order_column(const struct pmfs_columns *c)
{
	if (c->first_excl != PM_NONE)
		return c->first_excl;
	return c->n > 0 ? 0 : PM_NONE;
}
