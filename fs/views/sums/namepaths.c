/*
 * Merging frames by name. Contexts come in pre-order, so a frame's caller has its node before
 * it; a node is found by its parent and its name in one hash table.
 */
#include "fs/views/sums/namepaths.h"

#include <stdlib.h>

#include "fs/views/model/parts.h"

struct merging {
	const struct pmfs_stacks *stacks;
	struct pmfs_name_paths *paths;
	void (*clean)(struct pm_text *out, struct pm_bytes name);
	uint32_t *name_of;      /* frame of the tree → name, or PM_NONE while unknown */
	uint32_t *name_of_text; /* text of the tree → name, or PM_NONE as above */
	uint32_t *node_of;      /* context → node; of frames */
	struct pm_map nodes;    /* parent << 32 | name → node */
	struct pm_text raw, cleaned;
};

/* The name of a frame; PM_NONE if out of memory. */
static uint32_t name_of(struct merging *m, uint32_t frame)
{
	const struct pm_tree *tree = m->stacks->tree;
	uint32_t text = tree->frames[frame].name, *known = &m->name_of_text[text];
	if (m->name_of[frame] == PM_NONE && text != 0)
		m->name_of[frame] = *known;
	if (m->name_of[frame] != PM_NONE)
		return m->name_of[frame];
	pm_text_clear(&m->raw);
	pm_text_clear(&m->cleaned);
	m->clean(&m->cleaned, pmfs_stacks_name(tree, &tree->frames[frame], &m->raw));
	if (!m->raw.failed && !m->cleaned.failed)
		m->name_of[frame] = *known =
			pm_strtab_add(&m->paths->names, pm_text_view(&m->cleaned));
	return m->name_of[frame];
}

/* The node of that name below `parent`, a new one without a cost or known; PM_NONE: no memory. */
static uint32_t child_of(
	struct pmfs_name_paths *p, struct pm_map *nodes, uint32_t parent, uint32_t name)
{
	bool is_new;
	uint32_t *node = pm_map_put(nodes, (uint64_t)parent << 32 | name, p->n, &is_new);
	if (!node || !is_new)
		return node ? *node : PM_NONE;
	p->parent[p->n] = parent;
	p->name[p->n] = name;
	p->self[p->n] = 0;
	return p->n++;
}

static int merge_frame(struct merging *m, uint32_t context)
{
	const struct pmfs_stacks *s = m->stacks;
	uint32_t caller = pmfs_stacks_caller(s, context);
	uint32_t parent = caller == PM_NONE ? 0 : m->node_of[caller - s->first];
	uint32_t name = name_of(m, s->tree->frame[context]);
	uint32_t node = name == PM_NONE ? PM_NONE : child_of(m->paths, &m->nodes, parent, name);
	if (node == PM_NONE)
		return -ENOMEM;
	m->paths->self[node] += s->self[context - s->first];
	m->node_of[context - s->first] = node;
	return 0;
}

static int merge(struct merging *m)
{
	const struct pmfs_stacks *s = m->stacks;
	size_t n = s->end - s->first;
	m->name_of = malloc((s->tree->n_frames + 1u) * sizeof(*m->name_of));
	m->name_of_text = malloc((s->tree->n_texts + 1u) * sizeof(*m->name_of_text));
	m->node_of = malloc((n + 1) * sizeof(*m->node_of));
	if (!m->name_of || !m->name_of_text || !m->node_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->tree->n_texts; i++)
		m->name_of_text[i] = PM_NONE;
	for (uint32_t i = 0; i < s->tree->n_frames; i++)
		m->name_of[i] = PM_NONE;
	for (uint32_t i = s->first; i < s->end; i++)
		if (pmfs_stacks_is_frame(s, i) && merge_frame(m, i) < 0)
			return -ENOMEM;
	return 0;
}

/* Counts are two cells ahead, so that filling moves each start into place. */
static void name_paths_end(struct pmfs_name_paths *p)
{
	for (uint32_t i = 1; i < p->n; i++)
		p->child_start[(size_t)p->parent[i] + 2]++;
	for (size_t i = 2; i <= p->n; i++)
		p->child_start[i] += p->child_start[i - 1];
	for (uint32_t i = 1; i < p->n; i++)
		p->children[p->child_start[p->parent[i] + 1]++] = i;
}

/*
 * For callers that build paths of their own: starts with only the root and room for `room` nodes.
 * Then add nodes, parents first, and finally list their children. 0 or -ENOMEM.
 */
static int name_paths_begin(struct pmfs_name_paths *p, size_t room)
{
	*p = (struct pmfs_name_paths){.n = 0};
	p->names.arena = &p->arena;
	p->parent = malloc(room * sizeof(*p->parent));
	p->name = malloc(room * sizeof(*p->name));
	p->self = malloc(room * sizeof(*p->self));
	p->child_start = calloc(room + 2, sizeof(*p->child_start));
	p->children = malloc(room * sizeof(*p->children));
	if (!p->parent || !p->name || !p->self || !p->child_start || !p->children ||
		pm_strtab_add(&p->names, pm_bytes_of("")) == PM_NONE)
		return -ENOMEM;
	p->parent[0] = PM_NONE;
	p->name[0] = 0;
	p->self[0] = 0;
	p->n = 1;
	return 0;
}

int pmfs_name_paths_make(const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name), struct pmfs_name_paths *ret,
	struct pm_error *err)
{
	struct merging m = {.stacks = s, .paths = ret, .clean = clean};
	int r = name_paths_begin(ret, (size_t)(s->end - s->first) + 1);
	if (r == 0)
		r = merge(&m);
	free(m.name_of);
	free(m.name_of_text);
	free(m.node_of);
	pm_map_done(&m.nodes);
	pm_text_done(&m.raw);
	pm_text_done(&m.cleaned);
	if (r < 0) {
		pmfs_name_paths_done(ret);
		return pmfs_no_memory(err);
	}
	name_paths_end(ret);
	return 0;
}

void pmfs_name_paths_done(struct pmfs_name_paths *p)
{
	free(p->parent);
	free(p->name);
	free(p->self);
	free(p->child_start);
	free(p->children);
	pm_strtab_done(&p->names);
	pm_arena_done(&p->arena);
	*p = (struct pmfs_name_paths){.n = 0};
}

/* ---- call paths around a function ---- */

struct around {
	const struct pmfs_name_paths *all;
	struct pmfs_name_paths *to;
	struct pm_map nodes; /* parent << 32 | name of `all` → node of `to` */
};

/* The same for a name of `all`. */
static uint32_t copy_child(struct around *m, uint32_t parent, uint32_t name)
{
	struct pmfs_name_paths *to = m->to;
	uint32_t n = to->n, node = child_of(to, &m->nodes, parent, name);
	if (node == n)
		to->name[n] = pm_strtab_add_lasting(&to->names, m->all->names.items[name]);
	return node == n && to->name[n] == PM_NONE ? PM_NONE : node;
}

static int begin(struct around *m, uint32_t name)
{
	if (name_paths_begin(m->to, (size_t)m->all->n + 1) < 0)
		return -ENOMEM;
	m->to->name[0] = pm_strtab_add(&m->to->names, m->all->names.items[name]);
	return m->to->name[0] == PM_NONE ? -ENOMEM : 0;
}

static int end(struct around *m, int r)
{
	pm_map_done(&m->nodes);
	if (r < 0)
		pmfs_name_paths_done(m->to);
	else
		name_paths_end(m->to);
	return r;
}

/* Parents come before children, so the node of a caller is known. */
static int merge_callees(struct around *m, uint32_t name, uint32_t *node_of)
{
	const struct pmfs_name_paths *all = m->all;
	node_of[0] = PM_NONE;
	for (uint32_t i = 1; i < all->n; i++) {
		uint32_t parent = node_of[all->parent[i]];
		node_of[i] = all->name[i] == name ? 0 : PM_NONE;
		if (parent != PM_NONE &&
			(node_of[i] = copy_child(m, parent, all->name[i])) == PM_NONE)
			return -ENOMEM;
		if (node_of[i] != PM_NONE)
			m->to->self[node_of[i]] += all->self[i];
	}
	return 0;
}

int pmfs_callee_paths(const struct pmfs_name_paths *all, uint32_t name, struct pmfs_name_paths *ret)
{
	struct around m = {.all = all, .to = ret};
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
static int merge_callers(struct around *m, uint32_t levels, struct way *ways, uint32_t n)
{
	for (bool moved = true; moved && levels > 0; levels--) {
		moved = false;
		for (uint32_t i = 0; i < n && m->to->n < m->all->n; i++) {
			uint32_t caller = m->all->parent[ways[i].at];
			if (caller == 0)
				continue;
			uint32_t node = copy_child(m, ways[i].node, m->all->name[caller]);
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
	struct around m = {.all = all, .to = ret};
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
