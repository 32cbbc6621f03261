/* Rows of several runs on two sides: means, deviations, tests, order. */
#include "fs/compare/internal.h"

#include <math.h>
#include <string.h>

#include "formats/common/list.h"
#include "fs/views/model/flat.h"

/* Sums of the same costs in another order differ by less than this, relative to their size. */
#define ROUNDING 1e-9

/* Less than this share of the whole is no cost: what is left of a difference of inclusive costs. */
#define NO_COST 0x1p-40

/* Rows whose cost is below this share of the total on both sides are not tested. */
#define TESTED_SHARE 0.001

/* The rows of a run. Several may have the same key. */
struct pmfs_run_rows {
	uint32_t n;
	uint32_t *key;
	pm_number *cells; /* costs->n per row; NaN = none */
	size_t room_key, room_cells;
};

void pmfs_keyed_init(
	struct pmfs_keyed *k, struct pm_arena *a, const struct pmfs_costs *costs, size_t size)
{
	*k = (struct pmfs_keyed){.arena = a, .costs = costs, .size = size, .known.arena = a};
	k->runs = pm_arena_array(a, (size_t)costs->n_runs + 1, sizeof(*k->runs));
}

void pmfs_keyed_add(
	struct pmfs_keyed *k, uint32_t run, uint64_t known, const void *key, const pm_number *cells)
{
	const struct pmfs_compared_run *of = &k->costs->runs[run];
	struct pmfs_run_rows *rows = &k->runs[run];
	size_t n_costs = k->costs->n, size = (n_costs ? n_costs : 1) * sizeof(*rows->cells);
	bool fresh;
	uint32_t number = *pm_map_put(&k->known, known, (uint32_t)k->n, &fresh);
	if (fresh) {
		pm_list_grow(k->arena, &k->keys, k->n, &k->room, k->size);
		memcpy((char *)k->keys + k->n++ * k->size, key, k->size);
	}
	pm_list_grow(k->arena, &rows->key, rows->n, &rows->room_key, sizeof(*rows->key));
	pm_list_grow(k->arena, &rows->cells, rows->n, &rows->room_cells, size);
	pm_number *numbers = rows->cells + rows->n * n_costs;
	for (size_t i = 0; i < n_costs; i++)
		numbers[i] = NAN;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[of->cost[i]] = pmfs_compare_value(k->costs, of, of->cost[i], cells[i]);
	rows->key[rows->n++] = number;
}

/* ---- means ---- */

/* Adds up a run's rows, and adds the results to the means of its side. */
static void add_run(struct pmfs_joined *j, const struct pmfs_compared_run *run,
	const struct pmfs_run_rows *rows, const uint32_t *of_key, pm_number *sums,
	uint32_t repetition)
{
	size_t n_costs = j->costs->n, n = j->n * n_costs;
	pm_number *mean = j->mean[run->side], *squares = j->squares[run->side];
	for (size_t i = 0; i < n; i++)
		sums[i] = NAN;
	for (uint32_t i = 0; i < rows->n; i++)
		for (size_t k = 0; k < n_costs; k++)
			pmfs_add(&sums[of_key[rows->key[i]] * n_costs + k],
				rows->cells[i * n_costs + k]);
	for (size_t i = 0; i < n; i++) {
		if (isnan(sums[i]) && isnan(mean[i]))
			continue;
		struct pmfs_sample s = {.n = repetition, .mean = mean[i]};
		if (squares)
			s.squares = squares[i];
		if (isnan(mean[i])) /* the previous repetitions lack it: their cost is 0 */
			s.mean = s.squares = 0;
		pmfs_sample_add(&s, isnan(sums[i]) ? 0 : sums[i]);
		mean[i] = s.mean;
		if (squares)
			squares[i] = s.squares;
	}
}

static bool has_values(const struct pmfs_joined *j, uint32_t cost)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		for (uint32_t i = 0; i < j->n; i++)
			if (!isnan(j->mean[side][(size_t)i * j->costs->n + cost]))
				return true;
	return false;
}

/* Lines may have the time of statements instead of that of functions. */
static void choose_own(struct pmfs_joined *j)
{
	const struct pmfs_costs *k = j->costs;
	j->own = k->own;
	if (k->own == PM_NONE || has_values(j, k->own))
		return;
	for (uint32_t i = 0; i < k->n_shown && j->own == k->own; i++)
		if (pm_bytes_equal(k->costs[i].unit, k->costs[k->own].unit) && has_values(j, i))
			j->own = i;
}

struct pmfs_sample pmfs_joined_sample(
	const struct pmfs_joined *j, uint32_t row, uint32_t cost, enum pmfs_side side)
{
	size_t at = (size_t)row * j->costs->n + cost;
	pm_number mean = j->mean[side][at];
	struct pmfs_sample s = {.n = j->costs->n_good[side], .mean = isnan(mean) ? 0 : mean};
	if (j->squares[side])
		s.squares = j->squares[side][at];
	return s;
}

double pmfs_joined_difference(const struct pmfs_joined *j, uint32_t row, uint32_t cost)
{
	return pmfs_joined_sample(j, row, cost, PMFS_OTHER).mean -
		pmfs_joined_sample(j, row, cost, PMFS_BASE).mean;
}

/* ---- tests ---- */

/*
 * Whether the row's exclusive cost is large enough for a test. `whole` is the total of a side, or 1
 * if tables have shares.
 */
static bool is_large(const struct pmfs_joined *j, uint32_t row, const pm_number *whole)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		if (pmfs_joined_sample(j, row, j->own, side).mean > TESTED_SHARE * whole[side])
			return true;
	return false;
}

static void test_rows(struct pm_arena *a, struct pmfs_joined *j)
{
	const struct pmfs_costs *k = j->costs;
	pm_number *tested = pmfs_cells_new(a, j->n), whole[PMFS_N_SIDES] = {1, 1};
	bool can = j->own != PM_NONE && pmfs_compare_tested(k) && k->costs[j->own].has[PMFS_BASE] &&
		k->costs[j->own].has[PMFS_OTHER];
	for (unsigned side = 0; side < PMFS_N_SIDES && j->own != PM_NONE && !k->shares; side++)
		whole[side] = k->whole[side][k->costs[j->own].quantity].mean;
	for (uint32_t i = 0; can && i < j->n; i++) {
		struct pmfs_sample base = pmfs_joined_sample(j, i, j->own, PMFS_BASE);
		struct pmfs_sample other = pmfs_joined_sample(j, i, j->own, PMFS_OTHER);
		j->p[i] = pmfs_welch(&base, &other);
		if (is_large(j, i, whole))
			tested[i] = j->p[i];
	}
	pm_build_check(a, pmfs_adjust(tested, j->q, j->n));
	for (uint32_t i = 0; i < j->n; i++) {
		j->n_tested += !isnan(j->q[i]);
		j->n_changed += j->q[i] <= PMFS_FALSE_DISCOVERIES;
	}
}

bool pmfs_is_change(double base, double other, double whole)
{
	double rounding = fmax(ROUNDING * fmax(fabs(base), fabs(other)), NO_COST * whole);
	return fabs(other - base) > rounding;
}

bool pmfs_joined_changed(const struct pmfs_joined *j, uint32_t row)
{
	if (j->own == PM_NONE)
		return false;
	if (pmfs_compare_tested(j->costs))
		return j->q[row] <= PMFS_FALSE_DISCOVERIES;
	const struct pmfs_costs *k = j->costs;
	uint32_t quantity = k->costs[j->own].quantity;
	double whole = k->shares
		? 1
		: fmax(k->whole[PMFS_BASE][quantity].mean, k->whole[PMFS_OTHER][quantity].mean);
	return pmfs_is_change(pmfs_joined_sample(j, row, j->own, PMFS_BASE).mean,
		pmfs_joined_sample(j, row, j->own, PMFS_OTHER).mean, whole);
}

/* ---- all rows ---- */

/* Adds up each run's rows, and keeps the cost that tables of the ensemble show. */
static void sum_runs(struct pm_arena *a, struct pm_arena *scratch, struct pmfs_joined *j,
	const struct pmfs_keyed *keyed, const uint32_t *of_key)
{
	const struct pmfs_costs *k = j->costs;
	pm_number *sums = pmfs_cells_new(scratch, (size_t)j->n * k->n);
	uint32_t repetition[PMFS_N_SIDES] = {0, 0};
	for (uint32_t run = 0; run < k->n_runs; run++) {
		if (k->runs[run].broken)
			continue;
		pm_build_proceed(a);
		add_run(j, &k->runs[run], &keyed->runs[run], of_key, sums,
			repetition[k->runs[run].side]++);
		if (!j->own_of || j->kept == PM_NONE)
			continue;
		j->own_of[run] = pmfs_cells_new(a, j->n);
		for (uint32_t i = 0; i < j->n; i++)
			j->own_of[run][i] = sums[(size_t)i * k->n + j->kept];
	}
}

void pmfs_joined_sum(struct pm_arena *a, struct pmfs_joined *j, const struct pmfs_keyed *keyed,
	const uint32_t *of_key)
{
	size_t n = (size_t)j->n * j->costs->n;
	struct pm_arena *scratch = pm_arena_scratch(a);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		j->mean[side] = pmfs_cells_new(a, n);
		if (j->costs->n_good[side] > 1)
			j->squares[side] = pm_arena_array(a, n + 1, sizeof(*j->squares[side]));
	}
	j->p = pmfs_cells_new(a, j->n);
	j->q = pmfs_cells_new(a, j->n);
	sum_runs(a, scratch, j, keyed, of_key);
	choose_own(j);
	test_rows(scratch, j);
	pm_number *size = pmfs_cells_new(scratch, j->n);
	for (uint32_t i = 0; j->own != PM_NONE && i < j->n; i++)
		size[i] = fabs(pmfs_joined_difference(j, i, j->own));
	j->order = pmfs_order(a, size, j->n, 1, 0);
	pm_arena_done(scratch);
}
