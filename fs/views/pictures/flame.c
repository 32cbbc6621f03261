/*
 * The layout of a flame graph. Siblings are sorted by name, not by cost: a
 * function keeps its place from thread to thread, metric to metric and run to run, so pictures can
 * be compared by eye (docs/decisions/0080-flame-graphs-by-name.md).
 *
 * Nodes are sorted by name once, all together. Visited in that order, each node gets the space
 * taken by its earlier siblings; then one pass from parents to children computes the positions.
 */
#include "fs/views/pictures/flame.h"

#include <math.h>

#include "formats/common/sort.h"

/* Sums of 2^32 of these are finite. */
#define MOST_COST 1e290

struct pmfs_flame pmfs_flame_of(const struct pmfs_name_paths *p)
{
	static const uint32_t parent = PM_NONE, name = 0;
	static const double self = 0;
	if (p->n == 0)
		return (struct pmfs_flame){.n = 1, .parent = &parent, .name = &name, .self = &self};
	return (struct pmfs_flame){.n = p->n,
		.parent = p->parent,
		.name = p->name,
		.names = p->names.items,
		.n_names = p->names.n,
		.self = p->self};
}

double pmfs_flame_own(const struct pmfs_flame *flame, uint32_t node)
{
	double self = flame->self[node];
	return self > 0 ? fmin(self, MOST_COST) : 0;
}

static int compare_names(const void *a, const void *b, void *names)
{
	const struct pm_bytes *n = names;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = pm_bytes_compare(n[x], n[y]);
	return order ? order : (x > y) - (x < y);
}

/* The nodes but the whole in the order of their names. */
static uint32_t *nodes_by_name(struct pm_arena *a, const struct pmfs_flame *f)
{
	uint32_t *names = pm_arena_array(a, f->n_names, sizeof(*names)), at = 0;
	uint32_t *next = pm_arena_array(a, f->n_names, sizeof(*next)); /* place of a name's next */
	uint32_t *nodes = pm_arena_array(a, f->n, sizeof(*nodes));
	for (uint32_t i = 0; i < f->n_names; i++)
		names[i] = i;
	pm_build_check(a,
		pm_sort_with(names, f->n_names, sizeof(*names), compare_names,
			(void *)(uintptr_t)f->names));
	for (uint32_t i = 1; i < f->n; i++)
		next[f->name[i]]++;
	for (uint32_t i = 0; i < f->n_names; i++) {
		uint32_t count = next[names[i]];
		next[names[i]] = at;
		at += count;
	}
	for (uint32_t i = 1; i < f->n; i++)
		nodes[next[f->name[i]]++] = i;
	return nodes;
}

/* The space of a node that is taken by children placed so far. */
struct taken {
	uint32_t nodes;
	double cost;
};

static void measure(const struct pmfs_flame *f, struct pmfs_flame_layout *l, uint32_t *size)
{
	for (uint32_t i = 0; i < f->n; i++) {
		size[i] = 1;
		l->total[i] = pmfs_flame_own(f, i);
	}
	for (uint32_t i = f->n; i-- > 1;) {
		size[f->parent[i]] += size[i];
		l->total[f->parent[i]] += l->total[i];
	}
}

static void place_nodes(const struct pmfs_flame *f, struct pmfs_flame_layout *l,
	const uint32_t *by_name, const uint32_t *size, struct taken *taken)
{
	for (uint32_t k = 0; k + 1 < f->n; k++) {
		uint32_t i = by_name[k];
		struct taken *t = &taken[f->parent[i]];
		l->place[i] = 1 + t->nodes;
		l->start[i] = t->cost;
		t->nodes += size[i];
		t->cost += l->total[i];
	}
	l->place[0] = l->depth[0] = 0;
	l->start[0] = 0;
	for (uint32_t i = 1; i < f->n; i++) {
		l->place[i] += l->place[f->parent[i]];
		l->start[i] += l->start[f->parent[i]];
		l->depth[i] = l->depth[f->parent[i]] + 1;
	}
	for (uint32_t i = 0; i < f->n; i++)
		l->order[l->place[i]] = i;
}

struct pmfs_flame_layout *pmfs_flame_lay_out(struct pm_arena *a, const struct pmfs_flame *flame)
{
	struct pmfs_flame_layout *l = pm_arena_alloc(a, sizeof(*l));
	struct pm_arena *scratch = pm_arena_scratch(a);
	l->order = pm_arena_array(a, flame->n, sizeof(*l->order));
	l->place = pm_arena_array(a, flame->n, sizeof(*l->place));
	l->depth = pm_arena_array(a, flame->n, sizeof(*l->depth));
	l->total = pm_arena_array(a, flame->n, sizeof(*l->total));
	l->start = pm_arena_array(a, flame->n, sizeof(*l->start));
	uint32_t *size = pm_arena_array(scratch, flame->n, sizeof(*size));
	struct taken *taken = pm_arena_array(scratch, flame->n, sizeof(*taken));
	const uint32_t *by_name = nodes_by_name(scratch, flame);
	measure(flame, l, size);
	place_nodes(flame, l, by_name, size, taken);
	pm_arena_done(scratch);
	return l;
}
