#include "formats/hpctoolkit/sharing.h"

#include <errno.h>

#include "formats/common/sort.h"

static int by_end(const void *a, const void *b)
{
	const struct hpctk_stretch *x = a, *y = b;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

int hpctk_sharing_mark(struct hpctk_stretch *stretches, size_t n, uint8_t *marks)
{
	uint64_t reach = 0;
	if (pm_sort(stretches, n, sizeof(*stretches), by_end) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (stretches[i].at >= reach)
			reach = stretches[i].end;
		else
			marks[stretches[i].row / 8] |= (uint8_t)(1u << stretches[i].row % 8);
	}
	return 0;
}
