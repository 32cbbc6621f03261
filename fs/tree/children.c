/* The children of calling contexts: entries of contexts/ and of the directories below it. */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "formats/common/sort.h"

/* The children of a directory's context (of the top for contexts/) in database order. */
struct children {
	const struct pm_tree *tree;
	uint32_t *items;
	uint32_t n;
};

static uint32_t parent_of_children(pm_node dir)
{
	return pmfs_node_kind_of(dir) == PMFS_CONTEXTS ? PM_NONE : pmfs_node_a(dir);
}

static uint32_t first_child(uint32_t parent)
{
	return parent == PM_NONE ? 0 : parent + 1;
}

static uint32_t children_end(const struct pm_tree *tree, uint32_t parent)
{
	return parent == PM_NONE ? tree->n_contexts : tree->end[parent];
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct pm_tree *tree = context;
	uint32_t x = tree->rank[*(const uint32_t *)a], y = tree->rank[*(const uint32_t *)b];
	return (x > y) - (x < y);
}

static uint32_t child_item(void *context, uint32_t k)
{
	return ((const struct children *)context)->items[k];
}

static struct pm_bytes child_raw(void *context, uint32_t item, struct pm_text *scratch)
{
	const struct pm_tree *tree = ((const struct children *)context)->tree;
	return pmfs_frame_name(tree, pm_tree_frame(tree, item), scratch);
}

static struct pmfs_naming naming_of(struct children *c)
{
	return (struct pmfs_naming){.n = c->n, .item = child_item, .raw = child_raw, .context = c};
}

struct build {
	const struct pmfs_tree *t;
	const struct pm_tree *tree;
	pm_node dir;
};

static int siblings_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct children c = {.tree = b->tree};
	uint32_t parent = parent_of_children(b->dir), end = children_end(b->tree, parent);
	struct pmfs_siblings *s;
	for (uint32_t i = first_child(parent); i < end; i = b->tree->end[i])
		c.n++;
	c.items = malloc((c.n + 1) * sizeof(*c.items));
	if (!c.items)
		return pm_error_plain(err, -ENOMEM);
	c.n = 0;
	for (uint32_t i = first_child(parent); i < end; i = b->tree->end[i])
		c.items[c.n++] = i;
	struct pmfs_naming naming = naming_of(&c);
	if (parent != PM_NONE)
		naming.reserved = b->t->context_reserved;
	int r = pm_sort_with(c.items, c.n, sizeof(*c.items), by_rank, (void *)(uintptr_t)b->tree);
	r = r < 0 ? pm_error_plain(err, r) : pmfs_siblings_build(&naming, &s, err);
	free(c.items);
	if (r == 0)
		*ret = &s->cached;
	return r;
}

static int siblings_get(struct pmfs_tree *t, const struct pm_tree *tree, pm_node dir,
	struct pmfs_siblings **ret, struct pm_error *err)
{
	struct build b = {.t = t, .tree = tree, .dir = dir};
	struct pm_cached *cached;
	uint64_t key;
	*ret = NULL;
	int r = pmfs_tree_key(t, dir, &key, err);
	if (r == 0)
		r = pm_cache_get(t->cache, key, siblings_build, &b, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_siblings *)cached;
	return r;
}

/* ---- entries ---- */

static int child_entry(struct pmfs_entry *ret, uint32_t context)
{
	ret->node = pmfs_node(PMFS_CONTEXT, context, 0);
	ret->type = PMFS_DIRECTORY;
	return 1;
}

int pmfs_children_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct children c = {.items = NULL};
	struct pmfs_siblings *s;
	uint32_t item;
	int r = pmfs_model_tree(t->model, &c.tree, err);
	if (r == 0)
		r = siblings_get(t, c.tree, dir, &s, err);
	if (r < 0)
		return r;
	struct pmfs_naming naming = naming_of(&c);
	r = name.len < PMFS_NAME_SIZE ? pmfs_siblings_find(s, &naming, name, &item) : 0;
	pm_cache_release(t->cache, &s->cached);
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	return child_entry(ret, item);
}

int pmfs_children_next(struct pmfs_tree *t, pm_node dir, uint64_t *position, struct pmfs_entry *ret,
	struct pm_error *err)
{
	struct children c = {.items = NULL};
	struct pmfs_siblings *s;
	int r = pmfs_model_tree(t->model, &c.tree, err);
	if (r < 0)
		return r;
	uint32_t parent = parent_of_children(dir);
	uint64_t child = *position ? *position - 1 : first_child(parent);
	if (child >= children_end(c.tree, parent) || c.tree->parent[child] != parent)
		return 0;
	r = siblings_get(t, c.tree, dir, &s, err);
	if (r < 0)
		return r;
	struct pmfs_naming naming = naming_of(&c);
	ret->len = pmfs_siblings_name(s, &naming, (uint32_t)child, ret->name);
	pm_cache_release(t->cache, &s->cached);
	if (ret->len == 0)
		return pm_error_plain(err, -ENOMEM);
	*position = (uint64_t)c.tree->end[child] + 1;
	return child_entry(ret, (uint32_t)child);
}

/* ---- names of children, for tables ---- */

static int entries_take(void *self, uint32_t parent, void **ret, struct pm_error *err)
{
	struct pmfs_tree *t = self;
	const struct pm_tree *tree;
	struct pmfs_siblings *s;
	int r = pmfs_model_tree(t->model, &tree, err);
	if (r == 0)
		r = siblings_get(t, tree, pmfs_node(PMFS_CONTEXT, parent, 0), &s, err);
	if (r == 0)
		*ret = s;
	return r;
}

static int entries_name(
	void *taken, const struct pm_tree *tree, uint32_t child, struct pm_text *out)
{
	struct children c = {.tree = tree};
	struct pmfs_naming naming = naming_of(&c);
	char name[PMFS_NAME_SIZE];
	size_t len = pmfs_siblings_name(taken, &naming, child, name);
	pm_text_add(out, name, len);
	return len > 0 && !out->failed ? 0 : -ENOMEM;
}

static void entries_release(void *self, void *taken)
{
	struct pmfs_tree *t = self;
	pm_cache_release(t->cache, &((struct pmfs_siblings *)taken)->cached);
}

void pmfs_contexts_name_entries(struct pmfs_tree *t)
{
	struct pmfs_entries entries = {entries_take, entries_name, entries_release, t};
	pmfs_model_set_entries(t->model, &entries);
}
