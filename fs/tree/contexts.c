/*
 * contexts/ and by-id/: a directory for each calling context, with its children, its documents,
 * and its values as files.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "formats/common/number.h"
#include "formats/common/sort.h"
#include "fs/views/model/views.h"

/* ---- children, as entries of contexts/ and of the directories below it ---- */

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

/* As in struct pmfs_dir, for contexts/ and the directories of contexts. */
static int children_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
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

/* A position is the child's context index + 1; 0 means the first child. */
static int children_next(struct pmfs_tree *t, pm_node dir, uint64_t *position,
	struct pmfs_entry *ret, struct pm_error *err)
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

/*
 * ---- directories ----
 *
 * A directory for each calling context, twice. Documents are the same nodes in both;
 * directories are not, since a directory has one parent.
 */

enum { PART_VIEWS, PART_METRICS, PART_CHILDREN, N_PARTS };

static int get_tree(struct pmfs_tree *t, const struct pm_tree **ret, struct pm_error *err)
{
	return pmfs_model_tree(t->model, ret, err);
}

/* Whether a node's `a` is a context and its other fields are 0. */
static int context_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	return pmfs_place_check(t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), err);
}

/* ---- contexts/ ---- */

const struct pmfs_dir pmfs_dir_contexts = {
	.lookup = children_lookup,
	.next = children_next,
};

/* ---- a context's directory ---- */

static int metrics_entry(struct pmfs_entry *ret, pm_node dir)
{
	enum pmfs_node_kind kind =
		pmfs_node_kind_of(dir) == PMFS_CONTEXT ? PMFS_CONTEXT_METRICS : PMFS_BY_ID_METRICS;
	return pmfs_entry_fill(
		ret, pm_bytes_of("metrics"), pmfs_node(kind, pmfs_node_a(dir), 0), PMFS_DIRECTORY);
}

static int documents_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	if (pm_bytes_equal(name, pm_bytes_of("metrics")))
		return metrics_entry(ret, dir);
	return pmfs_place_lookup(t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), name, ret, err);
}

static int context_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	int r = documents_lookup(t, dir, name, ret, err);
	return r != -ENOENT ? r : children_lookup(t, dir, name, ret, err);
}

/* Lists the first `n_parts` parts. */
static int parts_next(struct pmfs_tree *t, pm_node dir, unsigned n_parts, uint64_t *cookie,
	struct pmfs_entry *ret, struct pm_error *err)
{
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	int r = 0;
	for (; part < n_parts; part++, position = 0) {
		if (part == PART_VIEWS)
			r = pmfs_place_next(
				t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), &position, ret, err);
		else if (part == PART_METRICS)
			r = position++ == 0 ? metrics_entry(ret, dir) : 0;
		else
			r = children_next(t, dir, &position, ret, err);
		if (r != 0)
			break;
	}
	if (r > 0)
		*cookie = pmfs_cookie(part, position);
	return r;
}

static int context_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	return parts_next(t, dir, N_PARTS, cookie, ret, err);
}

static int context_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	uint32_t parent = tree->parent[pmfs_node_a(dir)];
	*ret = parent == PM_NONE ? pmfs_node(PMFS_CONTEXTS, 0, 0)
				 : pmfs_node(PMFS_CONTEXT, parent, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_context = {
	.check = context_check,
	.lookup = context_lookup,
	.next = context_next,
	.parent = context_parent,
};

/* ---- by-id/ ---- */

static int by_id_entry(struct pmfs_entry *ret, uint32_t number, uint32_t context)
{
	ret->len = pm_u64_format(number, ret->name);
	ret->node = pmfs_node(PMFS_BY_ID_CONTEXT, context, 0);
	ret->type = PMFS_DIRECTORY;
	return 1;
}

static int by_id_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	uint64_t number = 0;
	(void)dir;
	if (name.len == 0 || name.len > 10 || (name.p[0] == '0' && name.len > 1))
		return pmfs_no_entry();
	for (size_t i = 0; i < name.len; i++) {
		if (name.p[i] < '0' || name.p[i] > '9')
			return pmfs_no_entry();
		number = number * 10 + (name.p[i] - '0');
	}
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	uint32_t context = pm_tree_find(tree, number);
	if (context == PM_NONE)
		return pmfs_no_entry();
	return by_id_entry(ret, (uint32_t)number, context);
}

static int by_id_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pm_tree *tree;
	(void)dir;
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	while (*cookie < tree->n_contexts) {
		uint32_t context = (uint32_t)(*cookie)++;
		uint32_t number = pm_tree_number(tree, context);
		/* If several contexts have the same number, the one found by the tree is listed. */
		if (pm_tree_find(tree, number) == context)
			return by_id_entry(ret, number, context);
	}
	return 0;
}

const struct pmfs_dir pmfs_dir_by_id = {
	.lookup = by_id_lookup,
	.next = by_id_next,
};

static int by_id_context_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie,
	struct pmfs_entry *ret, struct pm_error *err)
{
	return parts_next(t, dir, PART_CHILDREN, cookie, ret, err);
}

static int by_id_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)dir;
	(void)err;
	*ret = pmfs_node(PMFS_BY_ID, 0, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_by_id_context = {
	.check = context_check,
	.lookup = documents_lookup,
	.next = by_id_context_next,
	.parent = by_id_parent,
};

/* ---- metrics/ of a context: a file for each value that exists ---- */

static int value_entry(struct pmfs_entry *ret, const struct pmfs_columns *columns, uint32_t context,
	uint32_t column)
{
	return pmfs_entry_fill(ret, pm_bytes_of(columns->columns[column].name),
		pmfs_node(PMFS_CONTEXT_VALUE, context, column), PMFS_FILE);
}

static int metrics_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct pmfs_presence present;
	int r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0 || *cookie >= columns->n_shown)
		return r;
	r = pmfs_presence_get(t, pmfs_node_a(dir), columns, &present, err);
	for (uint32_t i = (uint32_t)*cookie; r == 0 && i < columns->n_shown; i++) {
		if (!pmfs_presence_has(&present, i))
			continue;
		*cookie = (uint64_t)i + 1;
		r = value_entry(ret, columns, pmfs_node_a(dir), i);
	}
	return r;
}

/* Reads only the value with this name. */
static int metrics_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct pmfs_presence present;
	uint32_t context = pmfs_node_a(dir);
	int r = pmfs_model_columns(t->model, &columns, err);
	for (uint32_t i = 0; r == 0 && i < columns->n_shown; i++) {
		value_entry(ret, columns, context, i);
		if (ret->len != name.len || memcmp(ret->name, name.p, name.len) != 0)
			continue;
		r = pmfs_presence_get(t, context, columns, &present, err);
		if (r == 0)
			r = pmfs_presence_has(&present, i);
	}
	return r == 0 ? pmfs_no_entry() : r;
}

static int metrics_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)err;
	*ret = pmfs_node(
		pmfs_node_kind_of(dir) == PMFS_CONTEXT_METRICS ? PMFS_CONTEXT : PMFS_BY_ID_CONTEXT,
		pmfs_node_a(dir), 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_context_metrics = {
	.check = context_check,
	.lookup = metrics_lookup,
	.next = metrics_next,
	.parent = metrics_parent,
};

int pmfs_context_value_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	int r = pmfs_place_check(t, PMFS_PLACE_CONTEXT, pmfs_node_a(node), err);
	if (r == 0)
		r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0)
		return r;
	if (pmfs_node_b(node) >= columns->n_shown)
		return pmfs_no_entry();
	return pmfs_value_document(t->model, pmfs_node_a(node), pmfs_node_b(node), ret);
}
