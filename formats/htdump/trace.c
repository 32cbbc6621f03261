/*
 * Samples of threads: segments between marks, made again when asked for; the last few are kept,
 * because readers ask for one segment in several steps.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/htdump/source.h"

enum { N_SEGMENTS = 8 };

struct htd_segments {
	pthread_mutex_t lock;
	unsigned next; /* to be replaced */
	struct htd_segment *items[N_SEGMENTS];
};

struct htd_segments *htd_segments_new(void)
{
	struct htd_segments *s = calloc(1, sizeof(*s));
	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void htd_segments_free(struct htd_segments *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < N_SEGMENTS; i++)
		free(s->items[i]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static size_t copy_out(
	const struct htd_segment *seg, uint64_t first, struct pm_sample *ret, size_t room)
{
	uint64_t from = first % HTD_MARK;
	if (from >= seg->n)
		return 0;
	size_t n = seg->n - (size_t)from < room ? seg->n - (size_t)from : room;
	memcpy(ret, &seg->samples[from], n * sizeof(*ret));
	return n;
}

static bool look(struct htd_segments *s, uint32_t lane, uint64_t first, struct pm_sample *ret,
	size_t room, size_t *ret_n)
{
	bool found = false;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < N_SEGMENTS && !found; i++) {
		const struct htd_segment *seg = s->items[i];
		found = seg && seg->lane == lane && seg->mark == first / HTD_MARK;
		if (found)
			*ret_n = copy_out(seg, first, ret, room);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

static void keep(struct htd_segments *s, struct htd_segment *seg)
{
	pthread_mutex_lock(&s->lock);
	struct htd_segment *old = s->items[s->next];
	s->items[s->next] = seg;
	s->next = (s->next + 1) % N_SEGMENTS;
	pthread_mutex_unlock(&s->lock);
	free(old);
}

/* From `first` to the end of its segment, at most. */
static int64_t piece(struct htd_source *src, uint32_t lane, uint64_t first, struct pm_sample *ret,
	size_t room, struct pm_error *err)
{
	const struct htd_calls *calls;
	size_t n;
	if (look(src->segments, lane, first, ret, room, &n))
		return (int64_t)n;
	int r = htd_calls_get(src, &calls, err);
	if (r < 0)
		return r;
	struct htd_segment *seg = malloc(sizeof(*seg));
	if (!seg)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	seg->lane = lane;
	seg->mark = first / HTD_MARK;
	r = htd_segment_read(calls, seg, err);
	if (r < 0) {
		free(seg);
		return r;
	}
	n = copy_out(seg, first, ret, room);
	keep(src->segments, seg);
	return (int64_t)n;
}

int64_t htd_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct htd_source *src = htd_source_of(p);
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
