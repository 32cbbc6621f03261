/*
 * Samples of threads: segments between marks, regenerated on request. They are cached, because
 * readers request one segment in several steps.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/cache.h"
#include "formats/common/list.h"

/*
 * ==== a segment ====
 * Calls are regenerated from a mark on: the open calls are known there, contexts come from the
 * tree, and the self time of a call that outlives the segment is stored with the next mark.
 */

/* Samples of a thread from one mark to the next. */
struct segment {
	struct pm_cached cached;
	uint32_t lane;
	size_t mark;
	uint32_t n;
	struct pm_sample samples[HTD_MARK];
	struct pm_amount amounts[]; /* of each: those that are wanted */
};

struct frame {
	uint64_t start, duration;
	uint32_t context;
	uint32_t sample; /* in the segment, or HTD_NONE if it began earlier */
};

struct replay {
	const struct htd_calls *c;
	const struct pm_map *children;
	const struct htd_lane *lane;
	struct segment *seg;
	struct htd_wanted_places places;
	struct pm_text scratch;
	struct frame *stack; /* the innermost open call */
	size_t depth, room;
	uint32_t around; /* index in the lane's opens of the call around the stack, or HTD_NONE */
};

static int push(struct replay *p, struct frame f)
{
	if (pm_list_room(&p->stack, p->depth, &p->room, sizeof(f)) < 0)
		return -ENOMEM;
	p->stack[p->depth++] = f;
	return 0;
}

/*
 * Of the open calls at the mark, which may be many, only those that end in the segment are visited:
 * each is pushed when the stack is empty. 1, or 0 if no call is open any more.
 */
static int stack_fill(struct replay *p)
{
	struct htd_event e;
	uint64_t duration, thread;
	if (p->depth || p->around == HTD_NONE)
		return p->depth > 0;
	const struct htd_open *o = &p->lane->opens[p->around];
	if (!htd_stream_event(p->c->s, o->place, &e) || !htd_event_call(&e, &duration, &thread))
		return -EIO;
	p->around = o->parent;
	int r = push(p, (struct frame){e.header.timestamp, duration, o->context, HTD_NONE});
	return r < 0 ? r : 1;
}

/* Pops the calls that do not contain the call. */
static int stack_close(struct replay *p, uint64_t start, uint64_t duration)
{
	int r;
	while ((r = stack_fill(p)) > 0) {
		const struct frame *f = &p->stack[p->depth - 1];
		if (htd_call_holds(f->start, f->duration, start, duration))
			break;
		p->depth--;
	}
	return r;
}

static int context_of(struct replay *p, const struct htd_event *e, uint32_t *ret)
{
	const struct htd_calls *c = p->c;
	uint32_t label = htd_labels_find(&c->labels, e, &p->scratch);
	uint32_t parent = p->depth ? p->stack[p->depth - 1].context : PM_NONE;
	if (p->scratch.failed)
		return -ENOMEM;
	if (label >= c->n_labels)
		return -EIO;
	const uint32_t *context =
		pm_map_find(p->children, htd_child_key(parent, c->by_label[label].frame));
	if (!context)
		return -EIO;
	*ret = *context;
	return 0;
}

static int replay_call(struct replay *p, const struct htd_sorted_event *sorted)
{
	const struct htd_event *e = &sorted->event;
	struct frame f = {.start = e->header.timestamp, .sample = p->seg->n};
	uint64_t thread;
	if (!htd_event_call(e, &f.duration, &thread))
		return -EIO;
	int r = stack_close(p, f.start, f.duration);
	if (r >= 0)
		r = context_of(p, e, &f.context);
	if (r < 0)
		return r;
	uint32_t parent = p->depth ? p->stack[p->depth - 1].sample : HTD_NONE;
	if (parent != HTD_NONE) {
		uint64_t *self = &p->seg->samples[parent].self_ns;
		*self = htd_self_without(*self, f.duration);
	}
	if (p->c->wanted->n)
		htd_amounts_read(p->c->wanted, &p->places, e,
			&p->seg->amounts[(size_t)p->seg->n * p->c->wanted->n]);
	p->seg->samples[p->seg->n++] = (struct pm_sample){
		.time_ns = f.start,
		.duration_ns = f.duration,
		.context = pm_tree_number(p->c->tree, f.context),
		.self_ns = htd_self_at_first(f.duration),
		.seq = sorted->seq,
	};
	return push(p, f);
}

static int replay_all(struct replay *p)
{
	const struct htd_lane *lane = p->lane;
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	size_t m = p->seg->mark;
	int r = htd_sorted_start(&cursor, &lane->order, &lane->order.marks[m]);
	while (r >= 0 && p->seg->n < HTD_MARK) {
		r = htd_sorted_next(&cursor, &e);
		if (r <= 0)
			break;
		r = replay_call(p, e);
	}
	htd_sorted_done(&cursor);
	if (r < 0 || m + 1 >= lane->order.n_marks)
		return r;
	/* Calls that began here and are still open are open at the next mark, in the same order. */
	for (uint32_t i = lane->open[m + 1]; i != HTD_NONE && p->depth; i = lane->opens[i].parent) {
		const struct frame *f = &p->stack[--p->depth];
		if (f->sample == HTD_NONE)
			break;
		p->seg->samples[f->sample].self_ns = lane->opens[i].self;
	}
	return 0;
}

/*
 * Fills `ret` with the calls of a lane from mark `ret->mark` on. `children` is from
 * htd_children_build. 0, -EIO if the file has changed, or -ENOMEM.
 */
static int read_segment(const struct htd_calls *c, const struct pm_map *children,
	struct segment *ret, struct pm_error *err)
{
	const struct htd_lane *lane = &c->lanes[ret->lane];
	struct replay p = {.c = c, .children = children, .lane = lane, .seg = ret};
	ret->n = 0;
	int r = 0;
	if (ret->mark < lane->order.n_marks) {
		p.around = lane->open[ret->mark];
		r = replay_all(&p);
	}
	free(p.stack);
	pm_text_done(&p.scratch);
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET,
			r == -EIO ? "the source has changed" : "no memory for a trace");
	return 0;
}

/* ==== samples ==== */

enum {
	SEGMENTS = PM_CACHE_FORMAT, /* in the highest byte of keys, then: */
	MARK_BITS = 38,             /* below the lane; of HTD_LIMIT_OFFSET bytes of calls */
};

struct wanted {
	struct htd_opened *src;
	uint32_t lane;
	size_t mark;
};

static void segment_free(struct pm_cached *c)
{
	free(c);
}

static int segment_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct wanted *wanted = context;
	const struct htd_calls *calls;
	const struct pm_map *children;
	int r = htd_calls_get(wanted->src, &calls, err);
	if (r == 0)
		r = htd_children_get(wanted->src, &children, err);
	if (r < 0)
		return r;
	size_t bytes = sizeof(struct segment) +
		(size_t)HTD_MARK * calls->wanted->n * sizeof(struct pm_amount);
	struct segment *seg = malloc(bytes);
	if (!seg)
		return pm_error_plain(err, -ENOMEM);
	seg->cached = (struct pm_cached){.bytes = bytes, .free = segment_free};
	seg->lane = wanted->lane;
	seg->mark = wanted->mark;
	r = read_segment(calls, children, seg, err);
	if (r < 0)
		free(seg);
	else
		*ret = &seg->cached;
	return r;
}

/* From `first` to the end of its segment, at most. */
static int64_t piece(struct htd_opened *src, uint32_t lane, uint64_t first, struct pm_sample *ret,
	struct pm_amount *ret_amounts, size_t room, struct pm_error *err)
{
	size_t n_amounts = src->wanted.n;
	struct wanted wanted = {src, lane, first / HTD_MARK};
	uint64_t key =
		(uint64_t)SEGMENTS << 56 | (uint64_t)lane << MARK_BITS | (uint64_t)wanted.mark;
	struct pm_cached *cached;
	int r = pm_cache_get(src->cache, key, segment_build, &wanted, &cached, err);
	if (r < 0)
		return r;
	const struct segment *seg = (const struct segment *)cached;
	size_t from = first % HTD_MARK, n = seg->n > from ? seg->n - from : 0;
	n = n < room ? n : room;
	bool to_end = from + n == seg->n;
	memcpy(ret, &seg->samples[from], n * sizeof(*ret));
	if (ret_amounts)
		memcpy(ret_amounts, &seg->amounts[from * n_amounts],
			n * n_amounts * sizeof(*ret_amounts));
	pm_cache_release(src->cache, cached);
	if (to_end) /* a long trace must not displace everything else */
		pm_cache_drop(src->cache, key);
	return (int64_t)n;
}

int64_t htd_samples_amounts(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room, struct pm_error *err)
{
	struct htd_opened *src = htd_opened_of(p);
	size_t n = 0;
	int r = htd_scan_get(src, err);
	if (r < 0)
		return r;
	while (n < room && first + n < src->threads.threads[thread].n_samples) {
		int64_t more = piece(src, thread, first + n, ret + n,
			ret_amounts ? ret_amounts + n * src->wanted.n : NULL, room - n, err);
		if (more < 0)
			return more;
		if (more == 0)
			break;
		n += (size_t)more;
	}
	return (int64_t)n;
}

int64_t htd_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	return htd_samples_amounts(p, thread, first, ret, NULL, room, err);
}
