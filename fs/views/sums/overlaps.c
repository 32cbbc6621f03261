/*
 * Lanes: a slice is put on the first one where it nests in the open slices or follows them. Slices
 * that fit nowhere are left out.
 */
#include "fs/views/sums/overlaps.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

enum { MAX_LANES = 64 };

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

/* The ends of slices that are open on a lane, innermost last. */
struct lane {
	uint64_t *ends;
	size_t n, room;
};

/* 1 if the slice nests on the lane, and is put there; 0 if not. */
static int try_lane(struct lane *lane, const struct pmfs_slice *slice)
{
	while (lane->n > 0 && lane->ends[lane->n - 1] <= slice->start_ns)
		lane->n--;
	if (lane->n > 0 && lane->ends[lane->n - 1] < slice->end_ns)
		return 0;
	if (pm_list_room(&lane->ends, lane->n, &lane->room, sizeof(*lane->ends)) < 0)
		return -ENOMEM;
	lane->ends[lane->n++] = slice->end_ns;
	return 1;
}

static int find_lane(struct lane *lanes, struct pmfs_slice *slice)
{
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < MAX_LANES; i++) {
		slice->lane = i;
		r = try_lane(&lanes[i], slice);
	}
	return r;
}

int pmfs_slices_nest(struct pmfs_slices *s, size_t first)
{
	struct lane lanes[MAX_LANES] = {{.n = 0}};
	size_t kept = first;
	int r = 0;
	if (s->n > first)
		r = pm_sort(s->slices + first, s->n - first, sizeof(*s->slices), outer_first);
	for (size_t i = first; r >= 0 && i < s->n; i++) {
		s->slices[kept] = s->slices[i];
		r = find_lane(lanes, &s->slices[kept]);
		kept += r > 0;
	}
	s->n_left_out += s->n - kept;
	s->n = kept;
	for (size_t i = 0; i < MAX_LANES; i++)
		free(lanes[i].ends);
	return r < 0 ? r : 0;
}
