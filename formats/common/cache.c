/*
 * A chained hash table and a list in order of use, behind the lock of formats/common/work.c, which
 * is held for lookups only, never while something is built.
 *
 *     buckets[hash] → slot → slot          newest ⇄ slot ⇄ slot ⇄ oldest
 *
 * A slot whose object is being built is in the table with users > 0 and no object yet.
 */
#include "formats/common/cache.h"

#include <stdlib.h>
#include <time.h>

#include "formats/common/folder.h"
#include "formats/common/map.h"
#include "formats/common/work.h"

enum {
	N_BUCKETS = 1 << 14,
	PER_THING = 64, /* malloc's overhead for a slot, an object and its text */
};

#define KEPT_NS ((uint64_t)5 * 1000 * 1000 * 1000)

struct pm_slot {
	uint64_t key;
	struct pm_cached *thing; /* NULL while it is built */
	struct pm_turn turn;
	bool cancelled;         /* the build, so that waiting threads retry it themselves */
	int failure;            /* of the build, for waiting threads */
	struct pm_error *error; /* of the failure; NULL if out of memory */
	unsigned users;
	struct pm_slot *next; /* in the bucket's chain */
	struct pm_slot *newer, *older;
};

struct pm_cache {
	uint64_t limit, bytes;
	unsigned n_spared; /* see pm_cache_spare */
	uint64_t spared_bytes;
	struct pm_slot *newest, *oldest; /* slots with an object */
	struct pm_slot *dropped;         /* whose objects are freed without the lock */
	struct pm_slot *buckets[N_BUCKETS];
};

struct pm_cache *pm_cache_new(uint64_t limit_bytes)
{
	struct pm_cache *c = calloc(1, sizeof(*c));
	if (c)
		c->limit = limit_bytes;
	return c;
}

static uint64_t cost_of(const struct pm_cached *thing)
{
	return thing->bytes + sizeof(struct pm_slot) + PER_THING;
}

static struct pm_slot **place_of(struct pm_cache *c, uint64_t key)
{
	struct pm_slot **place = &c->buckets[pm_hash_u64(key) % N_BUCKETS];
	while (*place && (*place)->key != key)
		place = &(*place)->next;
	return place;
}

static void order_remove(struct pm_cache *c, struct pm_slot *s)
{
	*(s->newer ? &s->newer->older : &c->newest) = s->older;
	*(s->older ? &s->older->newer : &c->oldest) = s->newer;
	s->newer = s->older = NULL;
}

static void order_put_first(struct pm_cache *c, struct pm_slot *s)
{
	s->newer = NULL;
	s->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = s;
	c->newest = s;
}

static void slot_drop(struct pm_cache *c, struct pm_slot *s)
{
	*place_of(c, s->key) = s->next;
	order_remove(c, s);
	c->bytes -= cost_of(s->thing);
	s->next = c->dropped;
	c->dropped = s;
}

/*
 * Releases the lock, then frees what was dropped: an object may be a profile with a cache of its
 * own, and the lock is one for all.
 */
static void unlock(struct pm_cache *c)
{
	struct pm_slot *s = c->dropped, *next;
	c->dropped = NULL;
	pm_turn_unlock();
	for (; s; s = next) {
		next = s->next;
		s->thing->free(s->thing);
		free(s);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return pm_time_ns(t);
}

/* The oldest object that pm_cache_spare keeps, or NULL. */
static struct pm_slot *oldest_spared(const struct pm_cache *c)
{
	struct pm_slot *oldest = NULL, *s = c->newest;
	uint64_t bytes = 0;
	for (unsigned i = 0; s && i < c->n_spared; i++, s = s->older) {
		bytes += cost_of(s->thing);
		if (oldest && bytes > c->spared_bytes)
			break;
		oldest = s;
	}
	return oldest;
}

static void make_room(struct pm_cache *c)
{
	if (c->bytes <= c->limit)
		return;
	struct pm_slot *s = c->oldest, *spared = oldest_spared(c);
	uint64_t now = now_ns();
	while (s && s != spared && c->bytes > c->limit) {
		struct pm_slot *newer = s->newer;
		if (s->users == 0 && s->thing->kept_until_ns <= now)
			slot_drop(c, s);
		s = newer;
	}
}

void pm_cache_spare(struct pm_cache *c, unsigned n, uint64_t bytes)
{
	c->n_spared = n;
	c->spared_bytes = bytes;
}

void pm_cache_free(struct pm_cache *c)
{
	if (!c)
		return;
	pm_turn_lock();
	while (c->oldest)
		slot_drop(c, c->oldest);
	unlock(c);
	free(c);
}

/* ---- building; the lock is held ---- */

/* Drops a user of a slot that failed and is no longer in the table. */
static void leave_failed(struct pm_slot *s)
{
	if (--s->users > 0)
		return;
	free(s->error);
	free(s);
}

/*
 * Another thread builds it: waits for the result. 1 if there is none because its builder was
 * cancelled.
 */
static int wait_for(struct pm_slot *s, struct pm_cached **ret, struct pm_error *err)
{
	s->users++;
	if (!pm_turn_wait(&s->turn)) {
		/* It is still being built, so the builder is counted as a user. */
		s->users--;
		return pm_error_plain(err, -ENOMEM);
	}
	if (s->thing) {
		*ret = s->thing;
		return 0;
	}
	int r = s->cancelled ? 1 : s->failure;
	if (r < 0 && err && !err->code) {
		if (s->error)
			*err = *s->error;
		else
			pm_error_plain(err, r);
	}
	leave_failed(s);
	return r;
}

static void fail(struct pm_cache *c, struct pm_slot *s, int failure, const struct pm_error *error)
{
	*place_of(c, s->key) = s->next;
	s->failure = failure;
	if (s->users > 1 && (s->error = malloc(sizeof(*s->error))))
		*s->error = *error;
	pm_turn_end(&s->turn);
	leave_failed(s);
}

static int build_slot(struct pm_cache *c, struct pm_slot *s,
	int (*build)(void *, struct pm_cached **, struct pm_error *), void *context,
	struct pm_cached **ret, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	struct pm_cached *thing = NULL;
	struct pm_work *work = pm_work_current();
	pm_turn_begin(&s->turn);
	pm_turn_unlock();
	int r = build(context, &thing, &error);
	/* The result may be incomplete. */
	bool cancelled = work && __atomic_load_n(&work->gave_up, __ATOMIC_RELAXED);
	if (cancelled) {
		if (r >= 0)
			thing->free(thing);
		error.code = 0;
		r = pm_error_plain(&error, -ENOMEM);
	}
	pm_turn_lock();
	s->cancelled = cancelled;
	if (r < 0) {
		if (err && !err->code)
			*err = error;
		fail(c, s, r, &error);
		return r;
	}
	s->thing = thing;
	thing->slot = s;
	*ret = thing;
	c->bytes += cost_of(thing);
	order_put_first(c, s);
	make_room(c);
	pm_turn_end(&s->turn);
	return 0;
}

static int get(struct pm_cache *c, uint64_t key,
	int (*build)(void *, struct pm_cached **, struct pm_error *), void *context,
	struct pm_cached **ret, struct pm_error *err)
{
	for (;;) {
		struct pm_slot **place = place_of(c, key), *s = *place;
		if (s && s->thing) {
			s->users++;
			order_remove(c, s);
			order_put_first(c, s);
			*ret = s->thing;
			return 0;
		}
		if (!pm_work_may_build())
			return pm_error_plain(err, PM_WOULD_BUILD);
		if (s) {
			int r = wait_for(s, ret, err);
			if (r <= 0)
				return r;
			continue;
		}
		if (!(s = calloc(1, sizeof(*s))))
			return pm_error_plain(err, -ENOMEM);
		s->key = key;
		s->users = 1;
		*place = s;
		return build_slot(c, s, build, context, ret, err);
	}
}

int pm_cache_get(struct pm_cache *c, uint64_t key,
	int (*build)(void *, struct pm_cached **, struct pm_error *), void *context,
	struct pm_cached **ret, struct pm_error *err)
{
	pm_turn_lock();
	int r = get(c, key, build, context, ret, err);
	unlock(c);
	return r;
}

struct pm_cached *pm_cache_peek(struct pm_cache *c, uint64_t key)
{
	pm_turn_lock();
	struct pm_slot *s = *place_of(c, key);
	struct pm_cached *thing = s ? s->thing : NULL;
	if (thing)
		s->users++;
	pm_turn_unlock();
	return thing;
}

void pm_cache_release(struct pm_cache *c, struct pm_cached *thing)
{
	pm_turn_lock();
	thing->slot->users--;
	make_room(c);
	unlock(c);
}

void pm_cache_keep(struct pm_cached *thing, bool keep)
{
	uint64_t until = keep ? now_ns() + KEPT_NS : 0;
	pm_turn_lock();
	thing->kept_until_ns = until;
	pm_turn_unlock();
}

void pm_cache_drop(struct pm_cache *c, uint64_t key)
{
	pm_turn_lock();
	struct pm_slot *s = *place_of(c, key);
	if (s && s->thing && s->users == 0)
		slot_drop(c, s);
	unlock(c);
}

void pm_cache_purge(struct pm_cache *c,
	bool (*belongs)(void *context, uint64_t key, const struct pm_cached *object, bool in_use),
	void *context)
{
	pm_turn_lock();
	for (size_t i = 0; i < N_BUCKETS; i++)
		for (struct pm_slot *s = c->buckets[i], *next; s; s = next) {
			bool in_use = !s->thing || s->users > 0;
			next = s->next;
			if (belongs(context, s->key, s->thing, in_use) && !in_use)
				slot_drop(c, s);
		}
	unlock(c);
}

void pm_cache_resize(struct pm_cache *c, struct pm_cached *thing, uint64_t bytes)
{
	pm_turn_lock();
	c->bytes += bytes - thing->bytes;
	thing->bytes = bytes;
	pm_turn_unlock();
}

void pm_cache_reserve(struct pm_cache *c, int64_t more)
{
	pm_turn_lock();
	c->bytes += (uint64_t)more;
	make_room(c);
	unlock(c);
}

uint64_t pm_cache_limit(const struct pm_cache *c)
{
	return c->limit;
}

uint64_t pm_cache_bytes(struct pm_cache *c)
{
	pm_turn_lock();
	uint64_t bytes = c->bytes;
	pm_turn_unlock();
	return bytes;
}
