/*
 * Walking the calls of a thread in time order, with a stack of those that are open: the parent of
 * a call is the innermost one that holds it whole. Before every HTD_MARKth call the open ones are
 * noted, so that samples can be made again from there (segment.c) without keeping calls.
 */
#include "formats/htdump/lane.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

/* An open call. */
struct frame {
	uint64_t start, duration, self;
	htd_place place;
	uint32_t path;
	uint32_t open; /* once noted */
};

struct walker {
	struct htd_lane_walk *w;
	struct pm_map children; /* path + 1, 0 at the top << 32 | label → path */
	struct pm_text scratch;
	struct frame *stack;
	size_t depth, room;
	size_t n_noted; /* frames from the bottom that are noted */
};

static void close_call(struct walker *k)
{
	const struct frame *f = &k->stack[--k->depth];
	if (f->open != HTD_NONE)
		k->w->lane.opens[f->open].self = f->self;
	if (k->n_noted > k->depth)
		k->n_noted = k->depth;
}

static void close_until(struct walker *k, uint64_t start, uint64_t duration)
{
	bool overlaps = false;
	while (k->depth) {
		const struct frame *f = &k->stack[k->depth - 1];
		if (htd_call_holds(f->start, f->duration, start, duration))
			break;
		overlaps = overlaps || start - f->start < f->duration;
		close_call(k);
	}
	k->w->overlapping += overlaps;
}

/* The path of that label below the innermost open call. */
static int path_of(struct walker *k, uint32_t label, uint32_t *ret)
{
	struct htd_lane_walk *w = k->w;
	uint32_t parent = k->depth ? k->stack[k->depth - 1].path : PM_NONE;
	bool fresh;
	const uint32_t *path = pm_map_put(&k->children,
		(uint64_t)(uint32_t)(parent + 1) << 32 | label, w->lane.n_contexts, &fresh);
	if (!path)
		return -ENOMEM;
	*ret = *path;
	if (!fresh)
		return 0;
	if (*ret >= PM_LIMIT_ITEMS ||
		pm_list_room(&w->paths, *ret, &w->path_room, sizeof(*w->paths)) < 0)
		return -ENOMEM;
	w->paths[w->lane.n_contexts++] =
		(struct htd_path){.parent = parent, .label = label, .min = UINT64_MAX};
	return 0;
}

static void path_count(struct htd_path *path, uint64_t duration)
{
	path->calls++;
	path->min = duration < path->min ? duration : path->min;
	path->max = duration > path->max ? duration : path->max;
	path->incl += duration;
	path->excl += duration;
}

static int open_call(struct walker *k, const struct htd_sorted_event *sorted)
{
	const struct htd_event *e = &sorted->event;
	struct htd_lane *lane = &k->w->lane;
	struct frame f = {
		.start = e->header.timestamp, .place = sorted->key.place, .open = HTD_NONE};
	uint64_t thread, end;
	if (!htd_event_call(e, &f.duration, &thread))
		return -EIO;
	f.self = f.duration;
	if (__builtin_add_overflow(f.start, f.duration, &end))
		end = UINT64_MAX;
	lane->end = end > lane->end ? end : lane->end;
	uint32_t label = htd_labels_add(&k->w->labels, e, &k->scratch);
	if (label == HTD_NONE)
		return -ENOMEM;
	close_until(k, f.start, f.duration);
	if (path_of(k, label, &f.path) < 0 ||
		pm_list_room(&k->stack, k->depth, &k->room, sizeof(f)) < 0)
		return -ENOMEM;
	if (k->depth == PM_LIMIT_DEPTH)
		return -ENOTSUP;
	path_count(&k->w->paths[f.path], f.duration);
	if (k->depth) {
		struct frame *caller = &k->stack[k->depth - 1];
		caller->self -= f.duration;
		k->w->paths[caller->path].excl -= f.duration;
	}
	k->stack[k->depth++] = f;
	return 0;
}

/* Notes the open calls that no earlier mark has noted, and the innermost one for this mark. */
static int mark(struct walker *k, const struct htd_sorted *cursor)
{
	struct htd_lane *lane = &k->w->lane;
	for (; k->n_noted < k->depth; k->n_noted++) {
		struct frame *f = &k->stack[k->n_noted];
		if (lane->n_opens >= PM_LIMIT_ITEMS ||
			pm_list_room(&lane->opens, lane->n_opens, &lane->opens_room,
				sizeof(*lane->opens)) < 0)
			return -ENOMEM;
		f->open = (uint32_t)lane->n_opens;
		lane->opens[lane->n_opens++] = (struct htd_open){
			.place = f->place,
			.context = f->path,
			.parent = k->n_noted ? k->stack[k->n_noted - 1].open : HTD_NONE,
		};
	}
	size_t n = lane->order.n_marks;
	if (pm_list_room(&lane->open, n, &lane->open_room, sizeof(*lane->open)) < 0)
		return -ENOMEM;
	lane->open[n] = k->depth ? k->stack[k->depth - 1].open : HTD_NONE;
	return htd_order_mark(&lane->order, cursor);
}

static int walk(struct walker *k)
{
	struct htd_order *order = &k->w->lane.order;
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	int r = htd_sorted_start(&cursor, order, NULL);
	for (uint64_t n = 0; r >= 0; n++) {
		if (n % HTD_MARK == 0)
			r = mark(k, &cursor);
		if (r >= 0)
			r = htd_sorted_next(&cursor, &e);
		if (r <= 0)
			break;
		r = open_call(k, e);
	}
	htd_sorted_done(&cursor);
	while (k->depth)
		close_call(k);
	return r;
}

int htd_lane_walk(struct htd_lane_walk *w, const struct htd_stream *s, uint32_t i,
	const struct htd_mapped *mapped)
{
	struct walker k = {.w = w};
	const struct htd_thread *thread = &s->threads[i];
	w->labels.mapped = mapped;
	w->lane.order = (struct htd_order){
		.s = s,
		.filter = {.runs = &thread->calls, .calls = true, .what = thread->number},
		.by_id = true,
	};
	int r = htd_order_build(&w->lane.order);
	if (r == 0)
		r = walk(&k);
	pm_map_done(&k.children);
	pm_text_done(&k.scratch);
	free(k.stack);
	return r;
}

void htd_lane_done(struct htd_lane *lane)
{
	htd_order_done(&lane->order);
	free(lane->opens);
	free(lane->open);
}

void htd_lane_walk_done(struct htd_lane_walk *w)
{
	htd_lane_done(&w->lane);
	free(w->paths);
	htd_labels_done(&w->labels);
}
