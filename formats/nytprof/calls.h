/*
 * The calling-context tree of one process, rebuilt from sub-return events while they pass by:
 * memory goes with the distinct contexts, not with the calls.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CALLS_H
#define PROFMOUNT_FORMATS_NYTPROF_CALLS_H

#include "profmount/bytes.h"

#define NYTP_NONE UINT32_MAX

/* The name of a caller that was never seen to return. */
#define NYTP_NOT_RETURNED (UINT32_MAX - 1)

/* A context, or a level whose caller has not returned yet (name NYTP_NONE). */
struct nytp_call {
	uint32_t name;
	uint32_t family;    /* the kids' id of its parent: with the name its key */
	uint32_t next;      /* sibling, or free node */
	uint32_t hash_next; /* in its bucket */
	struct {
		uint32_t id, first, n;
	} kids;
	uint64_t calls;
	double incl, excl; /* ticks */
};

struct nytp_calls {
	struct nytp_call *nodes;
	size_t n, room;
	uint32_t free;
	uint32_t *buckets;
	size_t n_buckets;
	struct nytp_level *levels; /* of calls that wait for their callers, depth grows */
	size_t n_levels, levels_room;
	size_t *rows;   /* how many rows the source has: see NYTP_LIMIT_ROWS */
	uint32_t roots; /* the node whose kids are the finished top level; NYTP_NONE */
	uint64_t returns;
	uint32_t long_gap; /* contexts that stood for missing callers of long gaps */
	bool too_deep;     /* calls deeper than PM_LIMIT_DEPTH stand at that depth */
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

void nytp_calls_done(struct nytp_calls *c);

#endif
