/* The union tree: merged sides, paired, in pre-order with the heaviest siblings first. */
#include "fs/compare/union.h"

#include <math.h>
#include <stdlib.h>

#include "fs/compare/flat.h"
#include "fs/compare/pairing.h"
#include "fs/views/model/flat.h"

struct building {
	struct pmfs_tree_union *u;
	struct pmfs_folded side[PMFS_N_SIDES];
	struct pmfs_pairing pairing;
	uint32_t *node[PMFS_N_SIDES]; /* by node of the union: that of a side, or PM_NONE */
	uint32_t *place;              /* by node: its context */
	uint32_t *order;              /* by context: its node */
};

static void union_free(void *part)
{
	struct pmfs_tree_union *u = part;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		free(u->key[side]);
		free(u->mean[side]);
		free(u->squares[side]);
	}
	for (uint32_t i = 0; u->of && i < u->costs->n_runs; i++)
		free(u->of[i]);
	free(u->of);
	free(u->n_of);
	free(u->sides);
	free((void *)(uintptr_t)u->tree.parent);
	free((void *)(uintptr_t)u->tree.end);
	free((void *)(uintptr_t)u->tree.depth);
	free((void *)(uintptr_t)u->tree.frame);
	free((void *)(uintptr_t)u->tree.rank);
	free((void *)(uintptr_t)u->tree.frames);
	free((void *)(uintptr_t)u->shared.columns);
	pmfs_frames_done(&u->frames);
	free(u);
}

/* ---- both sides ---- */

static int fold_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct building *b = self;
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	b->u->n_of[run] = tree->n_contexts;
	return pmfs_fold(&b->side[b->u->costs->runs[run].side], &b->u->frames, b->u->costs, run, m,
		&b->u->of[run], err);
}

static int find_nodes(struct building *b)
{
	uint32_t n = b->pairing.n;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		b->node[side] = malloc(((size_t)n + 1) * sizeof(*b->node[side]));
		if (!b->node[side])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		b->node[PMFS_BASE][i] = i < b->side[PMFS_BASE].n ? i : PM_NONE;
		b->node[PMFS_OTHER][i] = PM_NONE;
	}
	for (uint32_t i = 0; i < b->side[PMFS_OTHER].n; i++)
		b->node[PMFS_OTHER][b->pairing.of_other[i]] = i;
	return 0;
}

/* ---- pre-order ---- */

/* The cost by which siblings are ordered: the inclusive primary cost if there is one. */
static uint32_t weighing_cost(const struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->costs[i].quantity == 0 && k->costs[i].role == PM_ROLE_INCLUSIVE)
			return i;
	return k->own;
}

static double weight(const struct building *b, uint32_t node, uint32_t cost)
{
	double most = 0;
	for (unsigned side = 0; side < PMFS_N_SIDES && cost != PM_NONE; side++) {
		uint32_t at = b->node[side][node];
		if (at != PM_NONE)
			most = fmax(most, b->side[side].mean[(size_t)at * b->u->costs->n + cost]);
	}
	return most;
}

/* By node, heaviest first. The caller frees it. */
static uint32_t *heaviest_first(const struct building *b)
{
	uint32_t cost = weighing_cost(b->u->costs), *order = NULL;
	double *weights = pmfs_cells_new(b->pairing.n);
	for (uint32_t i = 0; weights && i < b->pairing.n; i++)
		weights[i] = weight(b, i, cost);
	if (weights)
		order = pmfs_order(weights, b->pairing.n, 1, 0);
	free(weights);
	return order;
}

/* Linked lists of children: a node that is prepended is visited before those prepended earlier. */
static int order_nodes(struct building *b)
{
	uint32_t n = b->pairing.n, *by_weight = heaviest_first(b), at = 0;
	uint32_t *first = malloc(((size_t)n + 1) * sizeof(*first));
	uint32_t *next = malloc(((size_t)n + 1) * sizeof(*next));
	uint32_t *parent = b->pairing.parent;
	b->place = malloc(((size_t)n + 1) * sizeof(*b->place));
	b->order = malloc(((size_t)n + 1) * sizeof(*b->order));
	bool good = by_weight && first && next && b->place && b->order;
	for (size_t i = 0; good && i <= n; i++)
		first[i] = PM_NONE;
	for (uint32_t i = n; good && i-- > 0;) {
		uint32_t node = by_weight[i];
		next[node] = first[parent[node] + 1];
		first[parent[node] + 1] = node;
	}
	for (uint32_t node = good ? first[0] : PM_NONE; node != PM_NONE;) {
		b->place[node] = at;
		b->order[at++] = node;
		if (first[node + 1] != PM_NONE) {
			node = first[node + 1];
			continue;
		}
		while (node != PM_NONE && next[node] == PM_NONE)
			node = parent[node];
		node = node == PM_NONE ? PM_NONE : next[node];
	}
	free(by_weight);
	free(first);
	free(next);
	return good ? 0 : -ENOMEM;
}

static int fill_tree(struct building *b)
{
	uint32_t n = b->pairing.n;
	uint32_t *parent = malloc(((size_t)n + 1) * sizeof(*parent));
	uint32_t *end = malloc(((size_t)n + 1) * sizeof(*end));
	uint32_t *depth = malloc(((size_t)n + 1) * sizeof(*depth));
	uint32_t *frame = malloc(((size_t)n + 1) * sizeof(*frame));
	uint32_t *rank = malloc(((size_t)n + 1) * sizeof(*rank));
	struct pm_tree *tree = &b->u->tree;
	tree->n_contexts = n;
	tree->ordered_by = PM_NONE;
	tree->parent = parent;
	tree->end = end;
	tree->depth = depth;
	tree->frame = frame;
	tree->rank = rank;
	if (!parent || !end || !depth || !frame || !rank)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t above = b->pairing.parent[b->order[i]];
		parent[i] = above == PM_NONE ? PM_NONE : b->place[above];
		depth[i] = above == PM_NONE ? 0 : depth[parent[i]] + 1;
		end[i] = i + 1;
		rank[i] = i;
		frame[i] = b->u->key[PMFS_OTHER][i];
		if (frame[i] == PM_NONE) /* only in the baseline */
			frame[i] = pmfs_n_frame_keys(&b->u->frames) + b->u->key[PMFS_BASE][i];
	}
	for (uint32_t i = n; i-- > 0;)
		if (parent[i] != PM_NONE && end[i] > end[parent[i]])
			end[parent[i]] = end[i];
	return 0;
}

/* ---- costs and frames of contexts ---- */

static int fill_side(struct building *b, enum pmfs_side side)
{
	struct pmfs_tree_union *u = b->u;
	const struct pmfs_folded *f = &b->side[side];
	size_t n = b->pairing.n, n_costs = u->costs->n;
	u->key[side] = malloc((n + 1) * sizeof(*u->key[side]));
	u->mean[side] = pmfs_cells_new(n * n_costs);
	if (f->squares)
		u->squares[side] = calloc(n * n_costs + 1, sizeof(*u->squares[side]));
	if (!u->key[side] || !u->mean[side] || (f->squares && !u->squares[side]))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t node = b->node[side][b->order[i]];
		u->key[side][i] = node == PM_NONE ? PM_NONE : f->key[node];
		if (node == PM_NONE)
			continue;
		u->sides[i] |= (uint8_t)(1u << side);
		for (size_t k = 0; k < n_costs; k++) {
			u->mean[side][i * n_costs + k] = f->mean[node * n_costs + k];
			if (f->squares)
				u->squares[side][i * n_costs + k] = f->squares[node * n_costs + k];
		}
	}
	pmfs_folded_done(&b->side[side]);
	b->side[side] = (struct pmfs_folded){.n = 0};
	return 0;
}

static void place_contexts(struct building *b)
{
	const struct pmfs_costs *k = b->u->costs;
	for (uint32_t run = 0; run < k->n_runs; run++)
		for (uint32_t i = 0; b->u->of[run] && i < b->u->n_of[run]; i++) {
			uint32_t *of = &b->u->of[run][i];
			if (*of == PM_NONE)
				continue;
			*of = b->place[k->runs[run].side == PMFS_BASE ? *of
								      : b->pairing.of_other[*of]];
		}
}

static int fill_frames(struct pmfs_tree_union *u)
{
	u->tree.frames = pmfs_frames_shown(&u->frames);
	u->tree.n_frames = 2 * pmfs_n_frame_keys(&u->frames);
	u->tree.texts = u->frames.match.texts.items;
	u->tree.n_texts = u->frames.match.texts.n;
	return u->tree.frames ? 0 : -ENOMEM;
}

static int fill_shared(struct pmfs_tree_union *u)
{
	const char **columns = calloc((size_t)u->costs->n + 1, sizeof(char *));
	for (uint32_t i = 0; columns && i < u->costs->n; i++)
		columns[i] = u->costs->costs[i].name;
	u->shared = (struct pmfs_union){
		.tree = &u->tree,
		.n_columns = u->costs->n,
		.columns = columns,
		.base = u->mean[PMFS_BASE],
		.other = u->mean[PMFS_OTHER],
	};
	return columns ? 0 : -ENOMEM;
}

static int fill(struct building *b)
{
	struct pmfs_tree_union *u = b->u;
	pmfs_folded_close(&b->side[PMFS_OTHER]);
	int r = pmfs_pair_trees(&u->frames, &b->side[PMFS_BASE], &b->side[PMFS_OTHER], &b->pairing);
	pmfs_folded_close(&b->side[PMFS_BASE]);
	if (r == 0)
		r = find_nodes(b);
	if (r == 0)
		r = order_nodes(b);
	if (r < 0)
		return r;
	place_contexts(b);
	u->sides = calloc((size_t)b->pairing.n + 1, 1);
	if (!u->sides || fill_side(b, PMFS_BASE) < 0 || fill_side(b, PMFS_OTHER) < 0 ||
		fill_tree(b) < 0 || fill_frames(u) < 0 || fill_shared(u) < 0)
		return -ENOMEM;
	return 0;
}

static uint64_t bytes_of(const struct pmfs_tree_union *u)
{
	uint64_t n = u->tree.n_contexts, cells = n * u->costs->n * sizeof(double);
	uint64_t bytes = sizeof(*u) + n * (7 * sizeof(uint32_t) + 1) + 2 * cells;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		bytes += u->squares[side] ? cells : 0;
	for (uint32_t i = 0; i < u->costs->n_runs; i++)
		bytes += (uint64_t)u->n_of[i] * sizeof(uint32_t);
	return bytes + u->tree.n_frames * sizeof(struct pm_frame) + u->frames.match.arena.total;
}

static int union_build(struct pmfs_compare *c, enum pmfs_compare_part which, void **ret,
	uint64_t *ret_bytes, struct pm_error *err)
{
	struct building b = {.u = NULL};
	const struct pmfs_costs *costs;
	(void)which;
	int r = pmfs_compare_costs(c, &costs, err);
	if (r < 0)
		return r;
	b.u = calloc(1, sizeof(*b.u));
	if (!b.u)
		return pmfs_compare_no_memory(err);
	b.u->costs = costs;
	b.u->of = calloc((size_t)costs->n_runs + 1, sizeof(*b.u->of));
	b.u->n_of = calloc((size_t)costs->n_runs + 1, sizeof(*b.u->n_of));
	r = b.u->of && b.u->n_of ? pmfs_frames_read(c, costs, &b.u->frames, err) : -ENOMEM;
	if (r == 0)
		r = pmfs_compare_read(c, costs, (struct pmfs_reader){NULL, fold_run}, &b, err);
	if (r == 0)
		r = fill(&b);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		pmfs_folded_done(&b.side[side]);
		free(b.node[side]);
	}
	pmfs_pairing_done(&b.pairing);
	free(b.place);
	free(b.order);
	if (r < 0) {
		union_free(b.u);
		return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
	}
	*ret = b.u;
	*ret_bytes = bytes_of(b.u);
	return 0;
}

int pmfs_union_get(struct pmfs_compare *c, const struct pmfs_tree_union **ret, struct pm_error *err)
{
	static const struct pmfs_compare_part_type type = {union_build, union_free};
	return pmfs_compare_get(c, PMFS_COMPARE_UNION, &type, ret, err);
}
