/*
 * Slots under one lock; things are made outside of it, so two threads may make the same thing
 * twice, which costs time and nothing else. A thing that no slot has belongs to who made it, and
 * is dropped when it is released.
 */
#include "formats/zts/cache.h"

#include <stdbool.h>
#include <string.h>

void zts_cache_init(struct zts_cache *c, size_t limit, void (*drop)(void *thing))
{
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	c->limit = limit;
	c->drop = drop;
}

static void empty_slot(struct zts_cache *c, struct zts_cache_slot *slot)
{
	c->total -= slot->bytes;
	c->drop(slot->thing);
	*slot = (struct zts_cache_slot){.thing = NULL};
}

void zts_cache_done(struct zts_cache *c)
{
	for (size_t i = 0; i < ZTS_CACHE_SLOTS; i++)
		if (c->slots[i].thing)
			empty_slot(c, &c->slots[i]);
	pthread_mutex_destroy(&c->lock);
}

void *zts_cache_take(struct zts_cache *c, uint64_t key)
{
	void *thing = NULL;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < ZTS_CACHE_SLOTS && !thing; i++) {
		struct zts_cache_slot *slot = &c->slots[i];
		if (!slot->thing || slot->key != key)
			continue;
		slot->holders++;
		slot->used = ++c->clock;
		thing = slot->thing;
	}
	pthread_mutex_unlock(&c->lock);
	return thing;
}

/* The thing that was not used for longest and that nobody holds, or NULL. */
static struct zts_cache_slot *oldest_slot(struct zts_cache *c)
{
	struct zts_cache_slot *oldest = NULL;
	for (size_t i = 0; i < ZTS_CACHE_SLOTS; i++) {
		struct zts_cache_slot *slot = &c->slots[i];
		if (slot->thing && slot->holders == 0 && (!oldest || slot->used < oldest->used))
			oldest = slot;
	}
	return oldest;
}

/* A free slot after old things were dropped for `bytes` more, or NULL. */
static struct zts_cache_slot *make_room(struct zts_cache *c, size_t bytes)
{
	for (;;) {
		struct zts_cache_slot *oldest = oldest_slot(c);
		for (size_t i = 0; c->total + bytes <= c->limit && i < ZTS_CACHE_SLOTS; i++)
			if (!c->slots[i].thing)
				return &c->slots[i];
		if (!oldest || bytes > c->limit)
			return NULL;
		empty_slot(c, oldest);
	}
}

void zts_cache_put(struct zts_cache *c, uint64_t key, void *thing, size_t bytes)
{
	pthread_mutex_lock(&c->lock);
	struct zts_cache_slot *slot = make_room(c, bytes);
	if (slot) {
		*slot = (struct zts_cache_slot){key, thing, bytes, 1, ++c->clock};
		c->total += bytes;
	}
	pthread_mutex_unlock(&c->lock);
}

void zts_cache_release(struct zts_cache *c, const void *thing)
{
	bool kept = false;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < ZTS_CACHE_SLOTS; i++) {
		if (c->slots[i].thing != thing)
			continue;
		c->slots[i].holders--;
		kept = true;
	}
	pthread_mutex_unlock(&c->lock);
	if (!kept)
		c->drop((void *)(uintptr_t)thing);
}
