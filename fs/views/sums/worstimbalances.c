/* Searches for imbalance where it matters: top down, in contexts with at least 1 % of the cost. */
#include "fs/views/sums/worstimbalances.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/imbalance.h"

static double lost(const struct pmfs_worst *item)
{
	return item->max - item->mean;
}

/* Whether a caller in the list has the same loss; its row shows it then. */
static bool is_told(const struct pmfs_worst_list *list, const struct pmfs_worst *item,
	const struct pm_tree *tree)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pmfs_worst *above = &list->items[i];
		if (above->context < item->context && item->context < tree->end[above->context] &&
			above->slowest == item->slowest &&
			fabs(lost(item) - lost(above)) < 0.01 * lost(above))
			return true;
	}
	return false;
}

/* Inserts into the sorted list; the last entry may be dropped. */
static void insert(struct pmfs_worst_list *list, const struct pmfs_worst *item)
{
	struct pmfs_worst *items = list->items;
	uint32_t at = list->n;
	while (at > 0 && lost(&items[at - 1]) < lost(item))
		at--;
	if (at == PMFS_N_WORST)
		return;
	if (list->n < PMFS_N_WORST)
		list->n++;
	memmove(&items[at + 1], &items[at], (list->n - at - 1) * sizeof(*items));
	items[at] = *item;
}

/* What is lost at the context, if its mean is above 0. */
static int look_at(struct pmfs_imbalance *s, uint32_t context, struct pmfs_worst *ret,
	bool *ret_found, struct pm_error *err)
{
	int r = pmfs_imbalance_read(s, context, err);
	const struct pmfs_spread *spread = &s->spreads[pmfs_leading_column(s->columns)];
	*ret_found = r == 0 && spread->n > 1 && spread->mean > 0 && spread->max > spread->mean;
	if (*ret_found)
		*ret = (struct pmfs_worst){context, spread->slowest, spread->max, spread->mean};
	return r;
}

static int search(struct pmfs_imbalance *s, double least, double *cells,
	struct pmfs_worst_list *ret, struct pm_error *err)
{
	const struct pm_tree *tree = s->tree;
	const struct pmfs_identity *identity;
	int r = pmfs_identity(s->model, &identity, err);
	if (r < 0)
		return r;
	struct pmfs_worst found;
	bool good;
	for (uint32_t i = 0; i < tree->n_contexts;) {
		r = pmfs_run_cells(s->model, i, false, cells, err);
		if (r < 0)
			return r;
		if (!(cells[pmfs_leading_column(s->columns)] >= least)) {
			i = tree->end[i];
			continue;
		}
		if (pmfs_is_call(identity, i)) {
			r = look_at(s, i, &found, &good, err);
			if (r < 0)
				return r;
			if (good && !is_told(ret, &found, tree))
				insert(ret, &found);
		}
		i++;
	}
	return 0;
}

int pmfs_worst_imbalances(
	struct pmfs_model *m, double whole, struct pmfs_worst_list *ret, struct pm_error *err)
{
	struct pmfs_imbalance *s;
	const struct pmfs_columns *c;
	const struct pm_threads *threads;
	int r = pmfs_model_columns(m, &c, err);
	if (r == 0)
		r = pmfs_model_threads(m, &threads, err);
	ret->n = 0;
	if (r < 0 || threads->n < 2 || c->n == 0 || !(whole > 0))
		return r;
	r = pmfs_imbalance_new(m, &s, err);
	if (r < 0)
		return r;
	double *cells = pmfs_cells_new(c->n);
	r = cells ? search(s, whole / 100, cells, ret, err) : pmfs_no_memory(err);
	free(cells);
	pmfs_imbalance_free(s);
	return r;
}
