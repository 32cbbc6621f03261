/* Sorting of arrays that may be large, in work that may be cancelled. */
#ifndef PROFMOUNT_SORT_H
#define PROFMOUNT_SORT_H

#include <stddef.h>

/*
 * Sorts n items of `size` bytes each, like qsort but stable. Returns 0, or -ENOMEM if there is no
 * memory for a copy of the items or the work is cancelled (formats/common/work.h): the items are
 * then in any order, each of them still once. `items` may be NULL if n is 0.
 */
int pm_sort(void *items, size_t n, size_t size, int (*compare)(const void *a, const void *b));

/* The same for comparisons that need more than the items. */
int pm_sort_with(void *items, size_t n, size_t size,
	int (*compare)(const void *a, const void *b, void *context), void *context);

#endif
