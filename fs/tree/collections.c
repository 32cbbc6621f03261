/*
 * Collections of a format (chunks, traces, classes): items by name. The folder that holds them is
 * one of documents.c, an item's directory is in items.c.
 */
#include "fs/tree/internal.h"

#include "profmount/limits.h"

static uint32_t item_in_order(void *context, uint32_t k)
{
	(void)context;
	return k;
}

static struct pm_bytes item_raw(void *context, uint32_t item, struct pm_text *scratch)
{
	const struct pm_collection *c = context;
	return c->name(c, item, scratch);
}

int pmfs_item_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	*ret = c->n;
	return c->count ? c->count(c, ret, err) : 0;
}

int pmfs_item_check(const struct pm_collection *c, uint32_t item, struct pm_error *err)
{
	uint32_t n = 0;
	int r = c->has ? c->has(c, item, err) : pmfs_item_count(c, &n, err);
	bool is_there = c->has ? r > 0 : item < n;
	return r < 0 ? r : is_there ? 0 : pmfs_no_entry();
}

static int naming_of(const struct pm_collection *c, struct pmfs_naming *ret, struct pm_error *err)
{
	uint32_t n;
	int r = pmfs_item_count(c, &n, err);
	*ret = (struct pmfs_naming){
		.n = n, .item = item_in_order, .raw = item_raw, .context = (void *)(uintptr_t)c};
	return r;
}

static int siblings_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	struct pmfs_naming naming;
	struct pmfs_siblings *s;
	int r = naming_of(context, &naming, err);
	if (r == 0)
		r = pmfs_siblings_build(&naming, &s, err);
	if (r == 0)
		*ret = &s->cached;
	return r;
}

/* How the items are named, and their index, which the caller releases. */
static int siblings_get(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c,
	struct pmfs_naming *ret_naming, struct pmfs_siblings **ret, struct pm_error *err)
{
	struct pm_cached *cached;
	uint64_t key;
	*ret = NULL;
	int r = naming_of(c, ret_naming, err);
	if (r == 0)
		r = pmfs_tree_key(t, dir, &key, err);
	if (r == 0)
		r = pm_cache_get(t->cache, key, siblings_build, (void *)(uintptr_t)c, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_siblings *)cached;
	return r;
}

bool pmfs_item_is_directory(const struct pm_collection *c, uint32_t item)
{
	return !c->flat && !(c->is_document && c->is_document(c, item));
}

int pmfs_item_entry(struct pmfs_tree *t, uint32_t collection, uint32_t item, struct pmfs_entry *ret)
{
	const struct pm_collection *c = &t->collections[collection];
	struct pm_named_doc doc;
	bool directory = pmfs_item_is_directory(c, item);
	ret->node =
		pmfs_node(directory ? PMFS_ITEM : PMFS_ITEM_DOC, item, pmfs_item_b(collection, 0));
	ret->type = PMFS_DIRECTORY;
	if (directory)
		return 1;
	int r = c->document(c, item, 0, &doc);
	ret->type = r > 0 && doc.doc.kind == PM_DOC_LINK ? PMFS_LINK : PMFS_FILE;
	return r < 0 ? r : 1;
}

/* A number that is not listed may be given to another name until somebody holds its generation. */
static int find_by_name(struct pmfs_tree *t, const struct pm_collection *c, struct pm_bytes name,
	uint32_t *ret, uint32_t *ret_generation)
{
	uint32_t again;
	int r = c->find(c, name, ret);
	if (!c->has_unlisted || !t->unlisted)
		return r;
	while (r > 0 && *ret >= PM_FIRST_UNLISTED) {
		*ret_generation = pmfs_unlisted_generation(t, *ret);
		r = c->find(c, name, &again);
		if (r > 0 && again == *ret)
			break;
		*ret = again;
	}
	return r;
}

int pmfs_item_find(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t item = 0, n, generation = 0;
	int r;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	if (c->find) {
		r = pmfs_item_count(c, &n, err); /* items can be requested only after this */
		if (r < 0)
			return r;
		r = find_by_name(t, c, name, &item, &generation);
	} else {
		struct pmfs_naming naming;
		struct pmfs_siblings *s;
		r = siblings_get(t, dir, c, &naming, &s, err);
		if (r < 0)
			return r;
		r = pmfs_siblings_find(s, &naming, name, &item);
		pm_cache_release(t->cache, &s->cached);
	}
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = c->has_unlisted && item >= PM_FIRST_UNLISTED;
	ret->generation = generation;
	return pmfs_item_entry(t, t->paths.nodes[pmfs_node_a(dir)].index, item, ret);
}

static int item_name(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c, uint32_t item,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct pmfs_naming naming;
	int r;
	if (c->find) {
		struct pm_text scratch = {.p = NULL};
		ret->len = pmfs_name_legal(c->name(c, item, &scratch), ret->name);
		r = pm_text_status(&scratch);
		pm_text_done(&scratch);
		return r < 0 ? pm_error_plain(err, r) : 0;
	}
	struct pmfs_siblings *s;
	r = siblings_get(t, dir, c, &naming, &s, err);
	if (r < 0)
		return r;
	ret->len = pmfs_siblings_name(s, &naming, item, ret->name);
	pm_cache_release(t->cache, &s->cached);
	return ret->len ? 0 : pm_error_plain(err, -ENOMEM);
}

int pmfs_item_get(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c, uint32_t item,
	struct pmfs_entry *ret, struct pm_error *err)
{
	int r = item_name(t, dir, c, item, ret, err);
	return r < 0 ? r : pmfs_item_entry(t, t->paths.nodes[pmfs_node_a(dir)].index, item, ret);
}
