/* Lanes: the calls of one thread of the measured program, independent of other threads. */
#ifndef PROFMOUNT_HTDUMP_LANE_H
#define PROFMOUNT_HTDUMP_LANE_H

#include "formats/common/callcosts.h"
#include "formats/common/paths.h"
#include "formats/htdump/labels.h"
#include "formats/htdump/order.h"
#include "formats/htdump/spread.h"

/* A call that is open at some mark. Marks share these; each refers to its parent. */
struct htd_open {
	htd_place place;
	uint64_t self; /* see htd_self_at_first */
	uint32_t context;
	uint32_t parent; /* the one around it, or HTD_NONE */
};

/* The part of a lane that is kept. */
struct htd_lane {
	struct htd_order order;
	struct htd_open *opens;
	size_t n_opens, opens_room;
	uint32_t *open; /* at each mark the innermost open call, or HTD_NONE */
	size_t open_room;
	uint32_t n_contexts;
	uint64_t end; /* of its last call; UINT64_MAX = beyond what 64 bits hold */
};

void htd_lane_done(struct htd_lane *lane);

/* The calls of a path on this thread: a cache line. */
struct htd_path {
	uint64_t calls, min, max;
	pm_sum incl, excl;
};

/* A lane, with other results of the walk over its calls. */
struct htd_lane_walk {
	struct htd_lane lane;
	struct pm_paths tree; /* of the walk's labels; the lane's n_contexts paths, by first call */
	struct htd_path *paths;
	size_t path_room;
	struct htd_labels labels;
	struct htd_spreads spreads; /* by label of the walk */
	uint64_t overlapping;       /* calls that begin in another one and end after it */
};

/*
 * Walks the calls of the stream's thread i; `w` is zeroed before, but for spreads.budget. 0, -EIO
 * if the file has changed, -ENOTSUP beyond PM_LIMIT_DEPTH, -ENOMEM; call htd_lane_walk_done in any
 * case.
 */
int htd_lane_walk(struct htd_lane_walk *w, const struct htd_stream *s, uint32_t i,
	const struct htd_mapped *mapped);
void htd_lane_walk_done(struct htd_lane_walk *w);

/*
 * Whether the call with `start` and `duration` contains the other one completely. Ends may be
 * beyond 2^64.
 */
static inline bool htd_call_holds(
	uint64_t start, uint64_t duration, uint64_t inner_start, uint64_t inner_duration)
{
	return inner_start >= start && inner_start - start <= duration &&
		inner_duration <= duration - (inner_start - start);
}

/*
 * The self time of a call, at first and after the next of its children. It has a sign, because
 * children may overlap. PM_NO_SELF: it does not fit, because the clock was set back.
 */
static inline uint64_t htd_self_at_first(uint64_t duration)
{
	return duration <= (uint64_t)INT64_MAX ? duration : PM_NO_SELF;
}

static inline uint64_t htd_self_without(uint64_t self, uint64_t child)
{
	int64_t rest;
	bool fits = self != PM_NO_SELF && !__builtin_sub_overflow((int64_t)self, child, &rest);
	return fits ? (uint64_t)rest : PM_NO_SELF;
}

#endif
