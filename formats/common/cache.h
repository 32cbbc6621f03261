/*
 * The program's cache of built things, with a limit in bytes: rendered texts, layouts of tables,
 * indexes of directories, what formats decoded. What is in use is never freed, nor what somebody is
 * in the middle of; the least recently used goes first. Each thing is built once, by whoever asks
 * first, while others who want the same wait and the rest goes on.
 */
#ifndef PROFMOUNT_CACHE_H
#define PROFMOUNT_CACHE_H

#include <stdbool.h>

#include "profmount/error.h"

struct pm_cache;

/* What is cached: embed it as the first member. */
struct pm_cached {
	uint64_t bytes; /* counted against the limit, without what malloc and the cache add */
	void (*free)(struct pm_cached *c); /* must not use the cache */
	/* The cache's: */
	struct pm_slot *slot;
	uint64_t kept_until_ns; /* see pm_cache_keep */
};

/*
 * Keys of all who share a cache differ in their highest byte: those of the format have bit 62 and
 * not bit 63; all others are nodes of fs/tree/node.h.
 */
enum { PM_CACHE_FORMAT = 0x40 };

/* NULL without memory. */
struct pm_cache *pm_cache_new(uint64_t limit_bytes);

/*
 * From now on the `n` things used last stay, even beyond the limit, where they take at most `bytes`
 * together; the very last one however large it is. For things that are read in many short steps,
 * `n` of them at once: otherwise one larger than the limit would be built again for each step. Call
 * it before the cache is used. Without it, none stay.
 */
void pm_cache_spare(struct pm_cache *cache, unsigned n, uint64_t bytes);

/* Nothing may be in use. Accepts NULL. */
void pm_cache_free(struct pm_cache *cache);

/*
 * The thing of that key, built by build(context) where it is not there: build returns 0 and fills
 * `*ret`, or a negative errno that goes to everyone who waits (failures are not kept). Give the
 * result back with pm_cache_release. -ENOMEM also where the caller's work is cancelled, or may not
 * build (formats/common/work.h).
 */
int pm_cache_get(struct pm_cache *cache, uint64_t key,
	int (*build)(void *context, struct pm_cached **ret, struct pm_error *err), void *context,
	struct pm_cached **ret, struct pm_error *err);

/* The thing of that key if it is there and built, else NULL. Release it. */
struct pm_cached *pm_cache_peek(struct pm_cache *cache, uint64_t key);

void pm_cache_release(struct pm_cache *cache, struct pm_cached *c);

/*
 * Somebody is in the middle of a thing that is in use: it stays for some seconds from now, however
 * large it is. `false`: he has come to its end.
 */
void pm_cache_keep(struct pm_cache *cache, struct pm_cached *c, bool keep);

/* A thing in use takes so many bytes by now. */
void pm_cache_resize(struct pm_cache *cache, struct pm_cached *c, uint64_t bytes);

/* Counts what is being built against the limit: `more` bytes, less where negative. */
void pm_cache_reserve(struct pm_cache *cache, int64_t more);

/* The limit that it was made with. */
uint64_t pm_cache_limit(const struct pm_cache *cache);

/* Bytes held now, bookkeeping included, for tests and the log. */
uint64_t pm_cache_bytes(struct pm_cache *cache);

#endif
