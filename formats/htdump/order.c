/*
 * Time order out of stream order. Calls are written when they end, so a block (about HTD_CHUNK
 * events of a kind, as they follow each other in the stream) mostly begins where the block before
 * it ended. An event is timely when it is younger than all blocks before its own, else late.
 * Timely events, each block sorted by itself, follow each other in time order; merged with the
 * sorted list of late ones they are all events. In a recorded stream, calls are late that began
 * before their block: about as many as were open at its beginning. In a shuffled one nearly all
 * are, at 8 bytes each.
 */
#include "formats/htdump/order.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

struct late_list {
	struct htd_key *keys;
	size_t n, room;
};

static int key_compare(const void *a, const void *b)
{
	const struct htd_key *x = a, *y = b;
	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static struct htd_key key_of(const struct htd_order *o, const struct htd_event *e, htd_place place)
{
	return (struct htd_key){e->header.timestamp, o->by_id ? e->header.id : 0, place};
}

/* Calls that call nothing are in order already. */
static void keys_sort(struct htd_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (key_compare(&keys[i - 1], &keys[i]) > 0) {
			qsort(keys, n, sizeof(*keys), key_compare);
			return;
		}
}

static int event_sort(struct htd_sorted *c, const struct htd_key *key, struct late_list *late)
{
	if (!c->before || key_compare(key, &c->newest) > 0) {
		c->items[c->n++] = *key;
	} else if (late) {
		if (pm_list_room(&late->keys, late->n, &late->room, sizeof(*key)) < 0)
			return -ENOMEM;
		late->keys[late->n++] = *key;
	}
	return 0;
}

/*
 * Reads the next block, as many runs as are at most HTD_CHUNK events: timely events into `items`,
 * sorted, late ones into `late` (may be NULL).
 */
static int block_read(struct htd_sorted *c, struct late_list *late)
{
	const struct htd_order *o = c->o;
	const struct htd_runs *runs = o->filter.runs;
	struct htd_walk w = {.s = NULL};
	struct htd_event e;
	c->first = c->run;
	c->before = c->newest.place;
	c->n = c->at = 0;
	for (uint32_t n = 0; c->run < runs->n; c->run++) {
		uint32_t left = htd_place_count(runs->items[c->run]);
		if ((n += left) > HTD_CHUNK)
			break;
		htd_walk_place(&w, o->s, runs->items[c->run]);
		while (left && htd_walk_next(&w, &e)) {
			if (!htd_filter_match(&o->filter, &e))
				continue;
			left--;
			struct htd_key key = key_of(o, &e, htd_place_of(e.at, w.seq - 1));
			if (event_sort(c, &key, late) < 0)
				return -ENOMEM;
		}
	}
	keys_sort(c->items, c->n);
	if (c->n)
		c->newest = c->items[c->n - 1];
	return 0;
}

static int late_take(struct htd_order *o, struct late_list *late)
{
	if (!late->n)
		return 0;
	keys_sort(late->keys, late->n);
	o->late = calloc(late->n, sizeof(*o->late));
	if (!o->late)
		return -ENOMEM;
	for (o->n_late = 0; o->n_late < late->n; o->n_late++)
		o->late[o->n_late] = late->keys[o->n_late].place;
	return 0;
}

int htd_order_build(struct htd_order *o)
{
	struct late_list late = {.keys = NULL};
	struct htd_sorted c = {.o = o, .items = calloc(HTD_CHUNK, sizeof(*c.items))};
	int r = c.items ? 0 : -ENOMEM;
	while (r == 0 && c.run < o->filter.runs->n)
		r = block_read(&c, &late);
	if (r == 0)
		r = late_take(o, &late);
	free(late.keys);
	free(c.items);
	return r;
}

void htd_order_done(struct htd_order *o)
{
	free(o->late);
	free(o->marks);
}

int htd_order_mark(struct htd_order *o, const struct htd_sorted *c)
{
	if (pm_list_room(&o->marks, o->n_marks, &o->mark_room, sizeof(*o->marks)) < 0)
		return -ENOMEM;
	o->marks[o->n_marks++] = (struct htd_mark){
		.run = c->n ? c->first : c->run,
		.late = c->late,
		.newest = c->n ? c->before : c->newest.place,
		.at = c->at,
	};
	return 0;
}

static int head_read(struct htd_sorted *c)
{
	struct htd_event e;
	c->has_head = c->late < c->o->n_late;
	if (!c->has_head)
		return 0;
	htd_place place = c->o->late[c->late];
	if (!htd_stream_event(c->o->s, place, &e))
		return -EIO;
	c->head = key_of(c->o, &e, place);
	return 0;
}

int htd_sorted_start(struct htd_sorted *c, const struct htd_order *o, const struct htd_mark *mark)
{
	struct htd_event e;
	*c = (struct htd_sorted){.o = o, .items = calloc(HTD_CHUNK, sizeof(*c->items))};
	if (!c->items)
		return -ENOMEM;
	if (mark && mark->newest) {
		if (!htd_stream_event(o->s, mark->newest, &e))
			return -EIO;
		c->newest = key_of(o, &e, mark->newest);
	}
	if (mark) {
		c->run = mark->run;
		c->late = mark->late;
	}
	int r = head_read(c);
	if (r == 0 && mark && mark->at) {
		r = block_read(c, NULL);
		c->at = mark->at < c->n ? mark->at : c->n;
	}
	return r;
}

int htd_sorted_next(struct htd_sorted *c, struct htd_event *ret, htd_place *ret_place)
{
	int r = 0;
	while (r == 0 && c->at == c->n && c->run < c->o->filter.runs->n)
		r = block_read(c, NULL);
	if (r < 0)
		return r;
	bool timely = c->at < c->n;
	if (!timely && !c->has_head)
		return 0;
	if (timely && c->has_head && key_compare(&c->head, &c->items[c->at]) < 0)
		timely = false;
	if (timely) {
		*ret_place = c->items[c->at++].place;
	} else {
		*ret_place = c->head.place;
		c->late++;
		r = head_read(c);
	}
	if (r == 0 && !htd_stream_event(c->o->s, *ret_place, ret))
		r = -EIO;
	return r < 0 ? r : 1;
}

void htd_sorted_done(struct htd_sorted *c)
{
	free(c->items);
	c->items = NULL;
}
