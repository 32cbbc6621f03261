/*
 * One pass over both trees in parallel. The other side's nodes are visited parents first: when a
 * node has a partner, partners of its children are searched among the partner's children. Calls are
 * found by key, loops and lines are matched together.
 */
#include "fs/compare/pairing.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/compare/places.h"

/* A tree's children, as lists. */
struct children {
	uint32_t *first; /* by node + 1; 0: at the top. PM_NONE: none */
	uint32_t *next;
};

struct pairing {
	const struct pmfs_frames *frames;
	const struct pmfs_folded *side[PMFS_N_SIDES];
	struct children children[PMFS_N_SIDES];
	struct pmfs_line_place *place[PMFS_N_SIDES];
	uint32_t *partner;
	struct pmfs_pairing *ret;
};

static int list_children(const struct pmfs_folded *f, struct children *c)
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
	const struct pmfs_part_place *part = pmfs_frame_part(p->frames, key);
	*is_loop = part != NULL;
	return part ? part->line : pmfs_frame_first_line(p->frames, key, side);
}

/* The children of a node that are loops and lines, `*ret_n` of them. 0 or -ENOMEM. */
static int list_parts(
	struct pairing *p, enum pmfs_side side, uint32_t node, uint32_t from, uint32_t *ret_n)
{
	const struct children *c = &p->children[side];
	uint32_t n = 0;
	for (uint32_t i = c->first[node + 1]; i != PM_NONE; i = c->next[i]) {
		const struct pmfs_part_place *part =
			pmfs_frame_part(p->frames, p->side[side]->key[i]);
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
		if (pmfs_frame_part(p->frames, key))
			continue;
		const uint32_t *partner =
			pm_map_find(&p->side[PMFS_BASE]->nodes, pmfs_folded_place(base, key));
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
	const struct pmfs_folded *base = p->side[PMFS_BASE], *other = p->side[PMFS_OTHER];
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

int pmfs_pair_trees(const struct pmfs_frames *frames, const struct pmfs_folded *base,
	const struct pmfs_folded *other, struct pmfs_pairing *ret)
{
	struct pairing p = {.frames = frames, .side = {base, other}, .ret = ret};
	*ret = (struct pmfs_pairing){.n = 0};
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
		pmfs_pairing_done(ret);
	return r;
}

void pmfs_pairing_done(struct pmfs_pairing *p)
{
	free(p->of_other);
	free(p->parent);
	*p = (struct pmfs_pairing){.n = 0};
}
