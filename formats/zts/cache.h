/*
 * A small cache of things that are costly to make: the least recently used one goes when they take
 * more than a bound. What somebody holds stays. For use by several threads at once.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_CACHE_H
#define PROFMOUNT_FORMATS_ZTS_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ZTS_CACHE_SLOTS 32

struct zts_cache_slot {
	uint64_t key;
	void *thing; /* NULL: free */
	size_t bytes;
	unsigned holders;
	uint64_t used; /* when, by `clock` */
};

struct zts_cache {
	pthread_mutex_t lock;
	struct zts_cache_slot slots[ZTS_CACHE_SLOTS];
	size_t limit, total; /* bytes */
	uint64_t clock;
	void (*drop)(void *thing);
};

void zts_cache_init(struct zts_cache *c, size_t limit, void (*drop)(void *thing));
void zts_cache_done(struct zts_cache *c);

/* The thing of that key, held for the caller, or NULL. */
void *zts_cache_take(struct zts_cache *c, uint64_t key);

/* Puts in a thing that the caller goes on holding; where there is no room it is not kept. */
void zts_cache_put(struct zts_cache *c, uint64_t key, void *thing, size_t bytes);

/* The caller holds it no longer. */
void zts_cache_release(struct zts_cache *c, const void *thing);

#endif
