#include "formats/common/zeroed.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Smaller memory has often been used before. */
enum { PAGE = 4096, FROM = 64 * PAGE };

void *pm_zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);
#ifdef MADV_POPULATE_WRITE
	if (p && n * size >= FROM) {
		uintptr_t begin = (uintptr_t)p & ~(uintptr_t)(PAGE - 1);
		uintptr_t end = ((uintptr_t)p + n * size) & ~(uintptr_t)(PAGE - 1);
		/* If it fails, as before Linux 5.14: as from calloc. */
		madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
	}
#endif
	return p;
}
