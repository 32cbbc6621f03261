#include "fs/instance.h"

int pmfs_instance_open(struct pmfs_instance *ret, const char *path, const char *format,
	uint64_t cache_bytes, const struct pm_open_options *options, struct pm_error *err)
{
	struct pm_open_options with = options ? *options : (struct pm_open_options){.cache = NULL};
	*ret = (struct pmfs_instance){.cache = pm_cache_new(cache_bytes)};
	if (!ret->cache)
		return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
	with.cache = ret->cache;
	int r = pm_profile_open(path, format, &with, &ret->profile, err);
	if (r < 0) {
		pmfs_instance_close(ret);
		return r;
	}
	ret->model = pmfs_model_new(ret->profile);
	if (ret->model) {
		ret->engine = pmfs_engine_new(ret->profile, ret->cache);
		ret->tree = pmfs_tree_new(ret->model, ret->cache);
	}
	if (ret->engine && ret->tree)
		return 0;
	pmfs_instance_close(ret);
	return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
}

void pmfs_instance_close(struct pmfs_instance *i)
{
	pmfs_tree_free(i->tree);
	pmfs_engine_free(i->engine);
	pm_cache_free(i->cache);
	pmfs_model_free(i->model);
	pm_profile_close(i->profile);
	*i = (struct pmfs_instance){.profile = NULL};
}
