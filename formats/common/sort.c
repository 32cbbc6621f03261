/* Runs sorted by qsort_r, then merged in pairs between the array and a copy. */
#include "formats/common/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"

enum { RUN = 1 << 14 }; /* items: about a millisecond */

struct sorting {
	size_t n, size;
	int (*compare)(const void *a, const void *b, void *context);
	void *context;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool sort_runs(const struct sorting *s, char *items)
{
	for (size_t at = 0; at < s->n; at += RUN) {
		if (pm_work_cancelled())
			return false;
		qsort_r(items + at * s->size, smaller(RUN, s->n - at), s->size, s->compare,
			s->context);
	}
	return true;
}

/* Merges the neighbouring runs [first, middle) and [middle, end) into `to`. */
static bool merge(const struct sorting *s, const char *from, char *to, size_t first, size_t middle,
	size_t end)
{
	size_t a = first, b = middle, size = s->size;
	for (size_t at = first; at < end; at++) {
		if (at % RUN == 0 && pm_work_cancelled())
			return false;
		bool left = b == end ||
			(a < middle &&
				s->compare(from + a * size, from + b * size, s->context) <= 0);
		memcpy(to + at * size, from + (left ? a++ : b++) * size, size);
	}
	return true;
}

/* One pass over all runs of that length; false if cancelled: `from` is then still complete. */
static bool merge_runs(const struct sorting *s, const char *from, char *to, size_t length)
{
	for (size_t at = 0; at < s->n; at += 2 * length) {
		size_t middle = at + smaller(length, s->n - at);
		if (!merge(s, from, to, at, middle, middle + smaller(length, s->n - middle)))
			return false;
	}
	return true;
}

/* Much of what is sorted is in order already; in what is not, that is soon seen. */
static bool in_order(const struct sorting *s, const char *items)
{
	size_t i = 1;
	while (i < s->n &&
		s->compare(items + (i - 1) * s->size, items + i * s->size, s->context) <= 0)
		if (i++ % RUN == 0 && pm_work_cancelled())
			return false;
	return i >= s->n;
}

int pm_sort_with(void *items, size_t n, size_t size,
	int (*compare)(const void *a, const void *b, void *context), void *context)
{
	const struct sorting s = {n, size, compare, context};
	char *from = items, *copy = NULL;
	if (in_order(&s, items))
		return 0;
	if (n > RUN && !(copy = malloc(n * size)))
		return -ENOMEM;
	bool good = sort_runs(&s, items);
	char *to = copy;
	for (size_t length = RUN; good && length < n; length *= 2) {
		good = merge_runs(&s, from, to, length);
		if (good) {
			char *merged = to;
			to = from;
			from = merged;
		}
	}
	if (from != items)
		memcpy(items, from, n * size);
	free(copy);
	return good ? 0 : -ENOMEM;
}

static int compare_plainly(const void *a, const void *b, void *context)
{
	int (*const *compare)(const void *a, const void *b) = context;
	return (*compare)(a, b);
}

int pm_sort(void *items, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
	return pm_sort_with(items, n, size, compare_plainly, &compare);
}
