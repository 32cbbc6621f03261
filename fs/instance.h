/* A source opened for presenting: profile, model, tree and engine in one hand. */
#ifndef PROFMOUNT_FS_INSTANCE_H
#define PROFMOUNT_FS_INSTANCE_H

#include "fs/document/engine.h"
#include "fs/tree/tree.h"
#include "profmount/format.h"

struct pmfs_instance {
	struct pm_profile *profile;
	struct pmfs_model *model;
	struct pm_cache *cache;
	struct pmfs_engine *engine;
	struct pmfs_tree *tree;
};

/* Text that may be kept when nobody says otherwise (-o cache=). */
#define PMFS_CACHE_DEFAULT ((uint64_t)256 << 20)

/*
 * Opens `path` with the format of that name (NULL: the surest). On failure nothing is left open.
 * End with pmfs_instance_close, which accepts a zeroed one.
 */
int pmfs_instance_open(struct pmfs_instance *ret, const char *path, const char *format,
	uint64_t cache_bytes, const struct pm_open_options *options, struct pm_error *err);

/*
 * The same with a profile that is open: `profile` is the instance's, which frees it also on
 * failure, and so is `cache`. `metric`: the primary quantity of the profiles in it, or NULL.
 */
int pmfs_instance_of(struct pmfs_instance *ret, struct pm_profile *profile, struct pm_cache *cache,
	enum pm_shape shape, const char *metric, struct pm_error *err);

void pmfs_instance_close(struct pmfs_instance *i);

#endif
