/*
 * Hash tables with open addressing and linear probing, at most three quarters full; sizes are
 * powers of two. Nothing is ever removed. Hashes are salted with the table's own address, because
 * keys are hostile input and must not be able to collide deliberately. The order of the slots is
 * not visible, so results are the same on every mount.
 */
#include "formats/common/map.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

#define FNV_BASIS  0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u
#define FIRST_ROOM 64

struct pm_map_slot {
	uint64_t key;
	uint32_t value;
	bool taken;
};

uint64_t pm_hash_bytes(struct pm_bytes b)
{
	uint64_t hash = FNV_BASIS;
	for (size_t i = 0; i < b.len; i++)
		hash = (hash ^ b.p[i]) * FNV_PRIME;
	return pm_hash_u64(hash);
}

static bool is_full(size_t n, size_t room)
{
	return n >= room - room / 4;
}

/* ---- numbers → numbers ---- */

/* The slot of a key, or the free slot where it belongs; the table has a free slot. */
static struct pm_map_slot *map_slot(const struct pm_map *m, uint64_t key)
{
	uint64_t at = pm_hash_u64(key ^ (uintptr_t)m->slots);
	struct pm_map_slot *slot = &m->slots[at & (m->room - 1)];
	while (slot->taken && slot->key != key)
		slot = &m->slots[++at & (m->room - 1)];
	return slot;
}

static bool map_grow(struct pm_map *m)
{
	struct pm_map grown = {
		.n = m->n, .room = m->room ? 2 * m->room : FIRST_ROOM, .arena = m->arena};
	grown.slots = pm_arena_zeroed(m->arena, grown.room, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < m->room; i++)
		if (m->slots[i].taken)
			*map_slot(&grown, m->slots[i].key) = m->slots[i];
	pm_arena_free(m->arena, m->slots);
	*m = grown;
	return true;
}

uint32_t *pm_map_find(const struct pm_map *m, uint64_t key)
{
	if (m->n == 0)
		return NULL;
	struct pm_map_slot *slot = map_slot(m, key);
	return slot->taken ? &slot->value : NULL;
}

uint32_t *pm_map_put(struct pm_map *m, uint64_t key, uint32_t fresh, bool *ret_new)
{
	if (pm_work_cancelled() || (is_full(m->n, m->room) && !map_grow(m)))
		return pm_arena_failed(m->arena);
	struct pm_map_slot *slot = map_slot(m, key);
	*ret_new = !slot->taken;
	if (!slot->taken) {
		*slot = (struct pm_map_slot){.key = key, .value = fresh, .taken = true};
		m->n++;
	}
	return &slot->value;
}

void pm_map_done(struct pm_map *m)
{
	pm_arena_free(m->arena, m->slots);
	*m = (struct pm_map){.arena = m->arena};
}

/* ---- interned strings: a slot holds index + 1, 0 is free ---- */

/* Eight bytes at a time; the last eight may overlap the previous ones. */
static uint64_t hash_words(uint64_t hash, struct pm_bytes b)
{
	uint64_t word = 0;
	hash ^= b.len;
	for (size_t i = 0; i + sizeof(word) < b.len; i += sizeof(word)) {
		memcpy(&word, b.p + i, sizeof(word));
		hash = pm_hash_u64(hash ^ word);
	}
	if (b.len >= sizeof(word))
		memcpy(&word, b.p + b.len - sizeof(word), sizeof(word));
	else if (b.len)
		memcpy(&word, b.p, b.len);
	return pm_hash_u64(hash ^ word);
}

static uint32_t *strtab_slot(const struct pm_strtab *t, struct pm_bytes b)
{
	uint64_t at = hash_words((uintptr_t)t->slots, b);
	uint32_t *slot = &t->slots[at & (t->n_slots - 1)];
	while (*slot && !pm_bytes_equal(t->items[*slot - 1], b))
		slot = &t->slots[++at & (t->n_slots - 1)];
	return slot;
}

static bool strtab_grow(struct pm_strtab *t)
{
	struct pm_strtab grown = *t;
	grown.n_slots = t->n_slots ? 2 * t->n_slots : FIRST_ROOM;
	grown.slots = pm_arena_zeroed(t->home, grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; i < t->n; i++)
		*strtab_slot(&grown, t->items[i]) = i + 1;
	pm_arena_free(t->home, t->slots);
	*t = grown;
	return true;
}

/* The items as seen by their owner; const for everybody else. */
static struct pm_bytes *own_items(const struct pm_strtab *t)
{
	return (struct pm_bytes *)(uintptr_t)t->items;
}

static uint32_t no_index(const struct pm_strtab *t)
{
	pm_arena_failed(t->home);
	return UINT32_MAX;
}

uint32_t pm_strtab_add(struct pm_strtab *t, struct pm_bytes b)
{
	if (pm_work_cancelled() || (is_full(t->n, t->n_slots) && !strtab_grow(t)))
		return no_index(t);
	uint32_t *slot = strtab_slot(t, b);
	if (*slot)
		return *slot - 1;
	if (t->n >= PM_LIMIT_ITEMS ||
		pm_list_room_in(t->home, &t->items, t->n, &t->room, sizeof(b)) < 0)
		return no_index(t);
	if (t->arena)
		b = pm_arena_copy(t->arena, b);
	if (t->arena && !b.p)
		return UINT32_MAX;
	own_items(t)[t->n] = b;
	*slot = ++t->n;
	return t->n - 1;
}

uint32_t pm_strtab_add_lasting(struct pm_strtab *t, struct pm_bytes b)
{
	bool fresh;
	if (b.len <= PM_STRTAB_LONG)
		return pm_strtab_add(t, b);
	uint32_t *known = pm_map_put(&t->lasting, (uintptr_t)b.p, UINT32_MAX, &fresh);
	if (!known)
		return UINT32_MAX;
	/* A shorter text at the same address may have been added before. */
	if (*known == UINT32_MAX || t->items[*known].len != b.len)
		*known = pm_strtab_add(t, b);
	return *known;
}

void pm_strtab_forget(struct pm_strtab *t)
{
	pm_map_done(&t->lasting);
}

uint32_t pm_strtab_find(const struct pm_strtab *t, struct pm_bytes b)
{
	return t->n ? *strtab_slot(t, b) - 1 : UINT32_MAX; /* 0 - 1: none */
}

void pm_strtab_done(struct pm_strtab *t)
{
	pm_arena_free(t->home, t->slots);
	pm_arena_free(t->home, own_items(t));
	pm_map_done(&t->lasting);
	*t = (struct pm_strtab){.arena = NULL};
}

/*
 * ==== prints ====
 * The salt is the address of the first table, so the hashes stay the same when the table grows.
 */

enum { FIRST_SLOTS = 64 };

int pm_fingerprints_grow(struct pm_fingerprints *p)
{
	struct pm_fingerprints grown = *p;
	grown.n_slots = p->n_slots ? 2 * p->n_slots : FIRST_SLOTS;
	grown.slots = pm_arena_zeroed(p->arena, grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	if (!p->slots)
		grown.salt = (uintptr_t)grown.slots;
	for (size_t i = 0; i < p->n_slots; i++) {
		struct pm_print print = p->slots[i];
		size_t at = pm_fingerprints_first(&grown, print.hash);
		while (grown.slots[at].item)
			at = (at + 1) & (grown.n_slots - 1);
		if (print.item)
			grown.slots[at] = print;
	}
	pm_arena_free(p->arena, p->slots);
	*p = grown;
	return 0;
}

void pm_fingerprints_done(struct pm_fingerprints *p)
{
	pm_arena_free(p->arena, p->slots);
	*p = (struct pm_fingerprints){.arena = p->arena};
}
