/*
 * All records in the order of their times. Each buffer of a processor was written in order, so that
 * samples come in runs: only where a run begins is remembered, and runs are merged. Records other
 * than samples are few; each is remembered.
 */
#include <errno.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/perf/data.h"

/* A run while it is read: what comes next in it. */
struct perf_cursor {
	struct perf_place next;
	const uint8_t *end; /* of its stream */
	uint32_t left;      /* samples, with the next one */
	bool timed;         /* samples have times; else they have that of the run */
};

static bool is_before(const struct perf_place *a, const struct perf_place *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static int by_time(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

/* Goes to the next sample of a run; false: there is none. */
static bool step(const struct perf *f, struct perf_cursor *c)
{
	struct perf_place *at = &c->next;
	struct perf_sample s;
	if (--c->left == 0)
		return false;
	for (;;) {
		/* The file may have been written anew since. */
		if ((size_t)(c->end - at->p) < (size_t)at->size + 8)
			return false;
		at->p += at->size;
		at->type = (uint16_t)perf_type(f, at->p);
		at->size = perf_half(f, at->p + 6);
		if (at->size < 8 || at->size > c->end - at->p)
			return false;
		if (perf_type(f, at->p) == SAMPLE && perf_read_sample(f, perf_body(at), &s))
			break;
	}
	/* Its turn comes after those of the other processors. */
	pm_bytes_prefetch((struct pm_bytes){at->p, (size_t)(c->end - at->p)}, 768, 320);
	at->order++;
	if (c->timed)
		at->time = s.time;
	return true;
}

/* Moves the cursor at `i` down to where it belongs; the first one is the earliest. */
static void sink(struct perf_cursor *heap, size_t n, size_t i)
{
	struct perf_cursor c = heap[i];
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_before(&heap[child + 1].next, &heap[child].next))
			child++;
		if (!is_before(&heap[child].next, &c.next))
			break;
		heap[i] = heap[child];
	}
	heap[i] = c;
}

static void rise(struct perf_cursor *heap, size_t i)
{
	struct perf_cursor c = heap[i];
	for (; i > 0 && is_before(&c.next, &heap[(i - 1) / 2].next); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = c;
}

void perf_sort(struct perf *f)
{
	pm_build_check(&f->arena, pm_sort(f->places, f->n_places, sizeof(*f->places), by_time));
	pm_build_check(&f->arena, pm_sort(f->runs, f->n_runs, sizeof(*f->runs), by_time));
}

int perf_order_next(const struct perf *f, struct perf_order *o, struct perf_place *ret)
{
	for (;;) {
		struct perf_cursor *heap = o->heap;
		const struct perf_place *other =
			o->place < f->n_places ? &f->places[o->place] : NULL;
		const struct perf_run *fresh = o->run < f->n_runs ? &f->runs[o->run] : NULL;
		if (fresh && (!o->n || is_before(&fresh->first, &heap[0].next))) {
			struct pm_bytes stream = f->streams[fresh->stream];
			if (pm_list_room_in(o->arena, &o->heap, o->n, &o->room, sizeof(*o->heap)) <
				0)
				return -ENOMEM;
			o->heap[o->n++] = (struct perf_cursor){.next = fresh->first,
				.end = stream.p + stream.len,
				.left = fresh->n,
				.timed = fresh->timed};
			rise(o->heap, o->n - 1);
			o->run++;
		} else if (other && (!o->n || is_before(other, &heap[0].next))) {
			*ret = *other;
			o->place++;
			return 1;
		} else if (o->n) {
			*ret = heap[0].next;
			if (!step(f, &heap[0]))
				heap[0] = heap[--o->n];
			if (o->n)
				sink(heap, o->n, 0);
			return 1;
		} else {
			return 0;
		}
	}
}
