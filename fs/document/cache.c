/*
 * A chained hash table and a list in order of use, behind one mutex that is held for lookups only,
 * never while something is built.
 *
 *     buckets[hash] → slot → slot          newest ⇄ slot ⇄ slot ⇄ oldest
 *
 * A slot whose thing is being built is in the table with users > 0 and no thing yet.
 */
#include "fs/document/cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "formats/common/map.h"

enum { N_BUCKETS = 1 << 14 };

struct pmfs_slot {
	uint64_t key;
	struct pmfs_cached *thing; /* NULL while it is built */
	int failure;               /* of the build, for those who waited */
	struct pm_error error;
	unsigned users;
	struct pmfs_slot *next; /* in the bucket */
	struct pmfs_slot *newer, *older;
};

struct pmfs_cache {
	pthread_mutex_t lock;
	pthread_cond_t built;
	uint64_t limit, bytes;
	struct pmfs_slot *newest, *oldest; /* slots with a thing */
	struct pmfs_slot *buckets[N_BUCKETS];
};

struct pmfs_cache *pmfs_cache_new(uint64_t limit_bytes)
{
	struct pmfs_cache *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->built, NULL);
	c->limit = limit_bytes;
	return c;
}

static struct pmfs_slot **place_of(struct pmfs_cache *c, uint64_t key)
{
	struct pmfs_slot **place = &c->buckets[pm_hash_u64(key) % N_BUCKETS];
	while (*place && (*place)->key != key)
		place = &(*place)->next;
	return place;
}

static void order_remove(struct pmfs_cache *c, struct pmfs_slot *s)
{
	*(s->newer ? &s->newer->older : &c->newest) = s->older;
	*(s->older ? &s->older->newer : &c->oldest) = s->newer;
	s->newer = s->older = NULL;
}

static void order_put_first(struct pmfs_cache *c, struct pmfs_slot *s)
{
	s->newer = NULL;
	s->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = s;
	c->newest = s;
}

static void slot_drop(struct pmfs_cache *c, struct pmfs_slot *s)
{
	struct pmfs_slot **place = place_of(c, s->key);
	*place = s->next;
	if (s->thing) {
		order_remove(c, s);
		c->bytes -= s->thing->bytes;
		s->thing->free(s->thing);
	}
	free(s);
}

static void make_room(struct pmfs_cache *c)
{
	struct pmfs_slot *s = c->oldest;
	while (s && c->bytes > c->limit) {
		struct pmfs_slot *newer = s->newer;
		if (s->users == 0)
			slot_drop(c, s);
		s = newer;
	}
}

void pmfs_cache_free(struct pmfs_cache *c)
{
	if (!c)
		return;
	while (c->oldest)
		slot_drop(c, c->oldest);
	pthread_cond_destroy(&c->built);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Someone else builds it: waits for the outcome. The lock is held. */
static int wait_for(
	struct pmfs_cache *c, struct pmfs_slot *s, struct pmfs_cached **ret, struct pm_error *err)
{
	s->users++;
	while (!s->thing && !s->failure)
		pthread_cond_wait(&c->built, &c->lock);
	if (s->thing) {
		*ret = s->thing;
		return 0;
	}
	int failure = s->failure;
	if (err && !err->code)
		*err = s->error;
	if (--s->users == 0)
		free(s); /* the builder has taken it out of the table */
	return failure;
}

static int build_slot(struct pmfs_cache *c, struct pmfs_slot *s,
	int (*build)(void *, struct pmfs_cached **, struct pm_error *), void *context,
	struct pmfs_cached **ret, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	struct pmfs_cached *thing = NULL;
	pthread_mutex_unlock(&c->lock);
	int r = build(context, &thing, &error);
	pthread_mutex_lock(&c->lock);
	if (r < 0) {
		struct pmfs_slot **place = place_of(c, s->key);
		*place = s->next;
		s->failure = r;
		s->error = error;
		if (err && !err->code)
			*err = error;
		if (--s->users == 0)
			free(s);
	} else {
		s->thing = thing;
		thing->slot = s;
		*ret = thing;
		c->bytes += thing->bytes;
		order_put_first(c, s);
		make_room(c);
	}
	pthread_cond_broadcast(&c->built);
	return r < 0 ? r : 0;
}

int pmfs_cache_get(struct pmfs_cache *c, uint64_t key,
	int (*build)(void *, struct pmfs_cached **, struct pm_error *), void *context,
	struct pmfs_cached **ret, struct pm_error *err)
{
	int r = 0;
	pthread_mutex_lock(&c->lock);
	struct pmfs_slot **place = place_of(c, key);
	struct pmfs_slot *s = *place;
	if (s && s->thing) {
		s->users++;
		order_remove(c, s);
		order_put_first(c, s);
		*ret = s->thing;
	} else if (s) {
		r = wait_for(c, s, ret, err);
	} else if ((s = calloc(1, sizeof(*s)))) {
		s->key = key;
		s->users = 1;
		*place = s;
		r = build_slot(c, s, build, context, ret, err);
	} else {
		r = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

struct pmfs_cached *pmfs_cache_peek(struct pmfs_cache *c, uint64_t key)
{
	pthread_mutex_lock(&c->lock);
	struct pmfs_slot *s = *place_of(c, key);
	struct pmfs_cached *thing = s ? s->thing : NULL;
	if (thing)
		s->users++;
	pthread_mutex_unlock(&c->lock);
	return thing;
}

void pmfs_cache_release(struct pmfs_cache *c, struct pmfs_cached *thing)
{
	pthread_mutex_lock(&c->lock);
	struct pmfs_slot *s = thing->slot;
	s->users--;
	make_room(c);
	pthread_mutex_unlock(&c->lock);
}

uint64_t pmfs_cache_bytes(struct pmfs_cache *c)
{
	pthread_mutex_lock(&c->lock);
	uint64_t bytes = c->bytes;
	pthread_mutex_unlock(&c->lock);
	return bytes;
}
