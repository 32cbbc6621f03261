/*
 * The calling-context tree of one process, rebuilt from sub-return events as they are read: memory
 * depends on the number of distinct contexts, not of calls. Events are added up backwards, callers
 * before callees, and each takes a step from the path of its caller.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CALLS_H
#define PROFMOUNT_FORMATS_NYTPROF_CALLS_H

#include <errno.h>

#include "formats/common/steps.h"

#define NYTP_NONE UINT32_MAX

/*
 * A build (arena.h) of tables fails with it at a limit of this format. What has been added until
 * then is complete, but for the record.
 */
#define NYTP_FULL (-EFBIG)

/* The name of a caller without a return event. */
#define NYTP_NOT_RETURNED (UINT32_MAX - 1)

/* Sums over the calls of a path. Times in ticks. */
struct nytp_cost {
	uint64_t calls; /* 0 for a caller without a return event */
	double incl, excl;
};

/* Keys of paths are names. */
struct nytp_trie {
	struct pm_paths paths;
	struct nytp_cost *costs; /* by path */
	size_t room;
	struct pm_guesses guesses; /* of the paths */
};

struct nytp_calls {
	struct pm_arena *arena, *of_waiting, *scratch; /* of the tree; of what waits; of replays */
	struct nytp_trie tree;                         /* of what nytp_calls_finish has finished */
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

/*
 * `rows` grows with the tree, and must outlive it. What waits is in an arena that may be dropped at
 * the end of the stream.
 */
void nytp_calls_init(
	struct nytp_calls *c, struct pm_arena *arena, struct pm_arena *waiting, size_t *rows);

/* A call at `depth` returned. Fails with NYTP_FULL at NYTP_LIMIT_ROWS: calls are lost. */
void nytp_calls_return(
	struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl);

/*
 * Call at the end of the process, or when the stream switches to another one: waiting calls become
 * top-level, and missing callers above them become contexts named NYTP_NOT_RETURNED.
 */
void nytp_calls_finish(struct nytp_calls *c);

/* Call at the end of the stream: callers that did not return get the costs of their children. */
void nytp_calls_settle(struct nytp_calls *c);

#endif
