/* An opened source with everything needed to present it: profile, model, tree and engine. */
#ifndef PROFMOUNT_FS_INSTANCE_H
#define PROFMOUNT_FS_INSTANCE_H

#include "fs/document/engine.h"
#include "fs/filters/filter.h"
#include "fs/tree/tree.h"
#include "profmount/format.h"

struct pmfs_instance {
	struct pm_profile *profile;
	struct pmfs_model *model;
	struct pm_cache *cache;
	struct pmfs_engine *engine;
	struct pmfs_tree *tree;
};

/* Default limit of the cache (-o cache=). */
#define PMFS_CACHE_DEFAULT ((uint64_t)256 << 20)

/*
 * Opens `path` with the named format (NULL: the most likely one). On failure nothing is left open.
 * Close with pmfs_instance_close, which accepts a zeroed one.
 */
int pmfs_instance_open(struct pmfs_instance *ret, const char *path, const char *format,
	uint64_t cache_bytes, const struct pm_open_options *options, struct pm_error *err);

/*
 * The same with an open profile: takes ownership of `profile` and `cache`, and frees them on
 * failure, too. `metric`: the primary quantity of the profiles in it, or NULL.
 */
int pmfs_instance_of(struct pmfs_instance *ret, struct pm_profile *profile, struct pm_cache *cache,
	enum pm_shape shape, const char *metric, struct pm_error *err);

/* Filters an instance that was opened just now; on failure nothing is left open. */
int pmfs_instance_filter(struct pmfs_instance *i, const struct pmfs_filter_what *whats, unsigned n,
	struct pm_error *err);

void pmfs_instance_close(struct pmfs_instance *i);

#endif
