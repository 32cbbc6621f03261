/*
 * Items of collections that are profiles: opened when their contents are needed, and kept in the
 * cache while they are in use or there is room. Some have a tree of their own, whose nodes have a
 * space (docs/decisions/0007-profiles-in-profiles.md).
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "formats/common/list.h"

/* ---- spaces ---- */

static int space_give(struct pmfs_tree *top, pm_node item, uint32_t *ret)
{
	bool fresh;
	if (top->n_spaces == 0)
		top->n_spaces = 1;
	const uint32_t *known = pm_map_find(&top->spaces_known, item);
	if (known) {
		*ret = *known;
		return 0;
	}
	if (top->n_spaces > PMFS_SPACE_MOST)
		return -EMFILE;
	if (pm_list_room(&top->space_items, top->n_spaces, &top->room_spaces,
		    sizeof(*top->space_items)) < 0)
		return -ENOMEM;
	if (!pm_map_put(&top->spaces_known, item, top->n_spaces, &fresh))
		return -ENOMEM;
	top->space_items[top->n_spaces] = (struct pmfs_space){.item = item};
	*ret = top->n_spaces++;
	return 0;
}

static int space_of(struct pmfs_tree *top, pm_node item, uint32_t *ret, struct pm_error *err)
{
	pthread_mutex_lock(&top->spaces_lock);
	int r = space_give(top, item, ret);
	pthread_mutex_unlock(&top->spaces_lock);
	if (r == -EMFILE)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET,
			"more than %d profiles were entered in this mount", PMFS_SPACE_MOST);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- opening and closing ---- */

/*
 * The size of an open profile for the cache. Models and trees do not report their size; for a small
 * run or comparison of which one table was read, they take 50 kB.
 */
static uint64_t bytes_of(const struct pmfs_nested *n)
{
	enum { TREE = 48 << 10 };
	return sizeof(*n) + n->profile->ops->memory(n->profile) + (n->tree ? TREE : 0);
}

/* A profile is closed after the profiles in its collections. */
static void nested_drop(struct pmfs_nested *n)
{
	while (n && __atomic_sub_fetch(&n->users, 1, __ATOMIC_ACQ_REL) == 0) {
		struct pmfs_nested *above = n->above;
		pmfs_tree_free(n->tree);
		pmfs_model_free(n->model);
		n->profile->ops->close(n->profile);
		free(n);
		n = above;
	}
}

static void nested_free(struct pm_cached *cached)
{
	nested_drop((struct pmfs_nested *)cached);
}

struct build {
	struct pmfs_tree *t;
	const struct pm_collection *c;
	uint32_t item;
	pm_node dir; /* the item's, as seen from outside */
};

/*
 * A profile that is shown as if it were mounted alone has its own colours. Its primary quantity is
 * that of the mount's options, if it has this quantity.
 */
static int model_apart(struct pmfs_nested *n, const char *wish, struct pm_error *err)
{
	int r = wish ? pmfs_model_lead_with(n->model, wish, NULL) : 0;
	if (r == 0)
		return 0;
	if (pm_is_passing(r))
		return pm_error_plain(err, r);
	struct pmfs_listing listing = pmfs_model_listing(n->model);
	const struct pmfs_definitions *definitions = pmfs_model_definitions(n->model);
	pmfs_model_free(n->model);
	n->model = pmfs_filter_model_new(n->profile);
	if (!n->model)
		return pm_error_plain(err, -ENOMEM);
	pmfs_model_set_listing(n->model, listing);
	pmfs_model_set_definitions(n->model, definitions);
	return 0;
}

static int nested_fill(struct pmfs_nested *n, const struct build *b, struct pm_error *err)
{
	const struct pmfs_shape *shape = pmfs_shape_of(b->c->shape);
	uint32_t space = 0;
	n->model = pmfs_filter_model_new(n->profile);
	if (!n->model)
		return pm_error_plain(err, -ENOMEM);
	int r = 0;
	pmfs_model_set_listing(n->model, pmfs_model_listing(b->t->model));
	pmfs_model_set_definitions(n->model, pmfs_model_definitions(b->t->model));
	if (b->t->shape->apart)
		r = model_apart(n, pmfs_model_wish(b->t->model), err);
	else
		pmfs_model_set_outer(n->model, b->t->model);
	if (r < 0)
		return r;
	if (b->t->shape->apart)
		pmfs_model_set_iterations(n->model, pmfs_model_iterations(b->t->model));
	if (!shape->is_tree)
		return 0;
	r = space_of(b->t->top, b->dir, &space, err);
	if (r < 0)
		return r;
	n->tree = pmfs_tree_make(b->t->dirs, n->model, b->t->cache, shape);
	if (!n->tree)
		return pm_error_plain(err, -ENOMEM);
	n->tree->top = b->t->top;
	n->tree->space = space;
	pmfs_contexts_name_entries(n->tree);
	return pmfs_unlisted_open(n->tree) < 0 ? pm_error_plain(err, -ENOMEM) : 0;
}

static int nested_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct pmfs_nested *n = calloc(1, sizeof(*n));
	if (!n)
		return pm_error_plain(err, -ENOMEM);
	int r = b->c->profile(b->c, b->item, &n->profile, err);
	if (r < 0) {
		free(n);
		return r;
	}
	n->users = 1;
	n->item = b->dir;
	r = pm_profile_ready(n->profile, err);
	if (r == 0)
		r = nested_fill(n, b, err);
	if (r < 0) {
		nested_drop(n);
		return r;
	}
	n->above = b->t->nested;
	if (n->above)
		__atomic_add_fetch(&n->above->users, 1, __ATOMIC_RELAXED);
	if (n->tree)
		n->tree->nested = n;
	n->cached.free = nested_free;
	n->cached.bytes = bytes_of(n);
	*ret = &n->cached;
	return 0;
}

static int item_key(struct pmfs_tree *t, uint32_t collection, uint32_t item, uint64_t *ret,
	struct pm_error *err)
{
	return pmfs_tree_key(t, pmfs_node(PMFS_ITEM, item, pmfs_item_b(collection, 0)), ret, err);
}

int pmfs_nested_get(struct pmfs_tree *t, uint32_t collection, uint32_t item,
	struct pmfs_nested **ret, struct pm_error *err)
{
	struct build b = {.t = t, .c = &t->collections[collection], .item = item};
	struct pm_cached *cached;
	*ret = NULL;
	int r = item_key(t, collection, item, &b.dir, err);
	if (r == 0)
		r = pm_cache_get(t->cache, b.dir, nested_build, &b, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_nested *)cached;
	return r;
}

void pmfs_nested_release(struct pmfs_tree *t, struct pmfs_nested *n)
{
	pm_cache_resize(t->cache, &n->cached, bytes_of(n));
	pm_cache_release(t->cache, &n->cached);
}

/* Ends a use of an item. Looking it up in the cache is a second use, so it is released twice. */
static void leave_key(struct pmfs_tree *t, uint64_t key)
{
	struct pm_cached *cached = pm_cache_peek(t->cache, key);
	pm_cache_release(t->cache, cached);
	pmfs_nested_release(t, (struct pmfs_nested *)cached);
}

void pmfs_nested_leave(struct pmfs_tree *t, uint32_t collection, uint32_t item)
{
	uint64_t key;
	if (item_key(t, collection, item, &key, NULL) == 0)
		leave_key(t, key);
}

/* ---- from outside ---- */

void pmfs_nested_leave_space(struct pmfs_tree *top, uint32_t space)
{
	pm_node item = pmfs_space_item(top, space);
	if (item)
		leave_key(top, item);
}

int pmfs_inside_enter(
	struct pmfs_tree *top, pm_node node, struct pmfs_inside *ret, struct pm_error *err)
{
	uint32_t space = pmfs_node_space(node);
	*ret = (struct pmfs_inside){.tree = top, .node = node};
	/* The root is there at once: what is in it may have to be read first. */
	int r = node == PMFS_NODE_ROOT ? 0 : pm_profile_ready(top->profile, err);
	if (r < 0 || space == 0)
		return r;
	struct pmfs_inside around; /* the tree that the item is in */
	pm_node item = pmfs_space_item(top, space);
	r = item ? pmfs_inside_enter(top, item, &around, err) : pmfs_no_entry();
	if (r < 0)
		return r;
	r = around.tree->dirs[PMFS_ITEM]->check(around.tree, around.node, err);
	if (r == 0)
		r = pmfs_nested_get(around.tree, pmfs_node_b(around.node) >> 8,
			pmfs_node_a(around.node), &ret->nested, err);
	pmfs_inside_leave(top, &around);
	if (r < 0)
		return r;
	ret->tree = ret->nested->tree;
	ret->node = pmfs_node_unnest(node);
	return 0;
}

void pmfs_inside_leave(struct pmfs_tree *top, const struct pmfs_inside *in)
{
	if (in->nested)
		pmfs_nested_release(top, in->nested);
}

int pmfs_inside_wrap(const struct pmfs_inside *in, pm_node *node, struct pm_error *err)
{
	if (!in->nested || pmfs_node_space(*node) != 0)
		return 0;
	if (*node == PMFS_NODE_ROOT) {
		*node = in->nested->item;
		return 0;
	}
	return pmfs_tree_key(in->tree, *node, node, err);
}

/* ---- the root of a nested tree: its entries are those of the item's directory ---- */

/* What the root's function gives, as a node of the mount. */
static int leave_item(struct pmfs_tree *t, struct pmfs_nested *n, int r, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_inside in = {.tree = n->tree, .nested = n};
	if (r > 0 && pmfs_inside_wrap(&in, &ret->node, err) < 0)
		r = -EOVERFLOW;
	pmfs_nested_release(t, n);
	return r;
}

int pmfs_nested_lookup(struct pmfs_tree *t, pm_node item, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct pmfs_nested *n;
	int r = pmfs_nested_get(t, pmfs_node_b(item) >> 8, pmfs_node_a(item), &n, err);
	if (r < 0)
		return r;
	r = n->tree->dirs[PMFS_ROOT]->lookup(n->tree, PMFS_NODE_ROOT, name, ret, err);
	return leave_item(t, n, r, ret, err);
}

int pmfs_nested_next(struct pmfs_tree *t, pm_node item, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	struct pmfs_nested *n;
	int r = pmfs_nested_get(t, pmfs_node_b(item) >> 8, pmfs_node_a(item), &n, err);
	if (r < 0)
		return r;
	r = n->tree->dirs[PMFS_ROOT]->next(n->tree, PMFS_NODE_ROOT, cookie, ret, err);
	return leave_item(t, n, r, ret, err);
}
