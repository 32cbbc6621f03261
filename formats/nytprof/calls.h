/*
 * The calling-context tree of one process, rebuilt from sub-return events as they are read: memory
 * depends on the number of distinct contexts, not of calls. Events are added up backwards, callers
 * before callees, and each takes a step from the path of its caller.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CALLS_H
#define PROFMOUNT_FORMATS_NYTPROF_CALLS_H

#include "formats/common/steps.h"
#include "profmount/bytes.h"

#define NYTP_NONE UINT32_MAX

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

/* A return; or a gap, with the name NYTP_NONE: callers that did not return. */
struct nytp_event {
	uint32_t depth, name;
	union {
		struct {
			double incl, excl;
		};
		/* Calls at `depth` get `shown` callers above them, the topmost at depth `to`. */
		struct {
			uint32_t to, shown;
		};
	};
};

/* The path whose children are the calls that return from `depth`; PM_NONE: the top. */
struct nytp_place {
	uint32_t depth, path;
};

/* A path, or a step to one that is not looked up yet. */
struct nytp_reached {
	uint32_t step; /* in nytp_replay.steps; PM_NONE: the path is known */
	uint32_t path;
	uint64_t hash; /* see pm_step.hash; of `path` */
};

/* Calls of `depth` are its children. */
struct nytp_caller {
	uint32_t depth;
	struct nytp_reached at;
};

struct nytp_replay {
	struct nytp_trie *to;
	struct nytp_caller *callers; /* by depth, the greatest last */
	size_t n, room;
	struct pm_step *steps;   /* looked up together, some hundreds of them */
	struct nytp_cost *added; /* by each step, to its path */
	uint32_t n_steps;
	bool full; /* the limit of paths was reached: calls are missing */
};

/* An empty trie of at most `most` paths. -ENOMEM. */
int nytp_trie_init(struct nytp_trie *t, uint32_t most);
void nytp_trie_done(struct nytp_trie *t);

/* The child of a path, without calls if it is new. PM_NONE if out of memory, or PM_PATHS_FULL. */
uint32_t nytp_trie_child(struct nytp_trie *t, uint32_t parent, uint32_t name);

/* Calls of `depth`, greater than those before it, are children of a path. -ENOMEM. */
int nytp_replay_place(struct nytp_replay *r, uint32_t depth, uint32_t path);

/*
 * Adds events from the last one to the first. Each return and gap finds a place of its depth, or of
 * `to`. -ENOMEM, also if the work is cancelled.
 */
int nytp_replay_events(struct nytp_replay *r, const struct nytp_event *events, size_t n);

/*
 * Adds a trie built from earlier events. Its top-level paths are in `places`, n of them by depth,
 * which are found like those of an event. -ENOMEM.
 */
int nytp_replay_trie(struct nytp_replay *r, const struct nytp_trie *from,
	const struct nytp_place *places, size_t n);

void nytp_replay_done(struct nytp_replay *r);

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
