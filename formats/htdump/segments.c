/* Recently read segments: readers request one in several steps. */
#include <pthread.h>
#include <stdlib.h>

#include "formats/htdump/contexts.h"

enum { N_SEGMENTS = 8 };

struct htd_segments {
	pthread_mutex_t lock;
	unsigned next; /* the next to be replaced */
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

size_t htd_segment_copy(
	const struct htd_segment *seg, uint64_t first, struct pm_sample *ret, size_t room)
{
	uint64_t from = first % HTD_MARK;
	if (from >= seg->n)
		return 0;
	size_t n = seg->n - (size_t)from < room ? seg->n - (size_t)from : room;
	memcpy(ret, &seg->samples[from], n * sizeof(*ret));
	return n;
}

bool htd_segments_look(struct htd_segments *s, uint32_t lane, uint64_t first, struct pm_sample *ret,
	size_t room, size_t *ret_n)
{
	bool found = false;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < N_SEGMENTS && !found; i++) {
		const struct htd_segment *seg = s->items[i];
		found = seg && seg->lane == lane && seg->mark == first / HTD_MARK;
		if (found)
			*ret_n = htd_segment_copy(seg, first, ret, room);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

void htd_segments_keep(struct htd_segments *s, struct htd_segment *seg)
{
	pthread_mutex_lock(&s->lock);
	struct htd_segment *old = s->items[s->next];
	s->items[s->next] = seg;
	s->next = (s->next + 1) % N_SEGMENTS;
	pthread_mutex_unlock(&s->lock);
	free(old);
}
