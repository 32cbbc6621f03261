#include "formats/common/unlisted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "profmount/limits.h"

enum {
	FEWEST_BUCKETS = 1 << 3,
	MOST_BUCKETS = 1 << 12,
	SOFT = 1 << 11,  /* numbers that are given before some are taken back */
	BATCH = 1 << 8,  /* that are worth looking for what was kept of them */
	RECENT = 1 << 6, /* names found last are not taken back */
};

struct name {
	uint8_t *key; /* owned; NULL: free */
	size_t len;
	uint64_t found; /* when, counted in names that were found */
	uint32_t generation;
	uint32_t next; /* in the bucket, or of those that are free */
	bool in_use, leaving;
};

struct pm_unlisted {
	unsigned users; /* atomic */
	pm_unlisted_forget_fn *forget;
	void *context;
	pthread_mutex_t lock; /* guards the following */
	struct name *names;   /* by number */
	uint32_t n, free;     /* free: the first, or PM_NONE */
	size_t room;
	uint64_t found;
	bool taking_back;
	uint32_t *buckets; /* the first of each, or PM_NONE; NULL: no name was asked for yet */
	uint32_t n_buckets;
};

struct pm_unlisted *pm_unlisted_new(pm_unlisted_forget_fn *forget, void *context)
{
	struct pm_unlisted *u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->users = 1;
	u->forget = forget;
	u->context = context;
	u->free = UINT32_MAX;
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

struct pm_unlisted *pm_unlisted_use(struct pm_unlisted *u)
{
	__atomic_add_fetch(&u->users, 1, __ATOMIC_RELAXED);
	return u;
}

void pm_unlisted_drop(struct pm_unlisted *u)
{
	if (!u || __atomic_sub_fetch(&u->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (uint32_t i = 0; i < u->n; i++)
		free(u->names[i].key);
	pthread_mutex_destroy(&u->lock);
	free(u->names);
	free(u->buckets);
	free(u);
}

/* ---- the table; the lock is held ---- */

static uint32_t *bucket_of(struct pm_unlisted *u, struct pm_bytes key)
{
	return &u->buckets[pm_hash_bytes(key) % u->n_buckets];
}

static struct pm_bytes key_of(const struct name *name)
{
	return (struct pm_bytes){name->key, name->len};
}

static void put_in(struct pm_unlisted *u, uint32_t number)
{
	uint32_t *bucket = bucket_of(u, key_of(&u->names[number]));
	u->names[number].next = *bucket;
	*bucket = number;
}

/*
 * Most lists are of filters and windows in which none or one is looked for, and as long as the
 * mount: they begin small.
 */
static bool has_buckets(struct pm_unlisted *u)
{
	uint32_t n = u->n_buckets ? 2 * u->n_buckets : FEWEST_BUCKETS;
	if (u->n < u->n_buckets || n > MOST_BUCKETS)
		return true;
	uint32_t *buckets = malloc(n * sizeof(*buckets));
	if (!buckets)
		return u->buckets;
	memset(buckets, 0xff, n * sizeof(*buckets));
	free(u->buckets);
	u->buckets = buckets;
	u->n_buckets = n;
	for (uint32_t i = 0; i < u->n; i++)
		if (u->names[i].key && !u->names[i].leaving)
			put_in(u, i);
	return true;
}

static uint32_t find(struct pm_unlisted *u, struct pm_bytes key)
{
	uint32_t i = *bucket_of(u, key);
	while (i != UINT32_MAX && !pm_bytes_equal(key_of(&u->names[i]), key))
		i = u->names[i].next;
	return i;
}

static void take_out(struct pm_unlisted *u, uint32_t number)
{
	uint32_t *place = bucket_of(u, key_of(&u->names[number]));
	while (*place != number)
		place = &u->names[*place].next;
	*place = u->names[number].next;
}

/* Names that nobody uses, which are not found any more from now on; returns how many. */
static uint32_t choose(struct pm_unlisted *u, uint8_t *numbers)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < u->n; i++) {
		struct name *name = &u->names[i];
		if (!name->key || name->in_use)
			continue;
		if (!name->leaving && name->found + RECENT > u->found)
			continue;
		if (!name->leaving)
			take_out(u, i);
		name->leaving = true;
		numbers[i / 8] |= (uint8_t)(1 << i % 8);
		n++;
	}
	return n;
}

/* Numbers of which nothing is kept any more are free. The others are tried again later. */
static void take_back(struct pm_unlisted *u, const uint8_t *numbers)
{
	for (uint32_t i = 0; i < u->n; i++) {
		struct name *name = &u->names[i];
		if (!pm_unlisted_has_bit(numbers, i))
			continue;
		free(name->key);
		*name = (struct name){.generation = name->generation + 1, .next = u->free};
		u->free = i;
	}
}

/* Makes numbers free, if enough names are unused. The lock is released meanwhile. */
static void make_free(struct pm_unlisted *u)
{
	uint8_t *numbers = u->taking_back ? NULL : calloc(PM_LIMIT_UNLISTED / 8, 1);
	if (!numbers)
		return;
	uint32_t n = choose(u, numbers);
	if (n >= BATCH || (n && u->n >= PM_LIMIT_UNLISTED)) {
		u->taking_back = true;
		pthread_mutex_unlock(&u->lock);
		u->forget(u->context, numbers);
		pthread_mutex_lock(&u->lock);
		take_back(u, numbers);
		u->taking_back = false;
	}
	free(numbers);
}

static int give(struct pm_unlisted *u, struct pm_bytes key, uint32_t *ret)
{
	uint8_t *copy = malloc(key.len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, key.p, key.len);
	*ret = u->free;
	if (*ret != UINT32_MAX) {
		u->free = u->names[*ret].next;
	} else if (u->n < PM_LIMIT_UNLISTED &&
		pm_list_room(&u->names, u->n, &u->room, sizeof(*u->names)) == 0) {
		*ret = u->n++;
		u->names[*ret] = (struct name){.generation = 0};
	} else {
		free(copy);
		return -ENOMEM;
	}
	u->names[*ret].key = copy;
	u->names[*ret].len = key.len;
	put_in(u, *ret);
	return 1;
}

/* ---- */

int pm_unlisted_number(
	struct pm_unlisted *u, struct pm_bytes key, uint32_t *ret, uint32_t *ret_generation)
{
	int r = 1;
	pthread_mutex_lock(&u->lock);
	if (!has_buckets(u)) {
		pthread_mutex_unlock(&u->lock);
		return -ENOMEM;
	}
	*ret = find(u, key);
	if (*ret == UINT32_MAX && u->free == UINT32_MAX && u->n >= SOFT && u->n % BATCH == 0) {
		make_free(u);
		*ret = find(u, key); /* another thread may have given it one */
	}
	if (*ret == UINT32_MAX)
		r = give(u, key, ret);
	if (r > 0) {
		u->names[*ret].found = u->found++;
		*ret_generation = u->names[*ret].generation;
	}
	pthread_mutex_unlock(&u->lock);
	return r;
}

size_t pm_unlisted_get(struct pm_unlisted *u, uint32_t number, void *ret, size_t n)
{
	size_t len = 0;
	pthread_mutex_lock(&u->lock);
	if (number < u->n && u->names[number].key) {
		len = u->names[number].len;
		memcpy(ret, u->names[number].key, len < n ? len : n);
	}
	pthread_mutex_unlock(&u->lock);
	return len;
}

uint32_t pm_unlisted_generation(struct pm_unlisted *u, uint32_t number)
{
	pthread_mutex_lock(&u->lock);
	uint32_t ret = number < u->n && u->names[number].key ? u->names[number].generation : 0;
	pthread_mutex_unlock(&u->lock);
	return ret;
}

bool pm_unlisted_hold(struct pm_unlisted *u, uint32_t number, uint32_t generation)
{
	pthread_mutex_lock(&u->lock);
	bool ret = number < u->n && u->names[number].key && !u->names[number].leaving &&
		u->names[number].generation == generation;
	if (ret)
		u->names[number].in_use = true;
	pthread_mutex_unlock(&u->lock);
	return ret;
}

void pm_unlisted_let_go(struct pm_unlisted *u, uint32_t number)
{
	pthread_mutex_lock(&u->lock);
	if (number < u->n)
		u->names[number].in_use = false;
	pthread_mutex_unlock(&u->lock);
}
