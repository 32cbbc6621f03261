/* contexts.csv: the union of the trees in pre-order. A row's position is its context. */

#include "fs/compare/union.h"
#include "fs/views/model/tables.h"

/* A cost of a context. */
static struct pmfs_pair union_pair(const struct pmfs_tree_union *u, uint32_t context, uint32_t cost)
{
	size_t at = (size_t)context * u->costs->n + cost;
	struct pmfs_pair pair;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		struct pmfs_sample s = {.n = u->costs->n_good[side]};
		if (u->squares[side])
			s.squares = u->squares[side][at];
		pair.value[side] = u->mean[side][at];
		pair.stddev[side] = pmfs_sample_stddev(&s);
	}
	return pair;
}

static int table_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_costs *costs;
	int r = pmfs_compare_costs(pmfs_compare_of(table->self), &costs, err);
	if (r < 0)
		return r;
	table->columns = costs->columns[PMFS_COMPARE_UNION];
	table->n_columns = costs->n_columns[PMFS_COMPARE_UNION];
	return 0;
}

/* The line of a context on a side; 0 if the side lacks the context. */
static uint32_t line_on(const struct pmfs_tree_union *u, enum pmfs_side side, uint32_t context)
{
	uint32_t key = u->key[side][context];
	const struct pmfs_part_place *part =
		key == PM_NONE ? NULL : pmfs_frame_part(&u->frames, key);
	return part ? part->line : 0;
}

static int contexts_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(rows->table->self);
	const struct pmfs_tree_union *u;
	int r = pmfs_union_get(c, &u, err);
	if (r < 0 || rows->at >= u->tree.n_contexts)
		return r;
	uint32_t i = (uint32_t)rows->at++;
	const struct pm_frame *frame = pm_tree_frame(&u->tree, i);
	uint32_t base = line_on(u, PMFS_BASE, i), other = line_on(u, PMFS_OTHER, i);
	pm_set_u64(cells++, i + (uint64_t)1);
	pmfs_set_known(
		cells++, u->tree.parent[i] == PM_NONE ? 0 : u->tree.parent[i] + (uint64_t)1, 0);
	pm_set_u64(cells++, u->tree.depth[i]);
	for (uint32_t k = 0; k < u->costs->n; k++) {
		struct pmfs_pair pair = union_pair(u, i, k);
		cells = pmfs_pair_cells(u->costs, k, &pair, cells);
	}
	const double *const mean[PMFS_N_SIDES] = {u->mean[PMFS_BASE] + (size_t)i * u->costs->n,
		u->mean[PMFS_OTHER] + (size_t)i * u->costs->n};
	cells = pmfs_compared_derived_cells(u->costs, mean, cells);
	pmfs_set_known(cells++, base, 0);
	pmfs_set_known(cells++, other ? other : base, 0);
	pmfs_set_kind(cells++, frame);
	pm_set_text(cells++, pmfs_compare_side(c, u->sides[i]));
	pm_set_lasting(cells++, u->tree.texts[frame->file]);
	pmfs_set_name(cells, &u->tree, frame, rows->scratch);
	return 1;
}

struct pm_table pmfs_union_table(struct pmfs_compare *c)
{
	static const struct pm_table_type type = {
		.next = contexts_next, .columns = table_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = c};
}

int pmfs_compare_contexts(
	const struct pm_profile *p, const struct pmfs_union **ret, struct pm_error *err)
{
	const struct pmfs_tree_union *u;
	int r = pmfs_union_get(p->self, &u, err);
	*ret = r < 0 ? NULL : &u->shared;
	return r;
}
