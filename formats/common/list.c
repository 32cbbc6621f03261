/* Growing arrays. */
#include "formats/common/list.h"

#include <errno.h>
#include <string.h>

int pm_list_room_in(struct pm_arena *a, void *items, size_t n, size_t *room, size_t size)
{
	void *old;
	size_t bytes;
	if (n < *room)
		return 0;
	size_t grown = n + n / 2 + 16;
	if (grown <= n || __builtin_mul_overflow(grown, size, &bytes))
		return -ENOMEM;
	memcpy(&old, items, sizeof(old)); /* avoids aliasing */
	void *p = pm_arena_realloc(a, old, bytes);
	if (!p)
		return -ENOMEM;
	pm_use_huge_pages(p, bytes);
	memcpy(items, &p, sizeof(p));
	*room = grown;
	return 0;
}

int pm_list_room(void *items, size_t n, size_t *room, size_t size)
{
	return pm_list_room_in(NULL, items, n, room, size);
}
