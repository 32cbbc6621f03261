/*
 * A cache of built things with a limit in bytes: rendered texts, layouts of tables, indexes of
 * directories. What is in use is never freed; the least recently used goes first. Each thing is
 * built once, by whoever asks first, while others who want the same wait and the rest goes on.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_CACHE_H
#define PROFMOUNT_FS_DOCUMENT_CACHE_H

#include "profmount/error.h"

struct pmfs_cache;

/* What is cached: embed it as the first member. */
struct pmfs_cached {
	uint64_t bytes; /* counted against the limit; set by build */
	void (*free)(struct pmfs_cached *c);
	struct pmfs_slot *slot; /* the cache's */
};

/* NULL without memory. */
struct pmfs_cache *pmfs_cache_new(uint64_t limit_bytes);

/* Nothing may be in use. Accepts NULL. */
void pmfs_cache_free(struct pmfs_cache *cache);

/*
 * The thing of that key, built by build(context) where it is not there: build returns 0 and fills
 * `*ret`, or a negative errno that goes to everyone who waits (failures are not kept). Give the
 * result back with pmfs_cache_release.
 */
int pmfs_cache_get(struct pmfs_cache *cache, uint64_t key,
	int (*build)(void *context, struct pmfs_cached **ret, struct pm_error *err), void *context,
	struct pmfs_cached **ret, struct pm_error *err);

/* The thing of that key if it is there and built, else NULL. Release it. */
struct pmfs_cached *pmfs_cache_peek(struct pmfs_cache *cache, uint64_t key);

void pmfs_cache_release(struct pmfs_cache *cache, struct pmfs_cached *c);

/* Bytes held now, for tests and the log. */
uint64_t pmfs_cache_bytes(struct pmfs_cache *cache);

#endif
