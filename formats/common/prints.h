/*
 * An index of items by hash, for tables that keep their items in an array of their own: a slot has
 * a 32-bit hash and an item's number, so an item is accessed only if its hash matches, and growing
 * accesses none. 11 to 22 bytes an item. Nothing is ever removed.
 *
 *	uint32_t hash = (uint32_t)pm_hash_u64(key ^ p.salt), item;
 *	size_t at = pm_prints_first(&p, hash);
 *	while ((item = pm_prints_at(&p, hash, &at)) != PM_NONE && !is_equal(item, key))
 *		at++;
 *	if (item == PM_NONE)
 *		pm_prints_put(&p, at, hash, new_item);
 */
#ifndef PROFMOUNT_PRINTS_H
#define PROFMOUNT_PRINTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/common/map.h"

struct pm_print {
	uint32_t hash;
	uint32_t item; /* + 1; 0 = free */
};

/* Zeroed = empty. */
struct pm_prints {
	struct pm_print *slots; /* open addressing; a power of two */
	size_t n_slots, n_taken;
	uint64_t salt; /* for hashes: keys are hostile input, and must not collide deliberately */
};

/*
 * Makes room for one more item; required before each pm_prints_put, and before the first search
 * that ends with one. 0 or -ENOMEM. O(1) on average.
 */
int pm_prints_grow(struct pm_prints *p);
static inline int pm_prints_room(struct pm_prints *p)
{
	return p->n_taken < p->n_slots - p->n_slots / 4 ? 0 : pm_prints_grow(p);
}

/* Accepts a zeroed one, and zeroes it. */
void pm_prints_done(struct pm_prints *p);

static inline size_t pm_prints_first(const struct pm_prints *p, uint32_t hash)
{
	return hash & (p->n_slots - 1);
}

/*
 * The next item with this hash from slot *at on; *at becomes its slot. PM_NONE (UINT32_MAX) if
 * there is none; *at is then the slot where one belongs.
 */
static inline uint32_t pm_prints_at(const struct pm_prints *p, uint32_t hash, size_t *at)
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
static inline void pm_prints_prefetch(const struct pm_prints *p, uint32_t hash)
{
	if (p->n_slots)
		__builtin_prefetch(&p->slots[pm_prints_first(p, hash)]);
}

static inline void pm_prints_put(struct pm_prints *p, size_t at, uint32_t hash, uint32_t item)
{
	p->slots[at] = (struct pm_print){hash, item + 1};
	p->n_taken++;
}

#endif
