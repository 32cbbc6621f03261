/*
 * Sums of calls by path, and how events become such: they are read backwards, callers before what
 * they called, and each takes a step from the path of its caller.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_REPLAY_H
#define PROFMOUNT_FORMATS_NYTPROF_REPLAY_H

#include "formats/common/paths.h"

#define NYTP_NONE UINT32_MAX

/* The name of a caller that was never seen to return. */
#define NYTP_NOT_RETURNED (UINT32_MAX - 1)

/* Sums over the calls of a path. Times in ticks. */
struct nytp_cost {
	uint64_t calls; /* 0 of a caller that was never seen to return */
	double incl, excl;
};

/* Keys of paths are names. */
struct nytp_trie {
	struct pm_paths paths;
	struct nytp_cost *costs; /* by path */
	size_t room;
};

/* A return; or a gap, of name NYTP_NONE: callers that did not return. */
struct nytp_event {
	uint32_t depth, name;
	union {
		struct {
			double incl, excl;
		};
		/* Calls of `depth` get `shown` callers above them, the topmost in depth `to`. */
		struct {
			uint32_t to, shown;
		};
	};
};

/* Calls that return from `depth` are kids of a path, or PM_NONE. */
struct nytp_place {
	uint32_t depth, path;
};

struct nytp_replay {
	struct nytp_trie *to;
	struct nytp_place *places; /* by depth, the greatest last */
	size_t n, room;
	bool full; /* there was no room for all paths: calls are missing */
};

/* An empty trie of at most `most` paths. -ENOMEM. */
int nytp_trie_init(struct nytp_trie *t, uint32_t most);
void nytp_trie_done(struct nytp_trie *t);

/* The kid of a path; with no calls, if it is new. PM_NONE without memory, or PM_PATHS_FULL. */
uint32_t nytp_trie_child(struct nytp_trie *t, uint32_t parent, uint32_t name);

/* Calls of `depth`, greater than those before it, are kids of a path. -ENOMEM. */
int nytp_replay_place(struct nytp_replay *r, uint32_t depth, uint32_t path);

/*
 * Adds events from the last one to the first. Each return and gap finds a place of its depth, or of
 * `to`. -ENOMEM, also where the work is cancelled.
 */
int nytp_replay_events(struct nytp_replay *r, const struct nytp_event *events, size_t n);

/*
 * Adds a trie that was made of the events before. At its top are the paths of `places`, n of them
 * by depth, which are found as those of an event. -ENOMEM.
 */
int nytp_replay_trie(struct nytp_replay *r, const struct nytp_trie *from,
	const struct nytp_place *places, size_t n);

void nytp_replay_done(struct nytp_replay *r);

#endif
