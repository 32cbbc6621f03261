/*
 * Positions of events of a kind (a class version, a thread's calls) in the stream: 8 bytes for all
 * of them among HTD_RUN events of the stream.
 */
#ifndef PROFMOUNT_HTDUMP_RUNS_H
#define PROFMOUNT_HTDUMP_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTD_CHUNK        1024 /* events from one entry of the index to the next */
#define HTD_RUN          32   /* about the number that the library writes for one thread in a row */
#define HTD_LIMIT_OFFSET ((uint64_t)1 << 44)

/* An item: offset of an event (44 bits), its index in its chunk (10), number of events minus 1. */
typedef uint64_t htd_place;

static inline htd_place htd_place_of(uint64_t offset, uint64_t seq)
{
	return offset << 20 | (seq % HTD_CHUNK) << 10;
}

static inline uint64_t htd_place_offset(htd_place p)
{
	return p >> 20;
}

static inline uint32_t htd_place_ordinal(htd_place p)
{
	return (uint32_t)(p >> 10) % HTD_CHUNK;
}

static inline uint32_t htd_place_count(htd_place p)
{
	return (uint32_t)(p % HTD_CHUNK) + 1;
}

struct htd_runs {
	htd_place
		*items; /* one per HTD_RUN events of the stream with such events; in stream order */
	size_t n, room;
	uint64_t last; /* seq / HTD_RUN of the last item */
	uint64_t n_events;
};

/* Begins a new item with the event. 0 or -ENOMEM. */
int htd_runs_begin(struct htd_runs *r, uint64_t offset, uint64_t seq);

/* Whether the event belongs to the newest item. */
static inline bool htd_runs_go_on(const struct htd_runs *r, uint64_t seq)
{
	return r->n && r->last == seq / HTD_RUN;
}

/* Adds n such events. */
static inline void htd_runs_more(struct htd_runs *r, uint32_t n)
{
	if (n)
		r->items[r->n - 1] += n;
	r->n_events += n;
}

/* Adds an event; in stream order. 0 or -ENOMEM. */
static inline int htd_runs_add(struct htd_runs *r, uint64_t offset, uint64_t seq)
{
	if (!htd_runs_go_on(r, seq))
		return htd_runs_begin(r, offset, seq);
	htd_runs_more(r, 1);
	return 0;
}

void htd_runs_done(struct htd_runs *r);

#endif
