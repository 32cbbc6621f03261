/*
 * Puts events into time order. Calls are written when they end, so a block (about HTD_CHUNK
 * consecutive events of a kind) mostly begins where the previous block ended. An event is timely if
 * it is younger than all blocks before its own, else late. Timely events, with each block sorted,
 * are in time order; merging them with the sorted list of late events gives all events. In a
 * recorded stream, the late calls are those that began before their block: about as many as were
 * open at its beginning. In a shuffled one nearly all are late, at 8 bytes each.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/work.h"

/* Runs are far apart in memory: the next ones are prefetched while one is read. */
enum { AHEAD = 4, RUN_BYTES = 1024 };

struct late_list {
	struct pm_arena *arena;
	struct htd_key *keys;
	size_t n, room;
};

static int key_order(const void *a, const void *b)
{
	return htd_key_compare(a, b);
}

/* Calls without children are already in order. */
static void keys_sort(struct htd_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (htd_key_compare(&keys[i - 1], &keys[i]) > 0) {
			qsort(keys, n, sizeof(*keys), key_order);
			return;
		}
}

static inline struct htd_key event_key(
	const struct htd_order *o, const struct htd_event *e, uint64_t seq)
{
	return (struct htd_key){
		e->header.timestamp, o->by_id ? e->header.id : 0, htd_place_of(e->at, seq)};
}

static int event_at(const struct htd_order *o, htd_place place, struct htd_sorted_event *ret)
{
	if (!htd_stream_event(o->s, place, &ret->event))
		return -EIO;
	ret->seq = htd_stream_seq(o->s, place);
	ret->key = event_key(o, &ret->event, ret->seq);
	return 0;
}

static int event_compare(const void *a, const void *b)
{
	const struct htd_sorted_event *x = a, *y = b;
	return htd_key_compare(&x->key, &y->key);
}

/*
 * Links the events of a block, assuming that calls are written when they end: the events just
 * before a call that are younger than it are its children, and come after it. Heads and tails are
 * those of all sorted runs so far, in order. O(n)
 */
static void block_link(struct htd_sorted *c)
{
	struct htd_sorted_event *items = c->items;
	uint32_t heads[HTD_CHUNK], tails[HTD_CHUNK], n = 0;
	for (uint32_t i = 0; i < c->n; i++, n++) {
		uint32_t tail = n ? tails[n - 1] : i, all = n;
		while (n && htd_key_compare(&items[i].key, &items[heads[n - 1]].key) < 0)
			n--;
		items[i].next = n < all ? heads[n] : HTD_NONE;
		heads[n] = i;
		tails[n] = n < all ? tail : i;
		if (n)
			items[tails[n - 1]].next = i;
	}
	c->next = c->n ? heads[0] : HTD_NONE;
}

/* Other orders, for example of overlapping calls, are sorted by comparison. */
static void block_sort(struct htd_sorted *c)
{
	struct htd_sorted_event *items = c->items;
	bool linked = true;
	block_link(c);
	for (uint32_t i = c->next; linked && i != HTD_NONE && items[i].next != HTD_NONE;
		i = items[i].next)
		linked = htd_key_compare(&items[i].key, &items[items[i].next].key) <= 0;
	if (linked)
		return;
	qsort(items, c->n, sizeof(*items), event_compare);
	for (uint32_t i = 0; i < c->n; i++)
		items[i].next = i + 1 < c->n ? i + 1 : HTD_NONE;
	c->next = 0;
}

/*
 * Reads a run of the block that follows `before`: timely events into `items`, in stream order, late
 * ones into `late` (may be NULL). -EIO if it has fewer events than were counted: the file has
 * changed. Otherwise each run would look for them up to the end.
 */
static int run_read(struct htd_sorted *c, struct htd_walk *w, const struct htd_key *before,
	struct late_list *late)
{
	const struct htd_filter *filter = &c->o->filter;
	htd_place run = filter->runs->items[c->run];
	struct htd_key newest = c->newest;
	uint32_t n = c->n;
	htd_walk_place(w, c->o->s, run);
	const uint64_t end = (w->seq / HTD_RUN + 1) * HTD_RUN;
	for (uint32_t left = htd_place_count(run); left > 0;) {
		struct htd_sorted_event *item = &c->items[n];
		if (w->seq >= end || !htd_walk_next(w, &item->event))
			return -EIO;
		if (!htd_filter_match(filter, &item->event))
			continue;
		left--;
		const struct htd_key key = event_key(c->o, &item->event, w->seq - 1);
		item->key = key;
		item->seq = w->seq - 1;
		if (!before->place || htd_key_compare(&key, before) > 0)
			n++;
		else if (late) {
			pm_list_grow(late->arena, &late->keys, late->n, &late->room, sizeof(key));
			late->keys[late->n++] = key;
		}
		if (htd_key_compare(&key, &newest) > 0)
			newest = key;
	}
	c->newest = newest;
	c->n = n;
	return 0;
}

/* Reads the next block: as many runs as have at most HTD_CHUNK events. */
static int block_read(struct htd_sorted *c, struct late_list *late)
{
	const struct htd_order *o = c->o;
	const struct htd_runs *runs = o->filter.runs;
	const struct htd_key before = c->newest;
	struct htd_walk w = {.s = NULL};
	int r = 0;
	c->first = c->run;
	c->before = before.place;
	c->n = c->at = 0;
	for (uint32_t n = 0; r == 0 && c->run < runs->n && !htd_block_is_full(n); c->run++) {
		if (pm_work_cancelled())
			return PM_CANCELLED;
		n += htd_place_count(runs->items[c->run]);
		if (c->run + AHEAD < runs->n)
			pm_bytes_prefetch(o->s->bytes,
				htd_place_offset(runs->items[c->run + AHEAD]), RUN_BYTES);
		r = run_read(c, &w, &before, late);
	}
	return r;
}

/* In a piece of an arena, for it is not zeroed. */
static struct htd_sorted_event *block_new(struct pm_arena *a)
{
	return pm_arena_realloc(a, NULL, HTD_CHUNK * sizeof(struct htd_sorted_event));
}

int htd_order_build(struct pm_arena *a, struct htd_order *o)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct late_list late = {.arena = scratch};
	struct htd_sorted c = {.o = o, .items = block_new(scratch)};
	int r = 0;
	while (r == 0 && c.run < o->filter.runs->n) {
		pm_work_progress(c.run, o->filter.runs->n);
		r = block_read(&c, &late);
	}
	keys_sort(late.keys, late.n);
	htd_place *places = pm_arena_array(a, late.n, sizeof(*places));
	for (size_t i = 0; i < late.n; i++)
		places[i] = late.keys[i].place;
	o->late = places;
	o->n_late = late.n;
	pm_arena_done(scratch);
	return r;
}

void htd_order_borrow(struct pm_arena *a, struct htd_order *o, struct htd_late *late)
{
	size_t n = late->n_places;
	struct htd_key *keys = pm_arena_realloc(a, NULL, n * sizeof(*keys));
	struct htd_sorted_event e;
	for (size_t i = 0; i < n; i++) {
		if (i % HTD_CHUNK == 0)
			pm_build_proceed(a);
		pm_build_check(a, event_at(o, late->places[i], &e));
		keys[i] = e.key;
	}
	keys_sort(keys, n);
	for (size_t i = 0; i < n; i++)
		late->places[i] = keys[i].place;
	pm_arena_free(a, keys);
	o->late = late->places;
	o->n_late = n;
}

void htd_order_mark(struct pm_arena *a, struct htd_order *o, const struct htd_sorted *c)
{
	pm_list_grow(a, &o->marks, o->n_marks, &o->mark_room, sizeof(*o->marks));
	o->marks[o->n_marks++] = (struct htd_mark){
		.run = c->n ? c->first : c->run,
		.late = c->late,
		.newest = c->n ? c->before : c->newest.place,
		.at = c->at,
	};
}

/* -EIO if the file has changed, -ENOMEM if the work is cancelled: there is no way on then. */
static int block_start(struct htd_sorted *c)
{
	int r = block_read(c, NULL);
	if (r == 0)
		block_sort(c);
	return r;
}

/* Returns the next event of the block, which has one. */
static const struct htd_sorted_event *block_step(struct htd_sorted *c)
{
	const struct htd_sorted_event *item = &c->items[c->next];
	c->next = item->next;
	c->at++;
	return item;
}

static int head_read(struct htd_sorted *c)
{
	c->has_head = c->late < c->o->n_late;
	return c->has_head ? event_at(c->o, c->o->late[c->late], &c->head) : 0;
}

int htd_sorted_start(struct htd_sorted *c, struct pm_arena *a, const struct htd_order *o,
	const struct htd_mark *mark)
{
	*c = (struct htd_sorted){.o = o, .items = block_new(a), .next = HTD_NONE};
	if (!c->items)
		return -ENOMEM;
	if (mark && mark->newest) {
		if (event_at(o, mark->newest, &c->given) < 0)
			return -EIO;
		c->newest = c->given.key;
	}
	if (mark) {
		c->run = mark->run;
		c->late = mark->late;
	}
	int r = head_read(c);
	if (r == 0 && mark && mark->at)
		r = block_start(c);
	while (r == 0 && mark && c->at < mark->at && c->next != HTD_NONE)
		block_step(c);
	return r;
}

int htd_sorted_next(struct htd_sorted *c, const struct htd_sorted_event **ret)
{
	while (c->next == HTD_NONE && c->run < c->o->filter.runs->n) {
		int r = block_start(c);
		if (r < 0)
			return r;
	}
	bool timely = c->next != HTD_NONE;
	if (!timely && !c->has_head)
		return 0;
	if (timely &&
		(!c->has_head || htd_key_compare(&c->items[c->next].key, &c->head.key) <= 0)) {
		*ret = block_step(c);
		return 1;
	}
	c->given = c->head;
	c->late++;
	*ret = &c->given;
	return head_read(c) < 0 ? -EIO : 1;
}
