/* Memory of arrays and large tables. */
#include "formats/common/list.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int pm_list_room(void *items, size_t n, size_t *room, size_t size)
{
	void *old;
	size_t bytes;
	if (n < *room)
		return 0;
	size_t grown = n + n / 2 + 16;
	if (grown <= n || __builtin_mul_overflow(grown, size, &bytes))
		return -ENOMEM;
	memcpy(&old, items, sizeof(old)); /* avoids aliasing */
	void *p = realloc(old, bytes);
	if (!p)
		return -ENOMEM;
	pm_use_huge_pages(p, bytes);
	memcpy(items, &p, sizeof(p));
	*room = grown;
	return 0;
}

/* ==== large tables ==== */

/* Memory below WRITABLE_FROM has often been used before. */
enum { PAGE = 4096, WRITABLE_FROM = 64 * PAGE, HUGE_FROM = 4 << 20 };

static uintptr_t page_of(uintptr_t p)
{
	return p & ~(uintptr_t)(PAGE - 1);
}

/*
 * Whole mappings, including the page with malloc's own bytes, are advised: a mapping in two parts
 * cannot be moved when it grows, and would be copied.
 */
void pm_use_huge_pages(void *items, size_t bytes)
{
	uintptr_t begin = page_of((uintptr_t)items);
	uintptr_t end = page_of((uintptr_t)items + bytes + PAGE - 1);
	if (bytes >= HUGE_FROM)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* if it fails: as before */
}

void *pm_zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);
	if (!p || n * size < WRITABLE_FROM)
		return p;
	pm_use_huge_pages(p, n * size);
#ifdef MADV_POPULATE_WRITE
	/* If it fails, as before Linux 5.14: as from calloc. */
	uintptr_t begin = page_of((uintptr_t)p), end = page_of((uintptr_t)p + n * size);
	madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#endif
	return p;
}
