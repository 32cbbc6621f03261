/*
 * Merging frames by name. Contexts come in pre-order, so a frame's caller has its node before
 * it; a node is found by its parent and its name in one hash table.
 */
#include "fs/views/sums/namepaths.h"

#include "fs/views/model/parts.h"

struct merging {
	struct pm_arena *scratch;
	const struct pmfs_stacks *stacks;
	struct pmfs_name_paths *paths;
	void (*clean)(struct pm_text *out, struct pm_bytes name);
	uint32_t *name_of;      /* frame of the tree → name, or PM_NONE while unknown */
	uint32_t *name_of_text; /* text of the tree → name, or PM_NONE as above */
	uint32_t *node_of;      /* context → node; of frames */
	struct pm_map nodes;    /* parent << 32 | name → node */
	struct pm_text raw, cleaned;
};

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
	*known = pm_strtab_add(&m->paths->names, pm_text_view(&m->cleaned));
	return m->name_of[frame] = *known;
}

/* The node of that name below `parent`, a new one without a cost or known. */
static uint32_t child_of(
	struct pmfs_name_paths *p, struct pm_map *nodes, uint32_t parent, uint32_t name)
{
	bool is_new;
	uint32_t node = *pm_map_put(nodes, (uint64_t)parent << 32 | name, p->n, &is_new);
	if (!is_new)
		return node;
	p->parent[p->n] = parent;
	p->name[p->n] = name;
	p->self[p->n] = 0;
	return p->n++;
}

static void merge(struct merging *m)
{
	const struct pmfs_stacks *s = m->stacks;
	const struct pm_tree *tree = s->tree;
	m->name_of = pm_arena_array(m->scratch, tree->n_frames + 1u, sizeof(*m->name_of));
	m->name_of_text = pm_arena_array(m->scratch, tree->n_texts + 1u, sizeof(*m->name_of_text));
	m->node_of =
		pm_arena_array(m->scratch, (size_t)(s->end - s->first) + 1, sizeof(*m->node_of));
	for (uint32_t i = 0; i < tree->n_texts; i++)
		m->name_of_text[i] = PM_NONE;
	for (uint32_t i = 0; i < tree->n_frames; i++)
		m->name_of[i] = PM_NONE;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		uint32_t caller = pmfs_stacks_caller(s, i);
		uint32_t parent = caller == PM_NONE ? 0 : m->node_of[caller - s->first];
		uint32_t node = child_of(m->paths, &m->nodes, parent, name_of(m, tree->frame[i]));
		m->paths->self[node] += s->self[i - s->first];
		m->node_of[i - s->first] = node;
	}
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
 * Then add nodes, parents first, and finally list their children. In a build of p->arena.
 */
static void name_paths_begin(struct pmfs_name_paths *p, struct pm_bytes root, size_t room)
{
	struct pm_arena *a = &p->arena;
	p->names = pm_strtab_in(a);
	p->parent = pm_arena_array(a, room, sizeof(*p->parent));
	p->name = pm_arena_array(a, room, sizeof(*p->name));
	p->self = pm_arena_array(a, room, sizeof(*p->self));
	p->child_start = pm_arena_array(a, room + 2, sizeof(*p->child_start));
	p->children = pm_arena_array(a, room, sizeof(*p->children));
	pm_strtab_add(&p->names, pm_bytes_of(""));
	p->parent[0] = PM_NONE;
	p->name[0] = pm_strtab_add(&p->names, root);
	p->n = 1;
}

static int name_paths_build(struct pmfs_name_paths *p, void (*build)(void *context), void *context)
{
	*p = (struct pmfs_name_paths){.n = 0};
	int r = pm_build(&p->arena, build, context);
	if (r < 0)
		pmfs_name_paths_done(p);
	return r;
}

static void make(void *context)
{
	struct merging *m = context;
	struct pm_arena *scratch = pm_arena_scratch(&m->paths->arena);
	m->scratch = m->nodes.arena = m->raw.arena = m->cleaned.arena = scratch;
	name_paths_begin(
		m->paths, pm_bytes_of(""), (size_t)(m->stacks->end - m->stacks->first) + 1);
	merge(m);
	name_paths_end(m->paths);
	pm_arena_done(scratch);
}

int pmfs_name_paths_make(const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name), struct pmfs_name_paths *ret,
	struct pm_error *err)
{
	struct merging m = {.stacks = s, .paths = ret, .clean = clean};
	int r = name_paths_build(ret, make, &m);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

void pmfs_name_paths_done(struct pmfs_name_paths *p)
{
	pm_arena_done(&p->arena);
	*p = (struct pmfs_name_paths){.n = 0};
}

/* ---- call paths around a function ---- */

struct around {
	struct pm_arena *scratch;
	const struct pmfs_name_paths *all;
	struct pmfs_name_paths *to;
	uint32_t name, levels;
	const double *total;
	struct pm_map nodes; /* parent << 32 | name of `all` → node of `to` */
};

/* The same for a name of `all`. */
static uint32_t copy_child(struct around *m, uint32_t parent, uint32_t name)
{
	struct pmfs_name_paths *to = m->to;
	uint32_t n = to->n, node = child_of(to, &m->nodes, parent, name);
	if (node == n)
		to->name[n] = pm_strtab_add_lasting(&to->names, m->all->names.items[name]);
	return node;
}

static void begin(struct around *m)
{
	m->scratch = m->nodes.arena = pm_arena_scratch(&m->to->arena);
	name_paths_begin(m->to, m->all->names.items[m->name], (size_t)m->all->n + 1);
}

static void end(struct around *m)
{
	name_paths_end(m->to);
	pm_arena_done(m->scratch);
}

/* Parents come before children, so the node of a caller is known. */
static void merge_callees(void *context)
{
	struct around *m = context;
	const struct pmfs_name_paths *all = m->all;
	begin(m);
	uint32_t *node_of = pm_arena_array(m->scratch, all->n, sizeof(*node_of));
	node_of[0] = PM_NONE;
	for (uint32_t i = 1; i < all->n; i++) {
		uint32_t parent = node_of[all->parent[i]];
		node_of[i] = parent != PM_NONE    ? copy_child(m, parent, all->name[i])
			: all->name[i] == m->name ? 0
						  : PM_NONE;
		if (node_of[i] != PM_NONE)
			m->to->self[node_of[i]] += all->self[i];
	}
	end(m);
}

int pmfs_callee_paths(const struct pmfs_name_paths *all, uint32_t name, struct pmfs_name_paths *ret)
{
	struct around m = {.all = all, .to = ret, .name = name};
	return name_paths_build(ret, merge_callees, &m);
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
static void merge_callers(void *context)
{
	struct around *m = context;
	const struct pmfs_name_paths *all = m->all;
	begin(m);
	bool *inside = pm_arena_array(m->scratch, all->n, sizeof(*inside)), moved = true;
	struct way *ways = pm_arena_array(m->scratch, all->n, sizeof(*ways));
	uint32_t n = find_outermost(all, m->name, inside, ways);
	for (uint32_t levels = m->levels; moved && levels > 0; levels--) {
		moved = false;
		for (uint32_t i = 0; i < n && m->to->n < all->n; i++) {
			uint32_t caller = all->parent[ways[i].at];
			if (caller == 0)
				continue;
			ways[i].node = copy_child(m, ways[i].node, all->name[caller]);
			ways[i].at = caller;
			moved = true;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		m->to->self[ways[i].node] += m->total[ways[i].call];
	end(m);
}

int pmfs_caller_paths(const struct pmfs_name_paths *all, uint32_t name, const double *total,
	uint32_t levels, struct pmfs_name_paths *ret)
{
	struct around m = {.all = all, .to = ret, .name = name, .levels = levels, .total = total};
	return name_paths_build(ret, merge_callers, &m);
}
