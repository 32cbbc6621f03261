/*
 * Exclusive and inclusive costs by category. An inclusive cost counts once, at the outermost
 * context of a category on each path.
 */
#include "fs/views/sums/categorysums.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/categoryrules.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/groups.h"

struct grouping {
	const uint8_t *of;
	uint64_t *contexts;
};

static void sums_done(void *p)
{
	struct pmfs_category_sums *s = p;
	free(s->cells);
}

static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct grouping *g = self;
	share->row = g->of[context];
	share->counts = true;
	g->contexts[share->row]++;
	return 0;
}

/* ---- the whole ---- */

static int inclusive_at_top(
	struct pmfs_model *m, const struct pm_tree *tree, double *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*ret = 0;
	if (r < 0 || c->first_incl == PM_NONE)
		return r;
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i = tree->end[i]) {
		r = pmfs_run_cells(m, i, true, cells, err);
		if (r == 0 && !isnan(cells[c->first_incl]))
			*ret += cells[c->first_incl];
	}
	free(cells);
	return r;
}

static int find_whole(struct pmfs_model *m, const struct pm_tree *tree,
	struct pmfs_category_sums *s, struct pm_error *err)
{
	uint32_t own = s->columns->first_excl;
	for (uint32_t i = 0; own != PM_NONE && i < PMFS_N_CATEGORIES; i++)
		if (!isnan(s->cells[i * s->columns->n + own]))
			s->whole += s->cells[i * s->columns->n + own];
	return s->whole != 0 ? 0 : inclusive_at_top(m, tree, &s->whole, err);
}

/* ---- adding up ---- */

static int order_rows(struct pmfs_category_sums *s)
{
	uint32_t *order = pmfs_order(
		s->cells, PMFS_N_CATEGORIES, s->columns->n, pmfs_order_column(s->columns));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++)
		if (s->contexts[order[i]] > 0)
			s->order[s->n++] = order[i];
	free(order);
	return 0;
}

static int add_up(struct pmfs_model *m, struct pmfs_category_sums *s, struct pm_error *err)
{
	struct grouping by = {.contexts = s->contexts};
	struct pmfs_sums sums = {.columns = s->columns};
	struct pmfs_grouping g = {.model = m, .place = place, .self = &by};
	uint32_t row;
	int r = pmfs_model_tree(m, &g.tree, err);
	if (r < 0 || (r = pmfs_categories(m, &by.of, err)) < 0)
		return r;
	g.end = g.tree->n_contexts;
	for (uint32_t i = 0; r == 0 && i < PMFS_N_CATEGORIES; i++)
		r = pmfs_sums_row(&sums, &row) < 0 ? pmfs_no_memory(err) : 0;
	if (r == 0)
		r = pmfs_group(&g, &sums, err);
	s->cells = sums.cells;
	sums.cells = NULL;
	pmfs_sums_done(&sums);
	return r < 0 ? r : find_whole(m, g.tree, s, err);
}

static int sums_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_category_sums *s = p;
	int r = pmfs_model_columns(m, &s->columns, err);
	if (r == 0)
		r = add_up(m, s, err);
	if (r == 0 && order_rows(s) < 0)
		r = pmfs_no_memory(err);
	return r;
}

int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_category_sums), sums_fill,
		sums_done, .what = "the sums of categories"};
	return pmfs_model_part(m, PMFS_PART_CATEGORY_SUMS, &type, ret, err);
}

int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err)
{
	const struct pmfs_category_sums *s;
	int r = pmfs_category_sums(m, &s, err);
	if (r == 0)
		*ret = s->whole;
	return r;
}

/* ---- functions ---- */

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
