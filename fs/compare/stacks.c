/* Stacks of two sides: those of each run, mapped to the contexts of the union. */
#include "fs/compare/stacks.h"

#include <stdlib.h>

#include "fs/compare/flat.h"

struct summing {
	const struct pmfs_tree_union *u;
	struct pmfs_two_stacks *stacks;
	uint32_t quantity;
	bool shares;
	uint32_t n[PMFS_N_SIDES]; /* repetitions so far */
	double *sums;
};

bool pmfs_quantity_is_shown(const struct pmfs_costs *costs, uint32_t quantity)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(costs, quantity);
	bool costly = false;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		if (cost->n_having[side] > 0 && !cost->has[side])
			return false;
		costly |= costs->whole[side][quantity].mean != 0;
	}
	return costly;
}

/* The column of the run's model for the quantity, or PM_NONE. */
static uint32_t column_of(
	const struct pmfs_costs *k, const struct pmfs_compared_run *run, uint32_t quantity)
{
	for (uint32_t i = 0; i < run->n_columns; i++)
		if (k->costs[run->cost[i]].quantity == quantity)
			return i;
	return PM_NONE;
}

static void add_repetition(struct summing *s, enum pmfs_side side)
{
	double *mean = s->stacks->side[side].self;
	uint32_t n = ++s->n[side];
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		mean[i] += (s->sums[i] - mean[i]) / n;
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct summing *s = self;
	const struct pmfs_compared_run *of = &s->u->costs->runs[run];
	uint32_t column = column_of(s->u->costs, of, s->quantity);
	struct pmfs_stacks stacks = {.tree = NULL};
	double whole = of->whole[s->quantity], scale = s->shares && whole != 0 ? 100 / whole : 1;
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		s->sums[i] = 0;
	if (column != PM_NONE) {
		int r = pmfs_stacks_make(m, column, PM_NONE, PM_NONE, &stacks, err);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < stacks.end && i < s->u->n_of[run]; i++)
			if (s->u->of[run][i] != PM_NONE)
				s->sums[s->u->of[run][i]] += stacks.self[i] * scale;
		pmfs_stacks_done(&stacks);
	}
	add_repetition(s, of->side);
	return 0;
}

static int allocate(struct summing *s)
{
	const struct pm_tree *tree = &s->u->tree;
	size_t n = (size_t)tree->n_contexts + 1;
	s->sums = malloc(n * sizeof(*s->sums));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		struct pmfs_stacks *t = &s->stacks->side[side];
		*t = (struct pmfs_stacks){
			.tree = tree, .column = &s->stacks->column, .end = tree->n_contexts};
		t->shown = malloc(n * sizeof(*t->shown));
		t->self = calloc(n, sizeof(*t->self));
		if (!t->shown || !t->self)
			return -ENOMEM;
		pmfs_stacks_find_frames(tree, 0, tree->n_contexts, t->shown);
	}
	return s->sums ? 0 : -ENOMEM;
}

int pmfs_two_stacks_make(struct pmfs_compare *c, const struct pmfs_tree_union *u, uint32_t quantity,
	bool shares, struct pmfs_two_stacks *ret, struct pm_error *err)
{
	struct summing s = {.u = u, .stacks = ret, .quantity = quantity, .shares = shares};
	const struct pmfs_cost *cost = pmfs_quantity_cost(u->costs, quantity);
	*ret = (struct pmfs_two_stacks){
		.column = {.export = cost->export,
			.export_scale = cost->export_scale,
			.flat = &ret->metric},
		.metric = {.name = cost->metric, .unit = cost->unit},
	};
	int r = allocate(&s);
	if (r == 0)
		r = pmfs_compare_read(c, u->costs, (struct pmfs_reader){NULL, read_run}, &s, err);
	free(s.sums);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

void pmfs_two_stacks_done(struct pmfs_two_stacks *s)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		pmfs_stacks_done(&s->side[side]);
}
