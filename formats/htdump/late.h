/*
 * Late events of a kind: those after a block of the stream with younger events. A block consists of
 * as many runs as certainly have at most HTD_CHUNK events. They are recorded during the scan, so
 * that ordering calls by time (order.h) needs no pass to find them.
 */
#ifndef PROFMOUNT_HTDUMP_LATE_H
#define PROFMOUNT_HTDUMP_LATE_H

#include <errno.h>
#include <stdbool.h>

#include "formats/common/list.h"
#include "formats/htdump/runs.h"

/* A position in time order. */
struct htd_key {
	uint64_t timestamp, id;
	htd_place place;
};

static inline int htd_key_compare(const struct htd_key *x, const struct htd_key *y)
{
	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

struct htd_late {
	struct htd_key before; /* the newest of the blocks before; place 0: there are none */
	struct htd_key newest; /* of all so far */
	uint32_t n;            /* events of the block */
	htd_place *places; /* of late ones, in stream order while scanning; freed by the owner */
	size_t n_places, room;
};

/* True where a run that begins now would begin another block of `n` events so far. */
static inline bool htd_block_is_full(uint32_t n)
{
	return n + HTD_RUN > HTD_CHUNK;
}

/* Adds the next event; `begins`: it begins a run. 0 or -ENOMEM. */
static inline int htd_late_note(struct htd_late *l, bool begins, const struct htd_key *key)
{
	if (begins && htd_block_is_full(l->n)) {
		l->before = l->newest;
		l->n = 0;
	}
	l->n++;
	if (htd_key_compare(key, &l->newest) > 0) {
		l->newest = *key;
		return 0;
	}
	if (!l->before.place || htd_key_compare(key, &l->before) > 0)
		return 0;
	if (pm_list_room(&l->places, l->n_places, &l->room, sizeof(*l->places)) < 0)
		return -ENOMEM;
	l->places[l->n_places++] = key->place;
	return 0;
}

#endif
