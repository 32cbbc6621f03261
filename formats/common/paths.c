/*
 * A child is looked up in three places, in this order: the last one asked for (in the parent's
 * cache line), one of the first three (in the same line), and a slot of one table for the further
 * children of all paths. Most paths have few children and are not in the table, and for a path
 * without a fourth child the table need not be searched. A slot has a number and half of the hash,
 * and a path is only accessed if that half matches. The hash is salted with the table's address,
 * because the input chooses the keys and must not be able to make them collide. No order depends on
 * it.
 */
#include "formats/common/paths.h"

#include <errno.h>

#include "formats/common/map.h"
#include "formats/common/work.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

enum { ROOM_FIRST = 15, SLOTS_FIRST = 64, JOIN_STEP = 1 << 12 };

struct pm_path_slot {
	uint32_t print; /* the upper half of the hash */
	uint32_t path;  /* + 1; 0 = free */
};

static const struct pm_path_children no_children = {
	.last = PM_NONE, .child = {PM_NONE, PM_NONE, PM_NONE}};

/* The items as seen by their owner; const for everybody else. */
static struct pm_path *own_items(const struct pm_paths *p)
{
	return (struct pm_path *)(uintptr_t)p->items;
}

static int grow_items(struct pm_paths *p, size_t room)
{
	struct pm_path *items = pm_arena_realloc(p->arena, own_items(p), room * sizeof(*items));
	if (!items)
		return -ENOMEM;
	pm_use_huge_pages(items, room * sizeof(*items));
	p->items = items;
	struct pm_path_children *children =
		pm_arena_realloc(p->arena, p->children, (room + 1) * sizeof(*children));
	if (!children)
		return -ENOMEM;
	pm_use_huge_pages(children, (room + 1) * sizeof(*children));
	p->children = children;
	p->room = room;
	return 0;
}

void pm_paths_done(struct pm_paths *p)
{
	pm_arena_free(p->arena, own_items(p));
	pm_arena_free(p->arena, p->children);
	pm_arena_free(p->arena, p->slots);
	*p = (struct pm_paths){.items = NULL};
}

static int init(struct pm_arena *a, struct pm_paths *p, uint32_t most)
{
	*p = (struct pm_paths){.most = most < PM_LIMIT_ITEMS ? most : PM_LIMIT_ITEMS, .arena = a};
	if (grow_items(p, ROOM_FIRST) < 0) {
		pm_paths_done(p);
		return -ENOMEM;
	}
	p->children[0] = no_children;
	return 0;
}

int pm_paths_init(struct pm_paths *p, uint32_t most)
{
	return init(NULL, p, most);
}

void pm_paths_init_in(struct pm_arena *a, struct pm_paths *p, uint32_t most)
{
	init(a, p, most);
}

/* ---- the table ---- */

static uint64_t hash(const struct pm_path_slot *salt, uint32_t parent, uint32_t key)
{
	return pm_hash_u64(((uint64_t)parent << 32 | key) ^ (uintptr_t)salt);
}

/* The slot of a child, or the free slot where it belongs; there is a free slot. */
static struct pm_path_slot *slot_of(
	const struct pm_paths *p, uint64_t hash, uint32_t parent, uint32_t key)
{
	uint32_t print = (uint32_t)(hash >> 32);
	for (uint64_t at = hash;; at++) {
		struct pm_path_slot *slot = &p->slots[at & (p->n_slots - 1)];
		if (slot->path == 0)
			return slot;
		if (slot->print != print)
			continue;
		const struct pm_path *path = &p->items[slot->path - 1];
		if (path->key == key && path->parent == parent)
			return slot;
	}
}

static int grow_slots(struct pm_paths *p)
{
	struct pm_paths grown = *p;
	grown.n_slots = p->n_slots ? 2 * p->n_slots : SLOTS_FIRST;
	grown.slots = pm_arena_zeroed(p->arena, grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_slots; i++) {
		if (p->slots[i].path == 0)
			continue;
		struct pm_path path = p->items[p->slots[i].path - 1];
		uint64_t h = hash(grown.slots, path.parent, path.key);
		*slot_of(&grown, h, path.parent, path.key) =
			(struct pm_path_slot){(uint32_t)(h >> 32), p->slots[i].path};
	}
	pm_arena_free(p->arena, p->slots);
	*p = grown;
	return 0;
}

/* ---- steps ---- */

/* Reserves memory for one more path, so that what follows cannot fail halfway. */
static int make_room(struct pm_paths *p)
{
	if (p->n >= p->room && grow_items(p, 2 * p->room + 1) < 0)
		return -ENOMEM;
	if (p->n_taken >= p->n_slots - p->n_slots / 4)
		return grow_slots(p);
	return 0;
}

static uint32_t add(struct pm_paths *p, uint32_t parent, uint32_t key)
{
	if (p->n >= p->most)
		return PM_PATHS_FULL;
	if (make_room(p) < 0)
		return PM_NONE;
	struct pm_path_children *children = &p->children[(size_t)(uint32_t)(parent + 1)];
	uint32_t path = p->n++;
	size_t i = 0;
	own_items(p)[path] = (struct pm_path){parent, key};
	p->children[(size_t)path + 1] = no_children;
	while (i < PM_PATHS_INLINE && children->child[i] != PM_NONE)
		i++;
	if (i < PM_PATHS_INLINE) {
		children->key[i] = key;
		children->child[i] = path;
	} else {
		uint64_t h = hash(p->slots, parent, key);
		*slot_of(p, h, parent, key) = (struct pm_path_slot){(uint32_t)(h >> 32), path + 1};
		p->n_taken++;
	}
	children->last_key = key;
	children->last = path;
	return path;
}

uint32_t pm_paths_find(struct pm_paths *p, uint32_t parent, uint32_t key)
{
	struct pm_path_children *children = &p->children[(size_t)(uint32_t)(parent + 1)];
	uint32_t path = PM_NONE;
	for (size_t i = 0; i < PM_PATHS_INLINE && path == PM_NONE; i++) {
		if (children->child[i] == PM_NONE)
			return add(p, parent, key);
		if (children->key[i] == key)
			path = children->child[i];
	}
	if (path == PM_NONE && p->n_slots) {
		uint64_t h = hash(p->slots, parent, key);
		path = slot_of(p, h, parent, key)->path - 1; /* 0 - 1: none */
	}
	if (path == PM_NONE)
		return add(p, parent, key);
	children->last_key = key;
	children->last = path;
	return path;
}

int pm_paths_join(struct pm_paths *to, uint32_t top, const struct pm_paths *from,
	const uint32_t *keys, uint32_t *ret_place)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const struct pm_path *path = &from->items[i];
		uint32_t parent = path->parent == PM_NONE ? top : ret_place[path->parent];
		ret_place[i] = pm_paths_child(to, parent, keys ? keys[path->key] : path->key);
		if (ret_place[i] == PM_NONE || (i % JOIN_STEP == 0 && pm_work_cancelled()))
			return -ENOMEM;
	}
	return 0;
}

void pm_paths_link(const struct pm_paths *p, uint32_t *ret_first, uint32_t *ret_next)
{
	for (size_t i = 0; i <= p->n; i++)
		ret_first[i] = PM_NONE;
	for (uint32_t i = p->n; i-- > 0;) {
		uint32_t *first = &ret_first[(uint32_t)(p->items[i].parent + 1)];
		ret_next[i] = *first;
		*first = i;
	}
}
