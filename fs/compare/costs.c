/*
 * The runs of a comparison and their columns. Columns of different runs are matched by name: names
 * are stems with units, so the formats need not be the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/compare/join.h"
#include "fs/views/sums/totals.h"

struct building {
	struct pmfs_compare *compare;
	struct pmfs_costs *costs;
	struct pm_strtab names, stems; /* index of the cost; of the quantity */
	size_t room, room_derived;
};

static void costs_free(void *part)
{
	struct pmfs_costs *k = part;
	pm_arena_done(&k->arena);
	free(k->derived);
	free(k->costs);
	free(k);
}

double pmfs_compare_value(const struct pmfs_costs *costs, const struct pmfs_compared_run *run,
	uint32_t cost, double value)
{
	if (!costs->shares || costs->costs[cost].role == PM_ROLE_COUNT)
		return value;
	double whole = run->whole[costs->costs[cost].quantity];
	return whole != 0 ? value / whole : NAN;
}

const struct pmfs_cost *pmfs_quantity_cost(const struct pmfs_costs *costs, uint32_t quantity)
{
	uint32_t i = PM_LOWER_BOUND(k, 0, costs->n, costs->costs[k].quantity < quantity);
	return &costs->costs[i];
}

bool pmfs_quantity_has(const struct pmfs_costs *costs, uint32_t quantity, enum pmfs_side side)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(costs, quantity);
	const struct pmfs_cost *end = costs->costs + costs->n;
	while (cost < end && cost->quantity == quantity && !cost->has[side])
		cost++;
	return cost < end && cost->quantity == quantity;
}

/* ---- columns ---- */

static const char *copy(struct building *b, const char *text)
{
	return pm_arena_printf(&b->costs->arena, "%s", text);
}

static int fill_cost(struct building *b, const struct pmfs_column *column, struct pmfs_cost *cost)
{
	const struct pm_metric *metric = column->flat ? column->flat : column->tree;
	*cost = (struct pmfs_cost){
		.name = copy(b, column->name),
		.stem = copy(b, column->base),
		.export = copy(b, column->export),
		.export_scale = column->export_scale,
		.role = column->role,
		.metric = pm_arena_copy(&b->costs->arena, metric->name),
		.unit = pm_arena_copy(&b->costs->arena, metric->unit),
	};
	bool good = cost->name && cost->stem && cost->export && cost->metric.p && cost->unit.p;
	cost->quantity = good ? pm_strtab_add(&b->stems, pm_bytes_of(cost->stem)) : PM_NONE;
	return cost->quantity == PM_NONE ? -ENOMEM : 0;
}

static int add_column(
	struct building *b, const struct pmfs_column *column, enum pmfs_side side, uint32_t *ret)
{
	struct pmfs_costs *k = b->costs;
	uint32_t at = pm_strtab_find(&b->names, pm_bytes_of(column->name));
	if (at == PM_NONE) {
		if (pm_list_room(&k->costs, k->n, &b->room, sizeof(*k->costs)) < 0 ||
			fill_cost(b, column, &k->costs[k->n]) < 0)
			return -ENOMEM;
		at = pm_strtab_add(&b->names, pm_bytes_of(k->costs[k->n].name));
		if (at == PM_NONE)
			return -ENOMEM;
		k->n++;
	}
	k->costs[at].n_having[side]++;
	*ret = at;
	return 0;
}

static uint32_t find_derived(const struct pmfs_costs *k, const char *name)
{
	uint32_t i = 0;
	while (i < k->n_derived && strcmp(k->derived[i].name, name) != 0)
		i++;
	return i < k->n_derived ? i : PM_NONE;
}

/* A derived column of a run, whose columns are costs by now. */
static int add_derived(struct building *b, const struct pmfs_compared_run *run,
	const struct pmfs_columns *c, const struct pmfs_derived *derived)
{
	struct pmfs_costs *k = b->costs;
	uint32_t n = derived->formula.n;
	if (find_derived(k, derived->name) != PM_NONE)
		return 0;
	if (pm_list_room(&k->derived, k->n_derived, &b->room_derived, sizeof(*k->derived)) < 0)
		return -ENOMEM;
	struct pm_op *ops = pm_arena_array(&k->arena, n, sizeof(*ops));
	struct pmfs_compared_derived *to = &k->derived[k->n_derived];
	*to = (struct pmfs_compared_derived){
		copy(b, derived->name), copy(b, derived->base), {n, ops}};
	if (!ops || !to->name || !to->base)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		ops[i] = derived->formula.ops[i];
		if (ops[i].kind != PM_OP_NAME)
			continue;
		uint32_t leaf = ops[i].leaf;
		ops[i].leaf = leaf < c->n
			? run->cost[leaf]
			: find_derived(k, c->derived[leaf - c->n].name) | PMFS_LEAF_DERIVED;
	}
	k->n_derived++;
	return 0;
}

static int add_run(struct building *b, struct pmfs_compared_run *run, struct pmfs_model *m,
	struct pm_error *err)
{
	const struct pmfs_columns *columns;
	const struct pm_profile *p = pmfs_model_profile(m);
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	run->cost = pm_arena_array(&b->costs->arena, columns->n + 1, sizeof(*run->cost));
	run->n_columns = columns->n;
	if (!run->cost)
		return pmfs_compare_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < columns->n; i++)
		r = add_column(b, &columns->columns[i], run->side, &run->cost[i]);
	for (uint32_t i = 0; r == 0 && i < columns->n_derived && !b->costs->shares; i++)
		r = add_derived(b, run, columns, &columns->derived[i]);
	b->costs->n_self += columns->n_self > 0;
	b->costs->has_lines &= p->has_lines;
	b->costs->has_modules &= p->has_modules || p->module_end;
	b->costs->n_good[run->side]++;
	return r < 0 ? pmfs_compare_no_memory(err) : 0;
}

/* The data that the runs are read for first: without it, they are left out. */
static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	const struct pmfs_totals *totals;
	(void)self;
	int r = pmfs_model_columns(m, &columns, err);
	return r < 0 ? r : pmfs_totals(m, &totals, err);
}

/* A run with a permanent failure is left out; `err` stays empty. */
static int read_run(struct building *b, struct pmfs_compared_run *run, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	int r = pmfs_compare_acquire(b->compare, run, &m, &why);
	if (r == 0) {
		r = prepare(NULL, m, &why);
		if (r == 0)
			r = add_run(b, run, m, &why);
		pmfs_compare_release(b->compare, run);
	}
	if (r == -ENOMEM)
		return pmfs_compare_no_memory(err);
	run->broken = r < 0;
	if (r < 0)
		pm_error_line(&why, b->costs->why, sizeof(b->costs->why));
	return 0;
}

/* ---- the leading cost ---- */

static bool on_both_sides(const struct pmfs_cost *cost)
{
	return cost->has[PMFS_BASE] && cost->has[PMFS_OTHER];
}

/* A mean over repetitions would count those that lack the quantity as 0. */
static void find_sides(struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		for (unsigned side = 0; side < PMFS_N_SIDES; side++)
			k->costs[i].has[side] = k->n_good[side] > 0 &&
				k->costs[i].n_having[side] == k->n_good[side];
}

/* The first quantity that both sides have, else the first. */
static uint32_t leading(const struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (on_both_sides(&k->costs[i]))
			return k->costs[i].quantity;
	return 0;
}

static int by_quantity(const void *a, const void *b)
{
	const struct pmfs_cost *const *x = a, *const *y = b;
	if ((*x)->quantity != (*y)->quantity)
		return (*x)->quantity < (*y)->quantity ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* Columns of a quantity are adjacent; the leading one has index 0. */
static int put_in_order(struct pmfs_costs *k)
{
	struct pmfs_cost **order = malloc(((size_t)k->n + 1) * sizeof(struct pmfs_cost *));
	uint32_t *place = malloc(((size_t)k->n + 1) * sizeof(*place)), lead = leading(k);
	struct pmfs_cost *sorted = malloc(((size_t)k->n + 1) * sizeof(*sorted));
	bool good = order && place && sorted;
	for (uint32_t i = 0; good && i < k->n; i++) {
		uint32_t *quantity = &k->costs[i].quantity;
		*quantity = *quantity == lead ? 0 : *quantity < lead ? *quantity + 1 : *quantity;
		order[i] = &k->costs[i];
		k->in_common |= on_both_sides(&k->costs[i]);
	}
	good = good && pm_sort(order, k->n, sizeof(struct pmfs_cost *), by_quantity) == 0;
	for (uint32_t i = 0; good && i < k->n; i++) {
		sorted[i] = *order[i];
		place[order[i] - k->costs] = i;
	}
	for (uint32_t i = 0; good && i < k->n_runs; i++)
		for (uint32_t j = 0; j < k->runs[i].n_columns && !k->runs[i].broken; j++)
			k->runs[i].cost[j] = place[k->runs[i].cost[j]];
	for (uint32_t i = 0; good && i < k->n_derived; i++)
		for (uint32_t j = 0; j < k->derived[i].formula.n; j++) {
			struct pm_op *op = &k->derived[i].formula.ops[j];
			if (op->kind == PM_OP_NAME && !(op->leaf & PMFS_LEAF_DERIVED))
				op->leaf = place[op->leaf];
		}
	if (good) {
		free(k->costs);
		k->costs = sorted;
	} else {
		free(sorted);
	}
	free(order);
	free(place);
	return good ? 0 : -ENOMEM;
}

static void find_own(struct pmfs_costs *k)
{
	k->own = k->n > 0 ? 0 : PM_NONE;
	for (uint32_t i = k->n; i-- > 0;)
		if (k->costs[i].quantity == 0 && k->costs[i].role != PM_ROLE_INCLUSIVE)
			k->own = i;
}

/* ---- totals ---- */

static int read_totals(struct pmfs_compare *c, struct pmfs_costs *k, struct pmfs_compared_run *run,
	struct pm_error *err)
{
	const struct pmfs_totals *totals;
	struct pmfs_model *m;
	run->whole = pm_arena_array(&k->arena, k->n_quantities + 1, sizeof(*run->whole));
	if (!run->whole)
		return pmfs_compare_no_memory(err);
	int r = pmfs_compare_acquire(c, run, &m, err);
	if (r < 0)
		return r;
	r = pmfs_totals(m, &totals, err);
	for (uint32_t i = 0; r == 0 && i < run->n_columns; i++)
		run->whole[k->costs[run->cost[i]].quantity] = totals->of[i];
	pmfs_compare_release(c, run);
	return r;
}

static int add_totals(struct pmfs_compare *c, struct pmfs_costs *k, struct pm_error *err)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		k->whole[side] =
			pm_arena_array(&k->arena, k->n_quantities + 1, sizeof(*k->whole[side]));
		if (!k->whole[side])
			return pmfs_compare_no_memory(err);
	}
	for (uint32_t i = 0; i < k->n_runs; i++) {
		struct pmfs_compared_run *run = &k->runs[i];
		int r = run->broken ? 0 : read_totals(c, k, run, err);
		if (r < 0)
			return r;
		for (uint32_t q = 0; !run->broken && q < k->n_quantities; q++)
			pmfs_sample_add(&k->whole[run->side][q], run->whole[q]);
	}
	return 0;
}

/* ---- the part ---- */

static int list_runs(const struct pmfs_comparison *of, struct pmfs_costs *k)
{
	k->n_runs = of->n_base + of->n_runs;
	k->runs = pm_arena_array(&k->arena, (size_t)k->n_runs + 1, sizeof(*k->runs));
	if (!k->runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < of->n_base; i++)
		k->runs[i] = (struct pmfs_compared_run){.number = of->base[i], .side = PMFS_BASE};
	for (uint32_t i = 0; i < of->n_runs; i++)
		k->runs[of->n_base + i] =
			(struct pmfs_compared_run){.number = of->runs[i], .side = PMFS_OTHER};
	return 0;
}

/* The other run's columns come before those that only the baseline has. */
static int read_runs(struct building *b, struct pm_error *err)
{
	struct pmfs_costs *k = b->costs;
	uint32_t n_base = b->compare->of.n_base;
	struct pmfs_borrowed two = {.compare = b->compare, .prepare = prepare};
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < k->n_runs; i++) {
		struct pmfs_compared_run *run = &k->runs[(i + n_base) % k->n_runs];
		uint32_t next = (i + 1 + n_base) % k->n_runs;
		if (i % 2 == 0)
			pmfs_borrow(&two, run, i + 1 < k->n_runs ? &k->runs[next] : NULL);
		r = read_run(b, run, err);
		if (i % 2 == 1)
			pmfs_return(&two);
	}
	pmfs_return(&two);
	return r;
}

static int fill(struct building *b, struct pm_error *err)
{
	struct pmfs_costs *k = b->costs;
	int r = list_runs(&b->compare->of, k);
	if (r < 0)
		return pmfs_compare_no_memory(err);
	k->shares = b->compare->of.normalize;
	k->has_lines = k->has_modules = true;
	r = read_runs(b, err);
	if (r < 0)
		return r;
	k->n_quantities = b->stems.n;
	k->own_costs = k->n_self < k->n_good[PMFS_BASE] + k->n_good[PMFS_OTHER];
	find_sides(k);
	if (put_in_order(k) < 0)
		return pmfs_compare_no_memory(err);
	find_own(k);
	if (pmfs_compare_headers(k) < 0)
		return pmfs_compare_no_memory(err);
	return add_totals(b->compare, k, err);
}

static int costs_build(struct pmfs_compare *c, enum pmfs_compare_part which, void **ret,
	uint64_t *ret_bytes, struct pm_error *err)
{
	struct building b = {.compare = c, .costs = calloc(1, sizeof(*b.costs))};
	(void)which;
	if (!b.costs)
		return pmfs_compare_no_memory(err);
	int r = fill(&b, err);
	pm_strtab_done(&b.names);
	pm_strtab_done(&b.stems);
	*ret_bytes = sizeof(*b.costs) + b.costs->arena.total + b.costs->n * sizeof(*b.costs->costs);
	if (r < 0)
		costs_free(b.costs);
	else
		*ret = b.costs;
	return r;
}

int pmfs_compare_costs(struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err)
{
	static const struct pmfs_compare_part_type type = {costs_build, costs_free};
	return pmfs_compare_get(c, PMFS_COMPARE_COSTS, &type, ret, err);
}
