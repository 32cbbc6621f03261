/*
 * The cache of built objects, with a limit in bytes: rendered texts, layouts of tables, directory
 * indexes, data decoded by formats. Objects in use, and texts that are being read, are not freed;
 * otherwise the least recently used object is freed first. Each object is built once, by the first
 * thread that needs it; other threads that need the same object wait.
 */
#ifndef PROFMOUNT_CACHE_H
#define PROFMOUNT_CACHE_H

#include <stdbool.h>

#include "profmount/error.h"

struct pm_cache;

/* A cached object: embed it as the first member. */
struct pm_cached {
	uint64_t
		bytes; /* counted against the limit, without the overhead of malloc and the cache */
	void (*free)(struct pm_cached *c); /* must not use the cache */
	/* Used by the cache: */
	struct pm_slot *slot;
	uint64_t kept_until_ns; /* see pm_cache_keep */
};

/*
 * The users of a cache have keys with different highest bytes: keys of the format have bit 62 set
 * and bit 63 clear; all others are nodes of fs/tree/tree.h.
 */
enum { PM_CACHE_FORMAT = 0x40 };

/* NULL if out of memory. */
struct pm_cache *pm_cache_new(uint64_t limit_bytes);

/*
 * Keeps the `n` most recently used objects even beyond the limit, if they take at most `bytes`
 * together, and the most recent one whatever its size. For objects that are read in many short
 * steps, `n` at a time: otherwise an object larger than the limit would be built again for each
 * step. Call this before the cache is used. The default is to keep none.
 */
void pm_cache_spare(struct pm_cache *cache, unsigned n, uint64_t bytes);

/* No object may be in use. Accepts NULL. */
void pm_cache_free(struct pm_cache *cache);

/*
 * The object with this key, built by build(context) if necessary. build returns 0 and fills `*ret`,
 * or returns a negative errno, which all waiting threads get (failures are not kept). Release the
 * result with pm_cache_release. -ENOMEM also if the caller's work is cancelled, or must not build
 * (formats/common/work.h).
 */
int pm_cache_get(struct pm_cache *cache, uint64_t key,
	int (*build)(void *context, struct pm_cached **ret, struct pm_error *err), void *context,
	struct pm_cached **ret, struct pm_error *err);

/* The object with this key if it has been built, else NULL. Release it with pm_cache_release. */
struct pm_cached *pm_cache_peek(struct pm_cache *cache, uint64_t key);

void pm_cache_release(struct pm_cache *cache, struct pm_cached *c);

/*
 * Marks an object in use as being read sequentially: it is kept for some seconds, whatever its
 * size. `false`: the reader has reached its end.
 */
void pm_cache_keep(struct pm_cached *c, bool keep);

/* Frees the object with this key if there is one that is not in use. */
void pm_cache_drop(struct pm_cache *cache, uint64_t key);

/*
 * Frees all objects for which belongs(context, key, object) is true, and that are not in use. The
 * object is NULL while it is built. `belongs` must not use the cache. O(objects).
 */
void pm_cache_purge(struct pm_cache *cache,
	bool (*belongs)(void *context, uint64_t key, const struct pm_cached *object, bool in_use),
	void *context);

/* Updates the size of an object in use. */
void pm_cache_resize(struct pm_cache *cache, struct pm_cached *c, uint64_t bytes);

/* Counts objects that are being built against the limit: `more` bytes, may be negative. */
void pm_cache_reserve(struct pm_cache *cache, int64_t more);

/* The limit given to pm_cache_new. */
uint64_t pm_cache_limit(const struct pm_cache *cache);

/* Bytes in use, including bookkeeping; for tests and the log. */
uint64_t pm_cache_bytes(struct pm_cache *cache);

#endif
