#include "fs/views/sums/worstimbalances.h"

#include <stdlib.h>
#include <string.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"

/* Chains are looked at until as many are found as are wanted, but not more than this. */
enum { MOST_CHAINS = 64 };

/* Contexts that may be listed, in pre-order. */
struct candidates {
	const struct pm_tree *tree;
	uint32_t n;
	uint32_t *context;
	double *lost;
	bool *told; /* its chain is in the list */
};

static int find_candidates(struct candidates *c, struct pmfs_model *m, double least, bool waiting,
	const struct pmfs_work *work, struct pm_error *err)
{
	const struct pmfs_identity *identity;
	const struct pmfs_columns *columns;
	const uint8_t *categories;
	int r = pmfs_identity(m, &identity, err);
	if (r < 0 || (r = pmfs_model_columns(m, &columns, err)) < 0 ||
		(r = pmfs_categories(m, &categories, err)) < 0)
		return r;
	double *cells = pmfs_cells_new(columns->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < c->tree->n_contexts; i++) {
		r = pmfs_run_cells(m, i, false, cells, err);
		if (!(cells[pmfs_leading_column(columns)] >= least)) {
			i = c->tree->end[i] - 1;
			continue;
		}
		double lost = work[i].max - work[i].mean;
		if (!(lost > least * 1e-3) || work[i].peers < 2 || !pmfs_is_call(identity, i) ||
			pmfs_is_waiting(categories[i]) != waiting)
			continue;
		c->context[c->n] = i;
		c->lost[c->n++] = lost;
	}
	free(cells);
	return r;
}

/* The deepest of those from `top` on down that lose at least 90 % of what it does. */
static uint32_t deepest_of(const struct candidates *c, uint32_t top)
{
	uint32_t best = top, end = c->tree->end[c->context[top]];
	for (uint32_t i = top + 1; i < c->n && c->context[i] < end; i++) {
		uint32_t depth = c->tree->depth[c->context[i]];
		uint32_t deepest = c->tree->depth[c->context[best]];
		if (c->lost[i] >= 0.9 * c->lost[top] &&
			(depth > deepest || (depth == deepest && c->lost[i] > c->lost[best])))
			best = i;
	}
	return best;
}

static void choose(struct candidates *c, const uint32_t *order, struct pmfs_worst_list *ret)
{
	uint32_t chains = 0;
	for (uint32_t k = 0; k < c->n && ret->n < PMFS_N_WORST && chains < MOST_CHAINS; k++) {
		if (c->told[order[k]])
			continue;
		uint32_t top = order[k], last = deepest_of(c, top);
		chains++;
		if (!c->told[last])
			ret->contexts[ret->n++] = c->context[last];
		for (uint32_t i = top; i <= last; i++)
			c->told[i] |= c->context[last] < c->tree->end[c->context[i]];
	}
}

int pmfs_worst_imbalances(struct pmfs_model *m, double whole, bool waiting,
	struct pmfs_worst_list *ret, struct pm_error *err)
{
	struct candidates c = {.n = 0};
	const struct pm_threads *threads;
	const struct pmfs_columns *columns;
	*ret = (struct pmfs_worst_list){.n = 0};
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0 ||
		threads->n - threads->n_lanes < 2 || columns->n == 0 || !(whole > 0))
		return r;
	if ((r = pmfs_model_tree(m, &c.tree, err)) < 0 || (r = pmfs_works(m, &ret->work, err)) < 0)
		return r;
	size_t n = (size_t)c.tree->n_contexts + 1;
	c.context = malloc(n * sizeof(*c.context));
	c.lost = malloc(n * sizeof(*c.lost));
	c.told = calloc(n, sizeof(*c.told));
	r = c.context && c.lost && c.told
		? find_candidates(&c, m, whole / 100, waiting, ret->work, err)
		: pmfs_no_memory(err);
	uint32_t *order = r == 0 ? pmfs_order(c.lost, c.n, 1, 0) : NULL;
	if (order)
		choose(&c, order, ret);
	else if (r == 0)
		r = pmfs_no_memory(err);
	free(order);
	free(c.context);
	free(c.lost);
	free(c.told);
	return r;
}
