/* The union tree: merged sides, paired, in pre-order with the heaviest siblings first. */
#include "fs/compare/union.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
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

/* The first line of a function on a side; 0 if it is unknown, or the key is another call's. */
static uint32_t frame_first_line(const struct pmfs_frames *f, uint32_t key, enum pmfs_side side)
{
	return key < pmfs_n_function_keys(f) ? f->functions->match.groups[key].line[side] : 0;
}

/* Whether the frame is a root that is left out, because only one side has roots. */
static bool frame_is_left_out(const struct pmfs_frames *f, const struct pm_frame *frame)
{
	return frame->is_root && f->root_sides != PMFS_BOTH_SIDES;
}

struct folded {
	uint32_t n;
	uint32_t n_runs;     /* runs that were added */
	uint32_t *parent;    /* PM_NONE at the top; parents come before children */
	uint32_t *key;       /* key of the frame */
	pm_number *mean;     /* costs->n per node; NaN: no repetition has a value */
	pm_number *squares;  /* see struct pmfs_sample; NULL without repetitions */
	struct pm_map nodes; /* parent + 1, key → node */
	size_t room_parent, room_key;
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
	struct folded *f;
	const struct pmfs_costs *costs;
	const struct pmfs_compared_run *run;
	uint32_t repetition; /* repetitions before this one */
	pm_number *sums;     /* costs->n per node: of this run */
	size_t room_sums, n_sums;
	pm_number *cells;
};

static int node_at(struct folded *f, uint32_t parent, uint32_t key, uint32_t *ret)
{
	bool fresh;
	uint32_t *node = pm_map_put(&f->nodes, folded_place(parent, key), f->n, &fresh);
	if (!node || f->n >= PM_NONE - 1)
		return -ENOMEM;
	*ret = *node;
	if (!fresh)
		return 0;
	if (pm_list_room(&f->parent, f->n, &f->room_parent, sizeof(*f->parent)) < 0 ||
		pm_list_room(&f->key, f->n, &f->room_key, sizeof(*f->key)) < 0)
		return -ENOMEM;
	f->parent[f->n] = parent;
	f->key[f->n++] = key;
	return 0;
}

/* ---- costs ---- */

/* Makes room for the sums of nodes up to `f->n - 1`. */
static int grow_sums(struct folding *g)
{
	size_t n = g->costs->n;
	for (; g->n_sums < g->f->n; g->n_sums++) {
		if (pm_list_room(
			    &g->sums, g->n_sums, &g->room_sums, (n ? n : 1) * sizeof(*g->sums)) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < n; i++)
			g->sums[g->n_sums * n + i] = NAN;
	}
	return 0;
}

/* One column, one quantity: where a format stores other exclusive costs, they are not compared. */
static int read_cells(
	struct folding *g, struct pmfs_model *m, uint32_t context, struct pm_error *err)
{
	return g->costs->own_costs ? pmfs_run_self_cells(m, context, g->cells, err)
				   : pmfs_run_cells(m, context, false, g->cells, err);
}

static int add_costs(struct folding *g, struct pmfs_model *m, uint32_t context, uint32_t node,
	struct pm_error *err)
{
	if (grow_sums(g) < 0)
		return pmfs_compare_no_memory(err);
	int r = read_cells(g, m, context, err);
	for (uint32_t i = 0; r == 0 && i < g->run->n_columns; i++) {
		uint32_t cost = g->run->cost[i];
		pmfs_add(&g->sums[(size_t)node * g->costs->n + cost],
			pmfs_compare_value(g->costs, g->run, cost, g->cells[i]));
	}
	return r;
}

/* Nodes from `known` on are new: the previous repetitions lack them. */
static int grow_means(struct folding *g, uint32_t known)
{
	size_t n = (size_t)g->f->n * g->costs->n;
	pm_number *mean = realloc(g->f->mean, (n + 1) * sizeof(*mean));
	if (mean)
		g->f->mean = mean;
	pm_number *squares = realloc(g->f->squares, (n + 1) * sizeof(*squares));
	if (squares)
		g->f->squares = squares;
	if (!mean || !squares)
		return -ENOMEM;
	for (size_t i = (size_t)known * g->costs->n; i < n; i++) {
		mean[i] = NAN;
		squares[i] = 0;
	}
	return 0;
}

static int add_repetition(struct folding *g, uint32_t known)
{
	if (g->costs->n_good[g->run->side] == 1) {
		g->f->mean = g->sums;
		g->sums = NULL;
		return 0;
	}
	if (grow_means(g, known) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)g->f->n * g->costs->n; i++) {
		struct pmfs_sample s = {g->repetition, g->f->mean[i], g->f->squares[i]};
		if (isnan(g->sums[i]) && isnan(s.mean))
			continue;
		if (isnan(s.mean))
			s.mean = 0;
		pmfs_sample_add(&s, isnan(g->sums[i]) ? 0 : g->sums[i]);
		g->f->mean[i] = s.mean;
		g->f->squares[i] = s.squares;
	}
	return 0;
}

/* ---- a run ---- */

/* A root that the other side lacks, if its costs are only those of the contexts below it. */
static int is_left_out(struct folding *g, const struct pmfs_frames *frames, struct pmfs_model *m,
	uint32_t context, bool *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	*ret = r == 0 && frame_is_left_out(frames, pm_tree_frame(tree, context));
	if (!*ret)
		return r;
	r = read_cells(g, m, context, err);
	for (uint32_t i = 0; r == 0 && i < g->run->n_columns; i++)
		if (g->costs->costs[g->run->cost[i]].role != PM_ROLE_INCLUSIVE &&
			fabsl(g->cells[i]) > 0)
			*ret = false;
	return r;
}

static int fold_tree(struct folding *g, const struct pmfs_frames *frames, struct pmfs_model *m,
	uint32_t *of, struct pm_error *err)
{
	const struct pm_tree *tree;
	uint32_t run = (uint32_t)(g->run - g->costs->runs);
	int r = pmfs_model_tree(m, &tree, err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i] == PM_NONE ? PM_NONE : of[tree->parent[i]];
		uint32_t key = frame_key(frames, run, tree->frame[i]);
		bool left_out;
		of[i] = PM_NONE;
		r = is_left_out(g, frames, m, i, &left_out, err);
		if (r < 0 || left_out)
			continue;
		r = node_at(g->f, parent, key, &of[i]);
		if (r == 0)
			r = add_costs(g, m, i, of[i], err);
	}
	return r;
}

/*
 * Adds the run's tree. `*ret_of` is the node of each context, to be freed by the caller, also after
 * a failure; PM_NONE for a root without costs of its own that only this side has: what is below it
 * is at the top. 0 or a negative errno. O(n).
 */
static int fold(struct folded *f, const struct pmfs_frames *frames, const struct pmfs_costs *costs,
	uint32_t run, struct pmfs_model *m, uint32_t **ret_of, struct pm_error *err)
{
	struct folding g = {.f = f, .costs = costs, .run = &costs->runs[run]};
	const struct pmfs_columns *columns;
	const struct pm_tree *tree;
	uint32_t known = f->n;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0 || (r = pmfs_model_columns(m, &columns, err)) < 0)
		return r;
	if (tree->n_frames != frames->n_of[run] || columns->n != g.run->n_columns)
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	g.repetition = f->n_runs++;
	g.cells = malloc(((size_t)columns->n + 1) * sizeof(*g.cells));
	*ret_of = malloc(((size_t)tree->n_contexts + 1) * sizeof(**ret_of));
	r = g.cells && *ret_of ? fold_tree(&g, frames, m, *ret_of, err) : -ENOMEM;
	if (r == 0 && (r = grow_sums(&g)) == 0)
		r = add_repetition(&g, known);
	free(g.cells);
	free(g.sums);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

/* Frees what is needed only for adding trees and looking up nodes, a third of the memory. */
static void folded_close(struct folded *f)
{
	pm_map_done(&f->nodes);
}

static void folded_done(struct folded *f)
{
	free(f->parent);
	free(f->key);
	free(f->mean);
	free(f->squares);
	pm_map_done(&f->nodes);
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
	const struct pmfs_frames *frames;
	const struct folded *side[PMFS_N_SIDES];
	struct children children[PMFS_N_SIDES];
	struct pmfs_line_place *place[PMFS_N_SIDES];
	uint32_t *partner;
	struct pairs *ret;
};

static int list_children(const struct folded *f, struct children *c)
{
	c->first = malloc(((size_t)f->n + 1) * sizeof(*c->first));
	c->next = malloc(((size_t)f->n + 1) * sizeof(*c->next));
	if (!c->first || !c->next)
		return -ENOMEM;
	for (size_t i = 0; i <= f->n; i++)
		c->first[i] = PM_NONE;
	for (uint32_t i = f->n; i-- > 0;) {
		uint32_t *first = &c->first[f->parent[i] + 1];
		c->next[i] = *first;
		*first = i;
	}
	return 0;
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
	return part ? part->line : frame_first_line(p->frames, key, side);
}

/* The children of a node that are loops and lines, `*ret_n` of them. 0 or -ENOMEM. */
static int list_parts(
	struct pairing *p, enum pmfs_side side, uint32_t node, uint32_t from, uint32_t *ret_n)
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
	*ret_n = n;
	return pmfs_places_sort(p->place[side], n);
}

/* `base` is the partner of `other`; PM_NONE if both are the top. */
static int pair_parts(struct pairing *p, uint32_t base, uint32_t other)
{
	bool loops[PMFS_N_SIDES];
	uint32_t from[PMFS_N_SIDES] = {origin(p, PMFS_BASE, base, &loops[PMFS_BASE]),
		origin(p, PMFS_OTHER, other, &loops[PMFS_OTHER])};
	if (from[PMFS_BASE] == 0 || from[PMFS_OTHER] == 0)
		from[PMFS_BASE] = from[PMFS_OTHER] = 0;
	uint32_t n_other, n_base;
	int r = list_parts(p, PMFS_OTHER, other, from[PMFS_OTHER], &n_other);
	if (r < 0 || n_other == 0)
		return r;
	if (list_parts(p, PMFS_BASE, base, from[PMFS_BASE], &n_base) < 0 ||
		pmfs_places_match(
			p->place[PMFS_BASE], n_base, p->place[PMFS_OTHER], n_other, p->partner) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_base; i++)
		if (p->partner[i] != PM_NONE)
			p->ret->of_other[p->place[PMFS_OTHER][p->partner[i]].tag] =
				p->place[PMFS_BASE][i].tag;
	return 0;
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

/* Children without a partner are new; `here` is the node of `other` in the union. */
static void add_new(struct pairing *p, uint32_t here, uint32_t other)
{
	const struct children *c = &p->children[PMFS_OTHER];
	for (uint32_t i = c->first[other + 1]; i != PM_NONE; i = c->next[i]) {
		if (p->ret->of_other[i] != PM_NONE)
			continue;
		p->ret->of_other[i] = p->ret->n;
		p->ret->parent[p->ret->n++] = here;
	}
}

static int pair_children(struct pairing *p, uint32_t other)
{
	uint32_t here = other == PM_NONE ? PM_NONE : p->ret->of_other[other];
	int r = 0;
	if (here == PM_NONE || here < p->side[PMFS_BASE]->n) {
		pair_calls(p, here, other);
		r = pair_parts(p, here, other);
	}
	if (r == 0)
		add_new(p, here, other);
	return r;
}

static int allocate(struct pairing *p)
{
	size_t n_base = p->side[PMFS_BASE]->n, n_other = p->side[PMFS_OTHER]->n;
	p->ret->of_other = malloc((n_other + 1) * sizeof(*p->ret->of_other));
	p->ret->parent = malloc((n_base + n_other + 1) * sizeof(*p->ret->parent));
	p->place[PMFS_BASE] = malloc((n_base + 1) * sizeof(*p->place[PMFS_BASE]));
	p->place[PMFS_OTHER] = malloc((n_other + 1) * sizeof(*p->place[PMFS_OTHER]));
	p->partner = malloc((n_base + 1) * sizeof(*p->partner));
	if (!p->ret->of_other || !p->ret->parent || !p->place[PMFS_BASE] || !p->place[PMFS_OTHER] ||
		!p->partner)
		return -ENOMEM;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		if (list_children(p->side[side], &p->children[side]) < 0)
			return -ENOMEM;
	return 0;
}

static int pair_all(struct pairing *p)
{
	const struct folded *base = p->side[PMFS_BASE], *other = p->side[PMFS_OTHER];
	for (uint32_t i = 0; i < base->n; i++)
		p->ret->parent[i] = base->parent[i];
	for (uint32_t i = 0; i < other->n; i++)
		p->ret->of_other[i] = PM_NONE;
	p->ret->n = base->n;
	int r = pair_children(p, PM_NONE);
	for (uint32_t i = 0; r == 0 && i < other->n; i++)
		r = pm_work_cancelled() ? -ENOMEM : pair_children(p, i);
	return r;
}

static void pairs_done(struct pairs *p)
{
	free(p->of_other);
	free(p->parent);
	*p = (struct pairs){.n = 0};
}

/* 0 or -ENOMEM, with nothing allocated. Linear, except for lists of lines: see places.h. */
static int pair_trees(const struct pmfs_frames *frames, const struct folded *base,
	const struct folded *other, struct pairs *ret)
{
	struct pairing p = {.frames = frames, .side = {base, other}, .ret = ret};
	*ret = (struct pairs){.n = 0};
	int r = (uint64_t)base->n + other->n < PM_NONE ? allocate(&p) : -ENOMEM;
	if (r == 0)
		r = pair_all(&p);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		free(p.children[side].first);
		free(p.children[side].next);
		free(p.place[side]);
	}
	free(p.partner);
	if (r < 0)
		pairs_done(ret);
	return r;
}

/* ---- the union ---- */

struct building {
	struct pmfs_tree_union *u;
	struct folded side[PMFS_N_SIDES];
	struct pairs pairing;
	uint32_t *node[PMFS_N_SIDES]; /* by node of the union: that of a side, or PM_NONE */
	uint32_t *place;              /* by node: its context */
	const uint32_t *order;        /* by context: its node */
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
	free((void *)(uintptr_t)u->shown);
	free(u->rank);
	pm_tree_free(u->made);
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
	return fold(&b->side[b->u->costs->runs[run].side], &b->u->frames, b->u->costs, run, m,
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

/* The frame of a node: as the other run has it, or else as the baseline does. */
static uint32_t frame_of(const struct building *b, uint32_t node)
{
	uint32_t other = b->node[PMFS_OTHER][node];
	if (other != PM_NONE)
		return b->side[PMFS_OTHER].key[other];
	return pmfs_n_frame_keys(&b->u->frames) + b->side[PMFS_BASE].key[b->node[PMFS_BASE][node]];
}

/* Of the nodes, which come after their parents. Contexts with the same name are in its own order.
 */
static int make_tree(struct building *b)
{
	uint32_t n = b->pairing.n, cost = weighing_cost(b->u->costs);
	struct pm_tree_builder *builder = pm_tree_builder_new();
	double *weights = malloc(((size_t)n + 1) * sizeof(*weights));
	uint32_t *rank = malloc(((size_t)n + 1) * sizeof(*rank));
	bool good = builder && weights && rank;
	b->u->rank = rank;
	for (uint32_t i = 0; good && i < n; i++) {
		rank[i] = i;
		weights[i] = weight(b, i, cost);
		good = pm_tree_add(builder, b->pairing.parent[i], frame_of(b, i), 0) != PM_NONE;
	}
	int r = good ? pm_tree_freeze(builder, weights, &b->u->made, &b->place, NULL) : -ENOMEM;
	if (!good)
		pm_tree_builder_free(builder);
	free(weights);
	if (r < 0)
		return -ENOMEM;
	b->order = b->u->made->rank;
	b->u->tree = *b->u->made;
	b->u->tree.ordered_by = PM_NONE;
	b->u->tree.rank = rank;
	return 0;
}

/* ---- costs and frames of contexts ---- */

static int fill_side(struct building *b, enum pmfs_side side)
{
	struct pmfs_tree_union *u = b->u;
	const struct folded *f = &b->side[side];
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
	folded_done(&b->side[side]);
	b->side[side] = (struct folded){.n = 0};
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
	u->tree.frames = u->shown = pmfs_frames_shown(&u->frames);
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
	folded_close(&b->side[PMFS_OTHER]);
	int r = pair_trees(&u->frames, &b->side[PMFS_BASE], &b->side[PMFS_OTHER], &b->pairing);
	folded_close(&b->side[PMFS_BASE]);
	if (r == 0)
		r = find_nodes(b);
	if (r == 0)
		r = make_tree(b);
	if (r < 0)
		return r;
	place_contexts(b);
	u->sides = calloc((size_t)b->pairing.n + 1, 1);
	if (!u->sides || fill_side(b, PMFS_BASE) < 0 || fill_side(b, PMFS_OTHER) < 0 ||
		fill_frames(u) < 0 || fill_shared(u) < 0)
		return -ENOMEM;
	return 0;
}

static uint64_t bytes_of(const struct pmfs_tree_union *u)
{
	uint64_t n = u->tree.n_contexts, cells = n * u->costs->n * sizeof(pm_number);
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
		folded_done(&b.side[side]);
		free(b.node[side]);
	}
	pairs_done(&b.pairing);
	free(b.place);
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
