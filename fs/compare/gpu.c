/*
 * gpu.csv of a comparison: launches, times and bytes of GPU operations are costs of their own,
 * which are joined by operation, module and kernel as the tables of functions are.
 */
#include "fs/compare/internal.h"

#include <math.h>
#include <string.h>

#include "fs/views/model/tables.h"

enum { TIME, LAUNCHES, BYTES, N_COSTS };

static const struct pmfs_cost costs_of_gpus[N_COSTS] = {
	[TIME] = {.name = "total_ns", .stem = "total_ns", .role = PM_ROLE_EXCLUSIVE, .quantity = 0},
	[LAUNCHES] = {.name = "launches", .stem = "launches", .role = PM_ROLE_COUNT, .quantity = 1},
	[BYTES] = {.name = "bytes", .stem = "bytes", .role = PM_ROLE_EXCLUSIVE, .quantity = 2},
};

/* ---- totals of a run, and which columns it has ---- */

struct building {
	struct pm_arena *a;
	struct pmfs_costs *costs;
};

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct building *b = self;
	struct pmfs_costs *k = b->costs;
	struct pmfs_compared_run *of = &k->runs[run];
	uint32_t place[N_COSTS];
	struct pm_table table;
	pm_build_check(b->a, pmfs_compare_gpu_table(m, &table, err));
	if (!table.type)
		pmfs_compare_changed(b->a, err);
	for (unsigned i = 0; i < N_COSTS; i++) {
		place[i] = pmfs_table_column(&table, costs_of_gpus[i].name);
		k->costs[i].n_having[of->side] += place[i] != PM_NONE;
	}
	struct pm_arena *scratch = pm_arena_scratch(b->a);
	struct pm_table_reader *reading = pm_table_read(scratch, &table, 0, err);
	while (pm_table_next(scratch, reading, err))
		for (unsigned i = 0; i < N_COSTS; i++) {
			pm_number value = place[i] == PM_NONE
				? NAN
				: pmfs_cell_number(&reading->cells[place[i]]);
			of->whole[i] += isnan(value) ? 0 : value;
		}
	pm_arena_done(scratch);
	for (unsigned i = 0; i < N_COSTS; i++)
		pmfs_sample_add(&k->whole[of->side][i], of->whole[i]);
}

static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	struct pm_cell cells[16];
	struct pm_rows rows = {.table = NULL};
	struct pm_table table;
	(void)self;
	int r = pmfs_compare_gpu_table(m, &table, err);
	if (r < 0 || !table.type || table.n_columns > sizeof(cells) / sizeof(*cells))
		return r;
	r = pm_rows_start(&rows, &table, 0, err);
	if (r == 0)
		r = pm_rows_next(&rows, cells, err);
	pm_rows_done(&rows);
	return r;
}

/* ---- the columns ---- */

/* What a launch takes, and how fast bytes move: of the means of each side. */
static void add_derived(struct pm_arena *a, struct pmfs_costs *k)
{
	k->derived = pm_arena_array(a, 2, sizeof(*k->derived));
	struct pm_op *ops = pm_arena_array(a, 8, sizeof(*ops));
	ops[0] = (struct pm_op){.kind = PM_OP_NAME, .leaf = TIME};
	ops[1] = (struct pm_op){.kind = PM_OP_NAME, .leaf = LAUNCHES};
	ops[2] = (struct pm_op){.kind = PM_OP_DIVIDE, .n = 2};
	ops[3] = (struct pm_op){.kind = PM_OP_NAME, .leaf = BYTES};
	ops[4] = (struct pm_op){.kind = PM_OP_NAME, .leaf = TIME};
	ops[5] = (struct pm_op){.kind = PM_OP_DIVIDE, .n = 2};
	ops[6] = (struct pm_op){.kind = PM_OP_NUMBER, .number = 1e9};
	ops[7] = (struct pm_op){.kind = PM_OP_MULTIPLY, .n = 2};
	k->derived[0] = (struct pmfs_compared_derived){"mean_ns", "mean_ns", {3, ops}};
	k->derived[1] =
		(struct pmfs_compared_derived){"bytes_per_sec", "bytes_per_sec", {5, ops + 3}};
	k->n_derived = k->shares ? 0 : k->n == N_COSTS ? 2 : 1;
}

/* Numbers of runs, sides and what is broken are those of all tables. */
static void copy_runs(struct pm_arena *a, struct pmfs_costs *k, const struct pmfs_costs *of)
{
	k->n_runs = of->n_runs;
	k->runs = pm_arena_array(a, (size_t)of->n_runs + 1, sizeof(*k->runs));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		k->n_good[side] = of->n_good[side];
		k->whole[side] = pm_arena_array(a, N_COSTS, sizeof(*k->whole[side]));
	}
	for (uint32_t i = 0; i < of->n_runs; i++) {
		struct pmfs_compared_run *run = &k->runs[i];
		*run = of->runs[i];
		run->n_columns = N_COSTS;
		run->cost = pm_arena_array(a, N_COSTS, sizeof(*run->cost));
		run->whole = pm_arena_array(a, N_COSTS, sizeof(*run->whole));
		for (uint32_t cost = 0; cost < N_COSTS; cost++)
			run->cost[cost] = cost;
	}
}

static void *build(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pm_error *err)
{
	struct pmfs_costs *k = pm_arena_alloc(a, sizeof(*k));
	struct building b = {a, k};
	const struct pmfs_costs *of;
	pm_build_check(a, pmfs_compare_costs(c, &of, err));
	k->shares = of->shares;
	k->costs = pm_arena_array(a, N_COSTS, sizeof(*k->costs));
	copy_runs(a, k, of);
	memcpy(k->costs, costs_of_gpus, sizeof(costs_of_gpus));
	pmfs_compare_read(a, c, k, (struct pmfs_reader){prepare, read_run}, &b, err);
	for (unsigned i = 0; i < N_COSTS; i++)
		for (unsigned side = 0; side < PMFS_N_SIDES; side++)
			k->costs[i].has[side] = k->n_good[side] > 0 &&
				k->costs[i].n_having[side] == k->n_good[side];
	bool bytes = k->whole[PMFS_BASE][BYTES].mean > 0 || k->whole[PMFS_OTHER][BYTES].mean > 0;
	k->n = k->n_quantities = k->n_shown = k->n_shown_quantities = bytes ? N_COSTS : N_COSTS - 1;
	for (uint32_t i = 0; i < k->n_runs; i++)
		k->runs[i].n_columns = k->n;
	k->own = TIME;
	add_derived(a, k);
	pmfs_compare_header(a, k, PMFS_COMPARE_GPU);
	(void)which;
	return k;
}

int pmfs_compare_gpu_costs(
	struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err)
{
	return pmfs_compare_get(c, PMFS_COMPARE_GPU_COSTS, build, ret, err);
}
