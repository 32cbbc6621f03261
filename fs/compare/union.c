/* The union tree: merged sides, paired, in pre-order with the heaviest siblings first. */
#include "fs/compare/union.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/tree.h"
#include "fs/compare/internal.h"
#include "fs/compare/places.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"

/*
 * The key of a frame: frames with equal keys are equal. Functions have the numbers of their rows;
 * other calls and parts follow them.
 */
static uint32_t frame_key(const struct pmfs_frames *f, uint32_t run, uint32_t frame)
{
	uint32_t of = f->of[run][frame], at = of & ~(uint32_t)PMFS_FRAME_IS;
	if (of & PMFS_FRAME_IS_PART)
		return pmfs_n_function_keys(f) + f->match.n_groups + at;
	if (of & PMFS_FRAME_IS_OTHER)
		return pmfs_n_function_keys(f) +
			f->match.spellings[at].group[f->costs->runs[run].side];
	return at;
}

/* NULL for a call. */
static const struct pmfs_part_place *frame_part(const struct pmfs_frames *f, uint32_t key)
{
	uint32_t calls = pmfs_n_function_keys(f) + f->match.n_groups;
	return key < calls ? NULL : &f->parts[key - calls];
}

struct folded {
	struct pm_arena *a;
	uint32_t n;
	uint32_t n_runs;     /* runs that were added */
	uint32_t *parent;    /* PM_NONE at the top; parents come before children */
	uint32_t *key;       /* key of the frame */
	pm_number *mean;     /* costs->n per node; NaN: no repetition has a value */
	pm_number *squares;  /* see struct pmfs_sample; NULL without repetitions */
	struct pm_map nodes; /* parent + 1, key → node */
	size_t room_parent, room_key, room_mean, room_squares;
};

static uint64_t folded_place(uint32_t parent, uint32_t key)
{
	return (uint64_t)(parent + 1) << 32 | key;
}

/*
 * The union of two trees as nodes: those of the baseline first, with their indexes, then those that
 * only the other side has.
 */
struct pairs {
	uint32_t n;
	uint32_t *of_other; /* node of the other side → node of the union */
	uint32_t *parent;   /* by node of the union */
};

/*
 * ---- one side ----
 *
 * A pre-order pass over each run; a node is found by its parent's node and its frame.
 */

struct folding {
	struct pm_arena *a; /* while the run is added */
	struct folded *f;
	const struct pmfs_costs *costs;
	const struct pmfs_compared_run *run;
	uint32_t repetition; /* repetitions before this one */
	pm_number *sums;     /* costs->n per node: of this run */
	size_t room_sums, n_sums;
	pm_number *cells;
};

static uint32_t node_at(struct folded *f, uint32_t parent, uint32_t key)
{
	bool fresh;
	uint32_t node = *pm_map_put(&f->nodes, folded_place(parent, key), f->n, &fresh);
	if (fresh) {
		pm_build_check(f->a, f->n < PM_NONE - 1 ? 0 : -ENOMEM);
		pm_list_grow(f->a, &f->parent, f->n, &f->room_parent, sizeof(*f->parent));
		pm_list_grow(f->a, &f->key, f->n, &f->room_key, sizeof(*f->key));
		f->parent[f->n] = parent;
		f->key[f->n++] = key;
	}
	return node;
}

/* ---- costs ---- */

/* Makes room for the sums of nodes up to `f->n - 1`. */
static void grow_sums(struct folding *g)
{
	size_t n = g->costs->n;
	for (; g->n_sums < g->f->n; g->n_sums++) {
		pm_list_grow(
			g->a, &g->sums, g->n_sums, &g->room_sums, (n ? n : 1) * sizeof(*g->sums));
		for (size_t i = 0; i < n; i++)
			g->sums[g->n_sums * n + i] = NAN;
	}
}

/* One column, one quantity: where a format stores other exclusive costs, they are not compared. */
static void read_cells(
	struct folding *g, struct pmfs_model *m, uint32_t context, struct pm_error *err)
{
	pm_build_check(g->a,
		g->costs->own_costs ? pmfs_run_self_cells(m, context, g->cells, err)
				    : pmfs_run_cells(m, context, false, g->cells, err));
}

static void add_costs(struct folding *g, struct pmfs_model *m, uint32_t context, uint32_t node,
	struct pm_error *err)
{
	grow_sums(g);
	read_cells(g, m, context, err);
	for (uint32_t i = 0; i < g->run->n_columns; i++) {
		uint32_t cost = g->run->cost[i];
		pmfs_add(&g->sums[(size_t)node * g->costs->n + cost],
			pmfs_compare_value(g->costs, g->run, cost, g->cells[i]));
	}
}

/* Nodes from `known` on are new: the previous repetitions lack them. */
static void add_repetition(struct folding *g, uint32_t known)
{
	struct folded *f = g->f;
	size_t n = (size_t)f->n * g->costs->n;
	bool alone = g->costs->n_good[g->run->side] == 1;
	pm_list_grow(f->a, &f->mean, n, &f->room_mean, sizeof(*f->mean));
	if (!alone)
		pm_list_grow(f->a, &f->squares, n, &f->room_squares, sizeof(*f->squares));
	for (size_t i = 0; i < n; i++) {
		if (i >= (size_t)known * g->costs->n) {
			f->mean[i] = NAN;
			if (!alone)
				f->squares[i] = 0;
		}
		if (alone)
			f->mean[i] = g->sums[i];
		if (alone || (isnan(g->sums[i]) && isnan(f->mean[i])))
			continue;
		struct pmfs_sample s = {g->repetition, f->mean[i], f->squares[i]};
		if (isnan(s.mean))
			s.mean = 0;
		pmfs_sample_add(&s, isnan(g->sums[i]) ? 0 : g->sums[i]);
		f->mean[i] = s.mean;
		f->squares[i] = s.squares;
	}
}

/* ---- a run ---- */

/* A root that the other side lacks, if its costs are only those of the contexts below it. */
static bool is_left_out(struct folding *g, const struct pmfs_frames *frames, struct pmfs_model *m,
	const struct pm_tree *tree, uint32_t context, struct pm_error *err)
{
	if (!pm_tree_frame(tree, context)->is_root || frames->root_sides == PMFS_BOTH_SIDES)
		return false;
	read_cells(g, m, context, err);
	for (uint32_t i = 0; i < g->run->n_columns; i++)
		if (g->costs->costs[g->run->cost[i]].role != PM_ROLE_INCLUSIVE &&
			fabsl(g->cells[i]) > 0)
			return false;
	return true;
}

/*
 * One pass over both trees in parallel. The other side's nodes are visited parents first: when
 * a node has a partner, partners of its children are searched among the partner's children.
 * Calls are found by key, loops and lines are matched together.
 */

/* A tree's children, as lists. */
struct children {
	uint32_t *first; /* by node + 1; 0: at the top. PM_NONE: none */
	uint32_t *next;
};

struct pairing {
	struct pm_arena *a;
	const struct pmfs_frames *frames;
	const struct folded *side[PMFS_N_SIDES];
	struct children children[PMFS_N_SIDES];
	struct pmfs_line_place *place[PMFS_N_SIDES];
	uint32_t *partner;
	struct pairs *ret;
};

static void list_children(struct pm_arena *a, const struct folded *f, struct children *c)
{
	c->first = pm_arena_array(a, (size_t)f->n + 1, sizeof(*c->first));
	c->next = pm_arena_array(a, (size_t)f->n + 1, sizeof(*c->next));
	for (size_t i = 0; i <= f->n; i++)
		c->first[i] = PM_NONE;
	for (uint32_t i = f->n; i-- > 0;) {
		uint32_t *first = &c->first[f->parent[i] + 1];
		c->next[i] = *first;
		*first = i;
	}
}

/* ---- loops and lines ---- */

/* The reference for lines below a node: the line of the loop, or the first line of the function. */
static uint32_t origin(const struct pairing *p, enum pmfs_side side, uint32_t node, bool *is_loop)
{
	*is_loop = false;
	if (node == PM_NONE)
		return 0;
	uint32_t key = p->side[side]->key[node];
	const struct pmfs_part_place *part = frame_part(p->frames, key);
	*is_loop = part != NULL;
	if (part)
		return part->line;
	/* 0 if it is unknown, or the key is another call's. */
	return key < pmfs_n_function_keys(p->frames)
		? p->frames->functions->match.groups[key].line[side]
		: 0;
}

/* Lists the children of a node that are loops and lines; their number. */
static uint32_t list_parts(struct pairing *p, enum pmfs_side side, uint32_t node, uint32_t from)
{
	const struct children *c = &p->children[side];
	uint32_t n = 0;
	for (uint32_t i = c->first[node + 1]; i != PM_NONE; i = c->next[i]) {
		const struct pmfs_part_place *part = frame_part(p->frames, p->side[side]->key[i]);
		if (part)
			p->place[side][n++] = (struct pmfs_line_place){
				.class = p->frames->files.spellings[part->file].group[side] * 2 +
					(part->kind == PM_KIND_LOOP),
				.at = (int64_t)part->line - from,
				.tag = i,
			};
	}
	pmfs_places_sort(p->a, p->place[side], n);
	return n;
}

/* `base` is the partner of `other`; PM_NONE if both are the top. */
static void pair_parts(struct pairing *p, uint32_t base, uint32_t other)
{
	bool loops[PMFS_N_SIDES];
	uint32_t from[PMFS_N_SIDES] = {origin(p, PMFS_BASE, base, &loops[PMFS_BASE]),
		origin(p, PMFS_OTHER, other, &loops[PMFS_OTHER])};
	if (from[PMFS_BASE] == 0 || from[PMFS_OTHER] == 0)
		from[PMFS_BASE] = from[PMFS_OTHER] = 0;
	uint32_t n_other = list_parts(p, PMFS_OTHER, other, from[PMFS_OTHER]);
	if (n_other == 0)
		return;
	uint32_t n_base = list_parts(p, PMFS_BASE, base, from[PMFS_BASE]);
	pmfs_places_match(
		p->a, p->place[PMFS_BASE], n_base, p->place[PMFS_OTHER], n_other, p->partner);
	for (uint32_t i = 0; i < n_base; i++)
		if (p->partner[i] != PM_NONE)
			p->ret->of_other[p->place[PMFS_OTHER][p->partner[i]].tag] =
				p->place[PMFS_BASE][i].tag;
}

/* ---- all children of a node ---- */

static void pair_calls(struct pairing *p, uint32_t base, uint32_t other)
{
	const struct children *c = &p->children[PMFS_OTHER];
	for (uint32_t i = c->first[other + 1]; i != PM_NONE; i = c->next[i]) {
		uint32_t key = p->side[PMFS_OTHER]->key[i];
		if (frame_part(p->frames, key))
			continue;
		const uint32_t *partner =
			pm_map_find(&p->side[PMFS_BASE]->nodes, folded_place(base, key));
		if (partner)
			p->ret->of_other[i] = *partner;
	}
}

/* Children without a partner are new in the union. */
static void pair_children(struct pairing *p, uint32_t other)
{
	uint32_t here = other == PM_NONE ? PM_NONE : p->ret->of_other[other];
	if (here == PM_NONE || here < p->side[PMFS_BASE]->n) {
		pair_calls(p, here, other);
		pair_parts(p, here, other);
	}
	const struct children *c = &p->children[PMFS_OTHER];
	for (uint32_t i = c->first[other + 1]; i != PM_NONE; i = c->next[i]) {
		if (p->ret->of_other[i] != PM_NONE)
			continue;
		p->ret->of_other[i] = p->ret->n;
		p->ret->parent[p->ret->n++] = here;
	}
}

/* `a` has the result. Linear, except for lists of lines: see places.h. */
static void pair_trees(struct pm_arena *a, const struct pmfs_frames *frames,
	const struct folded *base, const struct folded *other, struct pairs *ret)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pairing p = {.a = scratch, .frames = frames, .side = {base, other}, .ret = ret};
	pm_build_check(a, (uint64_t)base->n + other->n < PM_NONE ? 0 : -ENOMEM);
	ret->of_other = pm_arena_array(a, (size_t)other->n + 1, sizeof(*ret->of_other));
	ret->parent = pm_arena_array(a, (size_t)base->n + other->n + 1, sizeof(*ret->parent));
	p.partner = pm_arena_array(scratch, (size_t)base->n + 1, sizeof(*p.partner));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		p.place[side] = pm_arena_array(
			scratch, (size_t)p.side[side]->n + 1, sizeof(*p.place[side]));
		list_children(scratch, p.side[side], &p.children[side]);
	}
	for (uint32_t i = 0; i < base->n; i++)
		ret->parent[i] = base->parent[i];
	for (uint32_t i = 0; i < other->n; i++)
		ret->of_other[i] = PM_NONE;
	ret->n = base->n;
	pair_children(&p, PM_NONE);
	for (uint32_t i = 0; i < other->n; i++) {
		pm_build_proceed(a);
		pair_children(&p, i);
	}
	pm_arena_done(scratch);
}

/* ---- the union ---- */

struct building {
	struct pm_arena *a, *scratch; /* of the union; while it is built */
	struct pmfs_tree_union *u;
	struct folded side[PMFS_N_SIDES];
	struct pairs pairing;
	uint32_t *node[PMFS_N_SIDES]; /* by node of the union: that of a side, or PM_NONE */
	uint32_t *place;              /* by node: its context */
	const uint32_t *order;        /* by context: its node */
};

/* ---- both sides ---- */

/*
 * Adds the run's tree; PM_NONE is the node of a root without costs of its own that only this side
 * has: what is below it is at the top. O(n).
 */
static void fold_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct building *b = self;
	const struct pmfs_costs *costs = b->u->costs;
	struct folded *f = &b->side[costs->runs[run].side];
	struct folding g = {.a = pm_arena_scratch(b->scratch),
		.f = f,
		.costs = costs,
		.run = &costs->runs[run],
		.repetition = f->n_runs++};
	const struct pmfs_columns *columns;
	const struct pm_tree *tree;
	uint32_t known = f->n, *of;
	pm_build_check(g.a, pmfs_model_tree(m, &tree, err));
	pm_build_check(g.a, pmfs_model_columns(m, &columns, err));
	if (tree->n_frames != b->u->frames.n_of[run] || columns->n != g.run->n_columns)
		pmfs_compare_changed(g.a, err);
	g.cells = pm_arena_array(g.a, (size_t)columns->n + 1, sizeof(*g.cells));
	of = pm_arena_array(b->a, (size_t)tree->n_contexts + 1, sizeof(*of));
	b->u->of[run] = of;
	b->u->n_of[run] = tree->n_contexts;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i] == PM_NONE ? PM_NONE : of[tree->parent[i]];
		of[i] = PM_NONE;
		if (is_left_out(&g, &b->u->frames, m, tree, i, err))
			continue;
		of[i] = node_at(f, parent, frame_key(&b->u->frames, run, tree->frame[i]));
		add_costs(&g, m, i, of[i], err);
	}
	grow_sums(&g);
	add_repetition(&g, known);
	pm_arena_done(g.a);
}

static void find_nodes(struct building *b)
{
	uint32_t n = b->pairing.n;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		b->node[side] = pm_arena_array(b->scratch, (size_t)n + 1, sizeof(*b->node[side]));
	for (uint32_t i = 0; i < n; i++) {
		b->node[PMFS_BASE][i] = i < b->side[PMFS_BASE].n ? i : PM_NONE;
		b->node[PMFS_OTHER][i] = PM_NONE;
	}
	for (uint32_t i = 0; i < b->side[PMFS_OTHER].n; i++)
		b->node[PMFS_OTHER][b->pairing.of_other[i]] = i;
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

/* The frame of a node: as the other run has it, or else as the baseline does. */
static uint32_t frame_of(const struct building *b, uint32_t node)
{
	uint32_t other = b->node[PMFS_OTHER][node];
	if (other != PM_NONE)
		return b->side[PMFS_OTHER].key[other];
	return pmfs_n_frame_keys(&b->u->frames) + b->side[PMFS_BASE].key[b->node[PMFS_BASE][node]];
}

static void free_made(void *u)
{
	pm_tree_free(((struct pmfs_tree_union *)u)->made);
}

/* Of the nodes, which come after their parents. Contexts with the same name are in its own order.
 */
static void make_tree(struct building *b)
{
	uint32_t n = b->pairing.n, cost = weighing_cost(b->u->costs);
	double *weights = pm_arena_array(b->scratch, (size_t)n + 1, sizeof(*weights));
	uint32_t *rank = pm_arena_array(b->a, (size_t)n + 1, sizeof(*rank));
	pm_arena_owns(b->a, free_made, b->u);
	struct pm_tree_builder *builder = pm_tree_builder_new();
	bool good = builder != NULL;
	for (uint32_t i = 0; good && i < n; i++) {
		rank[i] = i;
		weights[i] = weight(b, i, cost);
		good = pm_tree_add(builder, b->pairing.parent[i], frame_of(b, i), 0) != PM_NONE;
	}
	int r = good ? pm_tree_freeze(builder, weights, &b->u->made, &b->place, NULL) : -ENOMEM;
	if (!good)
		pm_tree_builder_free(builder);
	pm_build_check(b->a, r);
	b->order = b->u->made->rank;
	b->u->tree = *b->u->made;
	b->u->tree.ordered_by = PM_NONE;
	b->u->tree.rank = rank;
}

/* ---- costs and frames of contexts ---- */

static void fill_side(struct building *b, enum pmfs_side side)
{
	struct pmfs_tree_union *u = b->u;
	const struct folded *f = &b->side[side];
	size_t n = b->pairing.n, n_costs = u->costs->n;
	u->key[side] = pm_arena_array(b->a, n + 1, sizeof(*u->key[side]));
	u->mean[side] = pmfs_cells_new(b->a, n * n_costs);
	if (f->squares)
		u->squares[side] = pm_arena_array(b->a, n * n_costs + 1, sizeof(*u->squares[side]));
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
	pm_arena_done(f->a);
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

static void free_place(void *b)
{
	free(((struct building *)b)->place);
}

static void *union_build(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pm_error *err)
{
	struct pmfs_tree_union *u = pm_arena_alloc(a, sizeof(*u));
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct building *b = pm_arena_alloc(a, sizeof(*b));
	(void)which;
	*b = (struct building){.a = a, .scratch = scratch, .u = u};
	pm_arena_owns(scratch, free_place, b);
	pm_build_check(a, pmfs_compare_costs(c, &u->costs, err));
	u->of = pm_arena_array(a, (size_t)u->costs->n_runs + 1, sizeof(*u->of));
	u->n_of = pm_arena_array(a, (size_t)u->costs->n_runs + 1, sizeof(*u->n_of));
	pmfs_frames_read(a, c, u->costs, &u->frames, err);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		b->side[side].a = pm_arena_scratch(scratch);
		b->side[side].nodes.arena = b->side[side].a;
	}
	pmfs_compare_read(a, c, u->costs, (struct pmfs_reader){NULL, fold_run}, b, err);
	/* Only adding trees and looking up nodes needs them, a third of the memory. */
	pm_map_done(&b->side[PMFS_OTHER].nodes);
	pair_trees(scratch, &u->frames, &b->side[PMFS_BASE], &b->side[PMFS_OTHER], &b->pairing);
	pm_map_done(&b->side[PMFS_BASE].nodes);
	find_nodes(b);
	make_tree(b);
	place_contexts(b);
	u->sides = pm_arena_array(a, (size_t)b->pairing.n + 1, 1);
	fill_side(b, PMFS_BASE);
	fill_side(b, PMFS_OTHER);
	u->tree.frames = pmfs_frames_shown(&u->frames);
	u->tree.n_frames = 2 * pmfs_n_frame_keys(&u->frames);
	u->tree.texts = u->frames.match.texts.items;
	u->tree.n_texts = u->frames.match.texts.n;
	const char **columns = pm_arena_array(a, (size_t)u->costs->n + 1, sizeof(char *));
	for (uint32_t i = 0; i < u->costs->n; i++)
		columns[i] = u->costs->costs[i].name;
	u->shared = (struct pmfs_union){
		.tree = &u->tree,
		.n_columns = u->costs->n,
		.columns = columns,
		.base = u->mean[PMFS_BASE],
		.other = u->mean[PMFS_OTHER],
	};
	pm_arena_done(scratch);
	return u;
}

int pmfs_union_get(struct pmfs_compare *c, const struct pmfs_tree_union **ret, struct pm_error *err)
{
	return pmfs_compare_get(c, PMFS_COMPARE_UNION, union_build, ret, err);
}

/* contexts.csv: the union of the trees in pre-order. A row's position is its context. */

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
	const struct pmfs_part_place *part = key == PM_NONE ? NULL : frame_part(&u->frames, key);
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
	for (uint32_t k = 0; k < u->costs->n_shown; k++) {
		struct pmfs_pair pair = union_pair(u, i, k);
		cells = pmfs_pair_cells(u->costs, k, &pair, cells);
	}
	const pm_number *const mean[PMFS_N_SIDES] = {u->mean[PMFS_BASE] + (size_t)i * u->costs->n,
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
