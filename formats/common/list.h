/*
 * Growing arrays: `struct thing *items; size_t n, room;` and one function.
 */
#ifndef PROFMOUNT_LIST_H
#define PROFMOUNT_LIST_H

#include <stddef.h>

#include "formats/common/arena.h"
#include "profmount/error.h"
#include "profmount/limits.h"

/*
 * Makes room for item n of `*items` (items of `size` bytes, `*room` of them allocated), growing by
 * half. 0 or -ENOMEM, with everything unchanged. The caller frees `*items`.
 */
int pm_list_room(void *items, size_t n, size_t *room, size_t size);

/* The same in an arena, unless that is NULL. It frees the items. */
int pm_list_room_in(struct pm_arena *a, void *items, size_t n, size_t *room, size_t size);

/* The same in a build (arena.h), which fails in place of the function. */
static inline void pm_list_grow(
	struct pm_arena *a, void *items, size_t n, size_t *room, size_t size)
{
	if (n >= *room)
		pm_build_check(a, pm_list_room_in(a, items, n, room, size));
}

/* The same for items whose indexes have 32 bits. */
static inline void pm_items_grow(
	struct pm_arena *a, void *items, size_t n, size_t *room, size_t size)
{
	if (n >= PM_LIMIT_ITEMS)
		pm_build_fail(a, PM_NO_MEMORY);
	pm_list_grow(a, items, n, room, size);
}

#endif
