#include "fs/instance.h"

#include "fs/views/model/parts.h"

static int no_memory(struct pmfs_instance *i, const char *path, struct pm_error *err)
{
	pmfs_instance_close(i);
	return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
}

static void purge(void *engine, bool (*belongs)(void *what, uint64_t key, bool in_use), void *what)
{
	pmfs_engine_purge(engine, belongs, what);
}

int pmfs_instance_of(struct pmfs_instance *ret, struct pm_profile *profile, struct pm_cache *cache,
	enum pm_shape shape, const char *metric, struct pm_error *err)
{
	*ret = (struct pmfs_instance){.profile = profile, .cache = cache};
	if (!cache)
		return no_memory(ret, NULL, err);
	ret->model = pmfs_filter_model_new(ret->profile);
	if (ret->model) {
		if (metric)
			pmfs_model_set_wish(ret->model, metric);
		ret->engine = pmfs_engine_new(ret->profile, ret->cache);
		ret->tree = pmfs_tree_new(ret->model, ret->cache, shape);
	}
	if (!ret->engine || !ret->tree)
		return no_memory(ret, NULL, err);
	pmfs_tree_set_purge(ret->tree, purge, ret->engine);
	return 0;
}

int pmfs_instance_open(struct pmfs_instance *ret, const char *path, const char *format,
	uint64_t cache_bytes, const struct pm_open_options *options, struct pm_error *err)
{
	struct pm_open_options with = options ? *options : (struct pm_open_options){.cache = NULL};
	*ret = (struct pmfs_instance){.cache = pm_cache_new(cache_bytes)};
	if (!ret->cache)
		return no_memory(ret, path, err);
	with.cache = ret->cache;
	int r = pm_profile_open(path, format, &with, &ret->profile, err);
	if (r < 0) {
		pmfs_instance_close(ret);
		return r;
	}
	return pmfs_instance_of(ret, ret->profile, ret->cache, PM_SHAPE_RUN, NULL, err);
}

static void close_opened(struct pm_profile *p)
{
	pm_profile_close(p);
}

int pmfs_instance_filter(struct pmfs_instance *i, const struct pmfs_filter_what *whats, unsigned n,
	struct pm_error *err)
{
	struct pm_profile *filtered;
	struct pm_cache *cache = i->cache;
	pmfs_tree_free(i->tree);
	pmfs_engine_free(i->engine);
	pmfs_model_free(i->model);
	int r = pmfs_filter_all(i->profile, close_opened, whats, n, &filtered, err);
	*i = (struct pmfs_instance){.profile = NULL};
	if (r == 0)
		return pmfs_instance_of(i, filtered, cache, PM_SHAPE_RUN, NULL, err);
	pm_cache_free(cache);
	return r;
}

void pmfs_instance_close(struct pmfs_instance *i)
{
	pmfs_tree_free(i->tree);
	pmfs_engine_free(i->engine);
	pm_cache_free(i->cache);
	pmfs_model_free(i->model);
	if (i->profile && i->profile->ops->close)
		i->profile->ops->close(i->profile);
	else
		pm_profile_close(i->profile);
	*i = (struct pmfs_instance){.profile = NULL};
}
