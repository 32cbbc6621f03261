#include "fs/views/sums/functioncategories.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/categoryrules.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/groups.h"

/* State while the categories of functions are determined. */
struct weighing {
	struct pmfs_model *model;
	const struct pmfs_identity *identity;
	const uint8_t *categories; /* by context */
	uint8_t *of;               /* by function */
	bool *mixed;               /* by function: its contexts are of several */
	bool any_mixed;
	double *own; /* by function and category */
};

enum { NOT_SEEN = PMFS_N_CATEGORIES };

/* Instances take precedence over parts, which have the category of their instance. */
static int look_at_contexts(struct weighing *w)
{
	const struct pmfs_identity *id = w->identity;
	struct pmfs_rules_found found = {.names.n = 0};
	bool wanted = true;
	for (uint32_t i = 0; i < id->tree->n_contexts; i++) {
		uint32_t function = pmfs_function_of(id, i);
		if (w->of[function] == NOT_SEEN)
			w->of[function] = w->categories[i];
		w->mixed[function] |= w->of[function] != w->categories[i];
		w->any_mixed |= w->mixed[function];
	}
	for (uint32_t i = 0; wanted && i < id->n; i++) {
		if (w->of[i] != NOT_SEEN)
			continue;
		const struct pmfs_rule *rule = pmfs_rule_in_tree(
			&found, id->tree, id->functions[i].name, id->functions[i].module);
		w->of[i] = rule ? (uint8_t)rule->category : PMFS_PROGRAM;
		wanted = !pm_work_cancelled();
	}
	pmfs_rules_found_done(&found);
	return wanted ? 0 : -ENOMEM;
}

/* A context's share in a table with a row for each function and category. */
static struct pmfs_share share_of(const struct weighing *w, uint32_t context)
{
	struct pmfs_share share = pmfs_function_share(w->identity, context);
	uint32_t parent = w->identity->tree->parent[context];
	share.row = share.row * PMFS_N_CATEGORIES + w->categories[context];
	if (share.above != PM_NONE)
		share.above = share.above * PMFS_N_CATEGORIES + w->categories[parent];
	return share;
}

static int weigh_contexts(struct weighing *w, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(w->model, &c, err);
	uint32_t column = r < 0 ? PM_NONE : pmfs_order_column(c);
	if (r < 0 || column == PM_NONE)
		return r;
	struct pmfs_columns one = {.n = 1, .columns = &c->columns[column]};
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < w->identity->tree->n_contexts; i++) {
		struct pmfs_share share = share_of(w, i);
		bool above = share.above != PM_NONE && w->mixed[share.above / PMFS_N_CATEGORIES];
		if (!above && !w->mixed[share.row / PMFS_N_CATEGORIES])
			continue;
		r = pmfs_run_cells(w->model, i, true, cells, err);
		if (r == 0)
			pmfs_share_costs(&one, w->own, NULL, &share, &cells[column]);
	}
	free(cells);
	return r;
}

static void take_dearest(struct weighing *w)
{
	for (uint32_t i = 0; i < w->identity->n; i++) {
		const double *own = w->own + (size_t)i * PMFS_N_CATEGORIES;
		for (uint8_t k = 0; w->mixed[i] && k < PMFS_N_CATEGORIES; k++)
			if (own[k] > 0 && !(own[w->of[i]] >= own[k]))
				w->of[i] = k;
	}
}

static int weigh(struct weighing *w, struct pm_error *err)
{
	size_t n = w->identity->n;
	w->of = malloc(n + 1);
	w->mixed = calloc(n + 1, sizeof(*w->mixed));
	if (!w->of || !w->mixed)
		return pmfs_no_memory(err);
	memset(w->of, NOT_SEEN, n + 1);
	if (look_at_contexts(w) < 0)
		return pmfs_no_memory(err);
	if (!w->any_mixed)
		return 0;
	w->own = pmfs_cells_new(n * PMFS_N_CATEGORIES);
	if (!w->own)
		return pmfs_no_memory(err);
	int r = weigh_contexts(w, err);
	if (r == 0)
		take_dearest(w);
	return r;
}

int pmfs_function_categories(struct pmfs_model *m, uint8_t **ret, struct pm_error *err)
{
	struct weighing w = {.model = m};
	int r = pmfs_identity(m, &w.identity, err);
	if (r == 0)
		r = pmfs_categories(m, &w.categories, err);
	if (r == 0)
		r = weigh(&w, err);
	free(w.mixed);
	free(w.own);
	if (r < 0)
		free(w.of);
	else
		*ret = w.of;
	return r;
}
