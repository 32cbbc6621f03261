/*
 * The calling-context tree of one process, rebuilt from sub-return events while they pass by:
 * memory goes with the distinct contexts, not with the calls.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CALLS_H
#define PROFMOUNT_FORMATS_NYTPROF_CALLS_H

#include "formats/nytprof/replay.h"
#include "profmount/bytes.h"

struct nytp_calls {
	struct nytp_trie tree; /* of what nytp_calls_finish has finished */
	uint64_t returns;
	bool too_deep; /* calls deeper than PM_LIMIT_DEPTH stand at that depth */
	/* Of what waits for its callers: */
	struct nytp_event *events;
	struct nytp_level *levels; /* where something waits, depth grows */
	struct nytp_trie waiting;  /* what was before the events */
	size_t n_events, events_room, n_levels, levels_room;
	size_t n_bound;    /* levels whose events belong with what is in `waiting` */
	bool closed;       /* something in `waiting` has got its caller */
	size_t *rows;      /* how many rows the source has: see NYTP_LIMIT_ROWS */
	size_t counted;    /* of them are paths of this process */
	uint32_t long_gap; /* contexts that stand for missing callers of long gaps */
};

/* `rows` is counted up with the tree, and outlives it. */
void nytp_calls_init(struct nytp_calls *c, size_t *rows);

/* A call at `depth` returned. -ENOMEM, also at NYTP_LIMIT_ROWS: calls are lost. */
int nytp_calls_return(
	struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl);

/*
 * The process ended, or another one goes on in the stream: what still waits becomes top level,
 * callers that are missing above it become contexts named NYTP_NOT_RETURNED. -ENOMEM.
 */
int nytp_calls_finish(struct nytp_calls *c);

/* The stream ended: callers that did not return cost what is below them. */
void nytp_calls_settle(struct nytp_calls *c);

void nytp_calls_done(struct nytp_calls *c);

#endif
