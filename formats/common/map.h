/* Hash tables with open addressing: numbers → numbers, and interned strings. */
#ifndef PROFMOUNT_MAP_H
#define PROFMOUNT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "formats/common/arena.h"

/* 64-bit key → 32-bit value. Zeroed = empty. Not thread-safe. */
struct pm_map {
	struct pm_map_slot *slots;
	size_t n, room;
	struct pm_arena *arena; /* has the slots; NULL: pm_map_done frees them */
};

/* The value of a key, or NULL; valid until the next put. */
uint32_t *pm_map_find(const struct pm_map *m, uint64_t key);

/*
 * The value of a key, inserted as `fresh` if the key is new (see *ret_new); NULL if out of memory,
 * unless in a build (arena.h), as is what follows.
 */
uint32_t *pm_map_put(struct pm_map *m, uint64_t key, uint32_t fresh, bool *ret_new);

void pm_map_done(struct pm_map *m);

/* Interned strings: equal strings have the same index, counted from 0 in order of insertion. */
struct pm_strtab {
	struct pm_arena *arena; /* for copies; NULL: the strings outlive the table */
	struct pm_arena *home;  /* has the table; NULL: pm_strtab_done frees it */
	const struct pm_bytes *items;
	uint32_t n;
	size_t room;
	uint32_t *slots;
	size_t n_slots;
	struct pm_map lasting; /* place of a long text → index; see pm_strtab_add_lasting */
};

/* A table in an arena, with its copies. */
static inline struct pm_strtab pm_strtab_in(struct pm_arena *a)
{
	return (struct pm_strtab){.arena = a, .home = a, .lasting = {.arena = a}};
}

/* The index of b, which is added if it is new; PM_NONE (UINT32_MAX) if out of memory. */
uint32_t pm_strtab_add(struct pm_strtab *t, struct pm_bytes b);

/*
 * The same for a text that, if it is longer than PM_STRTAB_LONG bytes, stays where it is,
 * unchanged, until pm_strtab_forget or pm_strtab_done: it is read only once, however often it is
 * added. Shorter ones, such as names that views compose, may change.
 */
#define PM_STRTAB_LONG 512
uint32_t pm_strtab_add_lasting(struct pm_strtab *t, struct pm_bytes b);

/* Texts that were added as lasting may change from now on. */
void pm_strtab_forget(struct pm_strtab *t);

/* The index of b, or UINT32_MAX. */
uint32_t pm_strtab_find(const struct pm_strtab *t, struct pm_bytes b);

/* Frees the table and `items`, not the arena. */
void pm_strtab_done(struct pm_strtab *t);

/* A hash that is the same on every machine and mount: FNV-1a, 64 bits, finalised. */
uint64_t pm_hash_bytes(struct pm_bytes b);

static inline uint64_t pm_hash_u64(uint64_t u)
{
	u ^= u >> 33;
	u *= 0xff51afd7ed558ccdu;
	u ^= u >> 33;
	u *= 0xc4ceb9fe1a85ec53u;
	return u ^ u >> 33;
}

/*
 * ---- prints ----
 * An index of items by hash, for tables that keep their items in an array of their own: a slot has
 * a 32-bit hash and an item's number, so an item is accessed only if its hash matches, and growing
 * accesses none. 11 to 22 bytes an item. Nothing is ever removed.
 *
 *	uint32_t hash = (uint32_t)pm_hash_u64(key ^ p.salt), item;
 *	size_t at = pm_fingerprints_first(&p, hash);
 *	while ((item = pm_fingerprints_at(&p, hash, &at)) != PM_NONE && !is_equal(item, key))
 *		at++;
 *	if (item == PM_NONE)
 *		pm_fingerprints_put(&p, at, hash, new_item);
 */

struct pm_print {
	uint32_t hash;
	uint32_t item; /* + 1; 0 = free */
};

/* Zeroed = empty. */
struct pm_fingerprints {
	struct pm_print *slots; /* open addressing; a power of two */
	size_t n_slots, n_taken;
	uint64_t salt; /* for hashes: keys are hostile input, and must not collide deliberately */
	struct pm_arena *arena; /* has the slots; NULL: pm_fingerprints_done frees them */
};

/*
 * Makes room for one more item; required before each pm_fingerprints_put, and before the first
 * search that ends with one. 0 or -ENOMEM, unless in a build (arena.h). O(1) on average.
 */
int pm_fingerprints_grow(struct pm_fingerprints *p);
static inline int pm_fingerprints_room(struct pm_fingerprints *p)
{
	return p->n_taken < p->n_slots - p->n_slots / 4 ? 0 : pm_fingerprints_grow(p);
}

/* Accepts a zeroed one, and empties it. */
void pm_fingerprints_done(struct pm_fingerprints *p);

static inline size_t pm_fingerprints_first(const struct pm_fingerprints *p, uint32_t hash)
{
	return hash & (p->n_slots - 1);
}

/*
 * The next item with this hash from slot *at on; *at becomes its slot. PM_NONE (UINT32_MAX) if
 * there is none; *at is then the slot where one belongs.
 */
static inline uint32_t pm_fingerprints_at(
	const struct pm_fingerprints *p, uint32_t hash, size_t *at)
{
	size_t i = *at & (p->n_slots - 1);
	if (p->n_slots == 0)
		return UINT32_MAX;
	while (p->slots[i].item != 0 && p->slots[i].hash != hash)
		i = (i + 1) & (p->n_slots - 1);
	*at = i;
	return p->slots[i].item - 1; /* 0 - 1: none */
}

/* Prefetches the slots where a search for this hash begins. */
static inline void pm_fingerprints_prefetch(const struct pm_fingerprints *p, uint32_t hash)
{
	if (p->n_slots)
		__builtin_prefetch(&p->slots[pm_fingerprints_first(p, hash)]);
}

static inline void pm_fingerprints_put(
	struct pm_fingerprints *p, size_t at, uint32_t hash, uint32_t item)
{
	p->slots[at] = (struct pm_print){hash, item + 1};
	p->n_taken++;
}

#endif
