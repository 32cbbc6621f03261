/*
 * Merging frames by name. Contexts come in pre-order, so a frame's caller has its node before it;
 * a node is found by its parent and its name in one hash table.
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

static int merge_frame(struct merging *m, uint32_t context)
{
	const struct pmfs_stacks *s = m->stacks;
	struct pmfs_name_paths *p = m->paths;
	uint32_t caller = pmfs_stacks_caller(s, context);
	uint32_t parent = caller == PM_NONE ? 0 : m->node_of[caller - s->first];
	uint32_t name = name_of(m, s->tree->frame[context]);
	bool is_new;
	uint32_t *node = name == PM_NONE
		? NULL
		: pm_map_put(&m->nodes, (uint64_t)parent << 32 | name, p->n, &is_new);
	if (!node)
		return -ENOMEM;
	if (is_new) {
		p->parent[p->n] = parent;
		p->name[p->n] = name;
		p->self[p->n++] = 0;
	}
	p->self[*node] += s->self[context - s->first];
	m->node_of[context - s->first] = *node;
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
void pmfs_name_paths_end(struct pmfs_name_paths *p)
{
	for (uint32_t i = 1; i < p->n; i++)
		p->child_start[(size_t)p->parent[i] + 2]++;
	for (size_t i = 2; i <= p->n; i++)
		p->child_start[i] += p->child_start[i - 1];
	for (uint32_t i = 1; i < p->n; i++)
		p->children[p->child_start[p->parent[i] + 1]++] = i;
}

int pmfs_name_paths_begin(struct pmfs_name_paths *p, size_t room)
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
	int r = pmfs_name_paths_begin(ret, (size_t)(s->end - s->first) + 1);
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
	pmfs_name_paths_end(ret);
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
