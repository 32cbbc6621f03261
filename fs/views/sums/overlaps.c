/*
 * Lanes: a slice is put on the first one where it nests in the open slices or follows them. Slices
 * that fit nowhere are left out. A call that the tree has below the open one may end one unit of
 * the writer's clock after it: it is shown as it was recorded.
 */
#include "fs/views/sums/overlaps.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

static int outer_first(const void *a, const void *b)
{
	const struct pmfs_slice *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* The ends and depths of slices that are open on a lane, innermost last. */
struct lane {
	struct open_slice {
		uint64_t end;
		uint32_t depth;
	} * open;
	size_t n, room;
};

/* 1 if the slice nests on the lane, and is put there; 0 if not. */
static int try_lane(struct lane *lane, const struct pmfs_slice *slice, uint64_t unit)
{
	uint64_t end = slice->end_ns;
	while (lane->n > 0 && lane->open[lane->n - 1].end <= slice->start_ns)
		lane->n--;
	if (lane->n > 0 && lane->open[lane->n - 1].end < end) {
		const struct open_slice *outer = &lane->open[lane->n - 1];
		if (outer->depth + 1 != slice->depth || end - outer->end > unit)
			return 0;
		end = outer->end;
	}
	if (pm_list_room(&lane->open, lane->n, &lane->room, sizeof(*lane->open)) < 0)
		return -ENOMEM;
	lane->open[lane->n++] = (struct open_slice){end, slice->depth};
	return 1;
}

static int find_lane(struct lane *lanes, struct pmfs_slice *slice, uint64_t unit)
{
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < PMFS_MAX_LANES; i++) {
		slice->lane = i;
		r = try_lane(&lanes[i], slice, unit);
	}
	return r;
}

int pmfs_slices_nest(struct pmfs_slices *s, size_t first)
{
	struct lane lanes[PMFS_MAX_LANES] = {{.n = 0}};
	size_t kept = first;
	uint64_t unit = 1000;
	int r = 0;
	if (s->n > first)
		r = pm_sort(s->slices + first, s->n - first, sizeof(*s->slices), outer_first);
	/* The clock has whole µs, or ns. */
	for (size_t i = first; i < s->n && unit > 1; i++)
		if (s->slices[i].start_ns % 1000 || s->slices[i].end_ns % 1000)
			unit = 1;
	for (size_t i = first; r >= 0 && i < s->n; i++) {
		s->slices[kept] = s->slices[i];
		r = find_lane(lanes, &s->slices[kept], unit);
		kept += r > 0;
	}
	s->n_left_out += s->n - kept;
	s->n = kept;
	for (size_t i = 0; i < PMFS_MAX_LANES; i++)
		free(lanes[i].open);
	return r < 0 ? r : 0;
}
