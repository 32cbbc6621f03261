/*
 * Samples of threads: segments between marks, regenerated on request. The last few are kept,
 * because readers request one segment in several steps.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/htdump/parts.h"

/* From `first` to the end of its segment, at most. */
static int64_t piece(struct htd_opened *src, uint32_t lane, uint64_t first, struct pm_sample *ret,
	size_t room, struct pm_error *err)
{
	const struct htd_calls *calls;
	const struct pm_map *children;
	size_t n;
	if (htd_segments_look(src->segments, lane, first, ret, room, &n))
		return (int64_t)n;
	int r = htd_calls_get(src, &calls, err);
	if (r == 0)
		r = htd_children_get(src, &children, err);
	if (r < 0)
		return r;
	struct htd_segment *seg = malloc(sizeof(*seg));
	if (!seg)
		return pm_error_plain(err, -ENOMEM);
	seg->lane = lane;
	seg->mark = first / HTD_MARK;
	r = htd_segment_read(calls, children, seg, err);
	if (r < 0) {
		free(seg);
		return r;
	}
	n = htd_segment_copy(seg, first, ret, room);
	htd_segments_keep(src->segments, seg);
	return (int64_t)n;
}

int64_t htd_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct htd_opened *src = htd_opened_of(p);
	size_t n = 0;
	int r = htd_scan_get(src, err);
	if (r < 0)
		return r;
	while (n < room && first + n < src->threads.threads[thread].n_samples) {
		int64_t more = piece(src, thread, first + n, ret + n, room - n, err);
		if (more < 0)
			return more;
		if (more == 0)
			break;
		n += (size_t)more;
	}
	return (int64_t)n;
}
