/*
 * The calling-context tree of one process, rebuilt from sub-return events as they are read: memory
 * depends on the number of distinct contexts, not of calls.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CALLS_H
#define PROFMOUNT_FORMATS_NYTPROF_CALLS_H

#include "formats/nytprof/replay.h"
#include "profmount/bytes.h"

struct nytp_calls {
	struct nytp_trie tree; /* of what nytp_calls_finish has finished */
	uint64_t returns;
	bool too_deep; /* deeper calls count as being at PM_LIMIT_DEPTH */
	/* Calls that wait for their callers: */
	struct nytp_event *events;
	struct nytp_level *levels; /* depths with waiting calls, ascending */
	struct nytp_trie waiting;  /* what was before the events */
	size_t n_events, events_room, n_levels, levels_room;
	size_t n_bound;    /* number of levels whose events belong to `waiting` */
	bool closed;       /* the caller of something in `waiting` has returned */
	size_t *rows;      /* number of rows of the source: see NYTP_LIMIT_ROWS */
	size_t counted;    /* part of them: paths of this process */
	uint32_t long_gap; /* contexts that stand for missing callers of long gaps */
};

/* `rows` grows with the tree, and must outlive it. */
void nytp_calls_init(struct nytp_calls *c, size_t *rows);

/* A call at `depth` returned. -ENOMEM, also at NYTP_LIMIT_ROWS: calls are lost. */
int nytp_calls_return(
	struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl);

/*
 * Call at the end of the process, or when the stream switches to another one: waiting calls become
 * top-level, and missing callers above them become contexts named NYTP_NOT_RETURNED. -ENOMEM.
 */
int nytp_calls_finish(struct nytp_calls *c);

/* Call at the end of the stream: callers that did not return get the costs of their children. */
void nytp_calls_settle(struct nytp_calls *c);

void nytp_calls_done(struct nytp_calls *c);

#endif
