/* Hash tables with open addressing: numbers → numbers, and interned strings. */
#ifndef PROFMOUNT_MAP_H
#define PROFMOUNT_MAP_H

#include "formats/common/arena.h"

/* 64-bit key → 32-bit value. Zeroed = empty. Not thread-safe. */
struct pm_map {
	struct pm_map_slot *slots;
	size_t n, room;
};

/* The value of a key, or NULL; valid until the next put. */
uint32_t *pm_map_find(const struct pm_map *m, uint64_t key);

/*
 * The value of a key, inserted as `fresh` if the key is new (see *ret_new); NULL if out of memory.
 */
uint32_t *pm_map_put(struct pm_map *m, uint64_t key, uint32_t fresh, bool *ret_new);

void pm_map_done(struct pm_map *m);

/* Interned strings: equal strings have the same index, counted from 0 in order of insertion. */
struct pm_strtab {
	struct pm_arena *arena; /* for copies; NULL: the strings outlive the table */
	const struct pm_bytes *items;
	uint32_t n;
	size_t room;
	uint32_t *slots;
	size_t n_slots;
	struct pm_map lasting; /* place of a long text → index; see pm_strtab_add_lasting */
};

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

#endif
