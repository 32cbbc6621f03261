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
#include <stdlib.h>

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

/* State while nodes are sorted: two arrays of names, one of nodes. */
struct sorting {
	uint32_t *names; /* in order */
	uint32_t *next;  /* by name: where its next node goes */
	uint32_t *nodes; /* in the order of their names */
};

static int sort_nodes(const struct pmfs_flame *f, struct sorting *s)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < f->n_names; i++)
		s->names[i] = i;
	if (pm_sort_with(s->names, f->n_names, sizeof(*s->names), compare_names,
		    (void *)(uintptr_t)f->names) < 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < f->n; i++)
		s->next[f->name[i]]++;
	for (uint32_t i = 0; i < f->n_names; i++) {
		uint32_t count = s->next[s->names[i]];
		s->next[s->names[i]] = at;
		at += count;
	}
	for (uint32_t i = 1; i < f->n; i++)
		s->nodes[s->next[f->name[i]]++] = i;
	return 0;
}

static int nodes_by_name(const struct pmfs_flame *f, uint32_t **ret)
{
	struct sorting s = {
		.names = malloc(((size_t)f->n_names + 1) * sizeof(*s.names)),
		.next = calloc((size_t)f->n_names + 1, sizeof(*s.next)),
		.nodes = malloc(((size_t)f->n + 1) * sizeof(*s.nodes)),
	};
	bool good = s.names && s.next && s.nodes && sort_nodes(f, &s) == 0;
	free(s.names);
	free(s.next);
	if (good)
		*ret = s.nodes;
	else
		free(s.nodes);
	return good ? 0 : -ENOMEM;
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

int pmfs_flame_lay_out(
	const struct pmfs_flame *flame, struct pmfs_flame_layout *ret, struct pm_error *err)
{
	size_t n = (size_t)flame->n + 1;
	struct pmfs_flame_layout l = {
		.order = malloc(n * sizeof(*l.order)),
		.place = malloc(n * sizeof(*l.place)),
		.depth = malloc(n * sizeof(*l.depth)),
		.total = malloc(n * sizeof(*l.total)),
		.start = malloc(n * sizeof(*l.start)),
	};
	uint32_t *by_name = NULL, *size = malloc(n * sizeof(*size));
	struct taken *taken = calloc(n, sizeof(*taken));
	bool good = l.order && l.place && l.depth && l.total && l.start && size && taken &&
		nodes_by_name(flame, &by_name) == 0;
	if (good) {
		measure(flame, &l, size);
		place_nodes(flame, &l, by_name, size, taken);
		*ret = l;
	} else {
		pmfs_flame_layout_done(&l);
	}
	free(by_name);
	free(size);
	free(taken);
	return good ? 0 : pm_error_plain(err, -ENOMEM);
}

void pmfs_flame_layout_done(struct pmfs_flame_layout *l)
{
	free(l->order);
	free(l->place);
	free(l->depth);
	free(l->total);
	free(l->start);
	*l = (struct pmfs_flame_layout){.order = NULL};
}
