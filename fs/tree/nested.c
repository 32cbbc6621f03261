/*
 * Items of collections that are profiles. They are opened when somebody asks for what is in them,
 * and kept in the cache while they are used or there is room.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

static void nested_free(struct pm_cached *cached)
{
	struct pmfs_nested *n = (struct pmfs_nested *)cached;
	pmfs_model_free(n->model);
	n->profile->ops->close(n->profile);
	free(n);
}

struct build {
	struct pmfs_tree *t;
	const struct pm_collection *c;
	uint32_t item;
};

static int nested_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct pm_profile *profile;
	int r = b->c->profile(b->c, b->item, &profile, err);
	if (r < 0)
		return r;
	struct pmfs_nested *n = calloc(1, sizeof(*n));
	struct pmfs_model *model = n ? pmfs_model_new(profile) : NULL;
	if (!model) {
		profile->ops->close(profile);
		free(n);
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	}
	pmfs_model_set_outer(model, b->t->model);
	n->cached.free = nested_free;
	n->cached.bytes = sizeof(*n) + profile->ops->memory(profile);
	n->profile = profile;
	n->model = model;
	*ret = &n->cached;
	return 0;
}

static pm_node key_of(uint32_t collection, uint32_t item)
{
	return pmfs_node(PMFS_ITEM, item, pmfs_item_b(collection, 0));
}

int pmfs_nested_get(struct pmfs_tree *t, uint32_t collection, uint32_t item,
	struct pmfs_nested **ret, struct pm_error *err)
{
	struct build b = {.t = t, .c = &t->collections[collection], .item = item};
	struct pm_cached *cached;
	*ret = NULL;
	int r = pm_cache_get(t->cache, key_of(collection, item), nested_build, &b, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_nested *)cached;
	return r;
}

void pmfs_nested_release(struct pmfs_tree *t, struct pmfs_nested *n)
{
	pm_cache_resize(t->cache, &n->cached, sizeof(*n) + n->profile->ops->memory(n->profile));
	pm_cache_release(t->cache, &n->cached);
}

/* It is in use, so it is there. */
void pmfs_nested_leave(struct pmfs_tree *t, uint32_t collection, uint32_t item)
{
	struct pm_cached *cached = pm_cache_peek(t->cache, key_of(collection, item));
	pm_cache_release(t->cache, cached);
	pmfs_nested_release(t, (struct pmfs_nested *)cached);
}
