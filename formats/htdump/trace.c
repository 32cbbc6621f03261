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

/* In an arena, of which all of it is a build. */
struct replay {
	struct pm_arena arena;
	const struct htd_calls *c;
	const struct pm_map *children;
	const struct htd_lane *lane;
	struct segment *seg;
	struct htd_wanted_places places;
	struct pm_text text;
	struct frame *stack; /* the innermost open call */
	size_t depth, room;
	uint32_t around; /* index in the lane's opens of the call around the stack, or HTD_NONE */
};

static void push(struct replay *p, struct frame f)
{
	pm_list_grow(&p->arena, &p->stack, p->depth, &p->room, sizeof(f));
	p->stack[p->depth++] = f;
}

/*
 * Of the open calls at the mark, which may be many, only those that end in the segment are visited:
 * each is pushed when the stack is empty. False if no call is open any more.
 */
static bool stack_fill(struct replay *p)
{
	struct htd_event e;
	uint64_t duration, thread;
	if (p->depth || p->around == HTD_NONE)
		return p->depth > 0;
	const struct htd_open *o = &p->lane->opens[p->around];
	if (!htd_stream_event(p->c->s, o->place, &e) || !htd_event_call(&e, &duration, &thread))
		pm_build_fail(&p->arena, -EIO);
	p->around = o->parent;
	push(p, (struct frame){e.header.timestamp, duration, o->context, HTD_NONE});
	return true;
}

static uint32_t context_of(struct replay *p, const struct htd_event *e)
{
	const struct htd_calls *c = p->c;
	uint32_t label = htd_labels_find(&c->labels, e, &p->text);
	uint32_t parent = p->depth ? p->stack[p->depth - 1].context : PM_NONE;
	if (p->text.failed)
		pm_build_fail(&p->arena, -ENOMEM);
	const uint32_t *context = label < c->n_labels
		? pm_map_find(p->children, htd_child_key(parent, c->by_label[label].frame))
		: NULL;
	if (!context)
		pm_build_fail(&p->arena, -EIO);
	return *context;
}

static void replay_call(struct replay *p, const struct htd_sorted_event *sorted)
{
	const struct htd_event *e = &sorted->event;
	struct frame f = {.start = e->header.timestamp, .sample = p->seg->n}, *top;
	uint64_t thread;
	if (!htd_event_call(e, &f.duration, &thread))
		pm_build_fail(&p->arena, -EIO);
	for (; stack_fill(p); p->depth--) {
		top = &p->stack[p->depth - 1];
		if (htd_call_holds(top->start, top->duration, f.start, f.duration))
			break;
	}
	f.context = context_of(p, e);
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
	push(p, f);
}

/* Fills the segment with the calls from its mark on. Fails with -EIO if the file has changed. */
static void replay_all(void *context)
{
	struct replay *p = context;
	const struct htd_lane *lane = p->lane;
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	size_t m = p->seg->mark;
	p->around = lane->open[m];
	int r = htd_sorted_start(&cursor, &p->arena, &lane->order, &lane->order.marks[m]);
	while (r >= 0 && p->seg->n < HTD_MARK && (r = htd_sorted_next(&cursor, &e)) > 0)
		replay_call(p, e);
	pm_build_check(&p->arena, r);
	if (m + 1 >= lane->order.n_marks)
		return;
	/* Calls that began here and are still open are open at the next mark, in the same order. */
	for (uint32_t i = lane->open[m + 1]; i != HTD_NONE && p->depth; i = lane->opens[i].parent) {
		const struct frame *f = &p->stack[--p->depth];
		if (f->sample == HTD_NONE)
			break;
		p->seg->samples[f->sample].self_ns = lane->opens[i].self;
	}
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
	struct replay p = {.text.arena = &p.arena};
	int r = htd_calls_get(wanted->src, &p.c, err);
	if (r == 0)
		r = htd_children_get(wanted->src, &p.children, err);
	if (r < 0)
		return r;
	size_t bytes = sizeof(struct segment) +
		(size_t)HTD_MARK * p.c->wanted->n * sizeof(struct pm_amount);
	struct segment *seg = malloc(bytes);
	if (!seg)
		return pm_error_plain(err, -ENOMEM);
	seg->cached = (struct pm_cached){.bytes = bytes, .free = segment_free};
	seg->mark = wanted->mark;
	seg->n = 0;
	p.seg = seg;
	p.lane = &p.c->lanes[wanted->lane];
	if (seg->mark < p.lane->order.n_marks)
		r = pm_build(&p.arena, replay_all, &p);
	pm_arena_done(&p.arena);
	if (r < 0) {
		free(seg);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET,
			r == -EIO ? "the source has changed" : "no memory for a trace");
	}
	*ret = &seg->cached;
	return 0;
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
