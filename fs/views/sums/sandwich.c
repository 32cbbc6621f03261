#include "fs/views/sums/sandwich.h"

#include <stdlib.h>

struct merging {
	const struct pmfs_name_paths *all;
	struct pmfs_name_paths *to;
	struct pm_map nodes; /* parent << 32 | name of `all` → node of `to` */
};

/* The node of that name below `parent`, new or known; PM_NONE if out of memory. */
static uint32_t child_of(struct merging *m, uint32_t parent, uint32_t name)
{
	struct pmfs_name_paths *to = m->to;
	bool is_new;
	uint32_t *node = pm_map_put(&m->nodes, (uint64_t)parent << 32 | name, to->n, &is_new);
	if (!node || !is_new)
		return node ? *node : PM_NONE;
	to->name[to->n] = pm_strtab_add_lasting(&to->names, m->all->names.items[name]);
	if (to->name[to->n] == PM_NONE)
		return PM_NONE;
	to->parent[to->n] = parent;
	to->self[to->n] = 0;
	return to->n++;
}

static int begin(struct merging *m, uint32_t name)
{
	if (pmfs_name_paths_begin(m->to, (size_t)m->all->n + 1) < 0)
		return -ENOMEM;
	m->to->name[0] = pm_strtab_add(&m->to->names, m->all->names.items[name]);
	return m->to->name[0] == PM_NONE ? -ENOMEM : 0;
}

static int end(struct merging *m, int r)
{
	pm_map_done(&m->nodes);
	if (r < 0)
		pmfs_name_paths_done(m->to);
	else
		pmfs_name_paths_end(m->to);
	return r;
}

/* Parents come before children, so the node of a caller is known. */
static int merge_callees(struct merging *m, uint32_t name, uint32_t *node_of)
{
	const struct pmfs_name_paths *all = m->all;
	node_of[0] = PM_NONE;
	for (uint32_t i = 1; i < all->n; i++) {
		uint32_t parent = node_of[all->parent[i]];
		node_of[i] = all->name[i] == name ? 0 : PM_NONE;
		if (parent != PM_NONE &&
			(node_of[i] = child_of(m, parent, all->name[i])) == PM_NONE)
			return -ENOMEM;
		if (node_of[i] != PM_NONE)
			m->to->self[node_of[i]] += all->self[i];
	}
	return 0;
}

int pmfs_callee_paths(const struct pmfs_name_paths *all, uint32_t name, struct pmfs_name_paths *ret)
{
	struct merging m = {.all = all, .to = ret};
	uint32_t *node_of = malloc(all->n * sizeof(*node_of));
	int r = begin(&m, name);
	if (r == 0)
		r = node_of ? merge_callees(&m, name, node_of) : -ENOMEM;
	free(node_of);
	return end(&m, r);
}

/* A path upwards from a call: its node in `all`, and in the merged paths. */
struct way {
	uint32_t call, at, node;
};

/* The function's outermost calls. `inside` is by node: whether it or a node above it is one. */
static uint32_t find_outermost(
	const struct pmfs_name_paths *all, uint32_t name, bool *inside, struct way *ways)
{
	uint32_t n = 0;
	inside[0] = false;
	for (uint32_t i = 1; i < all->n; i++) {
		bool below = inside[all->parent[i]];
		inside[i] = below || all->name[i] == name;
		if (inside[i] && !below)
			ways[n++] = (struct way){i, i, 0};
	}
	return n;
}

/* All paths are followed level by level, so that the levels furthest from the function are cut. */
static int merge_callers(struct merging *m, uint32_t levels, struct way *ways, uint32_t n)
{
	for (bool moved = true; moved && levels > 0; levels--) {
		moved = false;
		for (uint32_t i = 0; i < n && m->to->n < m->all->n; i++) {
			uint32_t caller = m->all->parent[ways[i].at];
			if (caller == 0)
				continue;
			uint32_t node = child_of(m, ways[i].node, m->all->name[caller]);
			if (node == PM_NONE)
				return -ENOMEM;
			ways[i].at = caller;
			ways[i].node = node;
			moved = true;
		}
	}
	return 0;
}

int pmfs_caller_paths(const struct pmfs_name_paths *all, uint32_t name, const double *total,
	uint32_t levels, struct pmfs_name_paths *ret)
{
	struct merging m = {.all = all, .to = ret};
	bool *inside = malloc(all->n * sizeof(*inside));
	struct way *ways = malloc(all->n * sizeof(*ways));
	int r = begin(&m, name);
	if (r == 0 && (!inside || !ways))
		r = -ENOMEM;
	if (r == 0) {
		uint32_t n = find_outermost(all, name, inside, ways);
		r = merge_callers(&m, levels, ways, n);
		for (uint32_t i = 0; r == 0 && i < n; i++)
			ret->self[ways[i].node] += total[ways[i].call];
	}
	free(inside);
	free(ways);
	return end(&m, r);
}
