/*
 * Calls: the tree of label paths with its costs, and the calls of each thread in time order with
 * their contexts. Built on first need, const from then on.
 */
#ifndef PROFMOUNT_HTDUMP_CALLS_H
#define PROFMOUNT_HTDUMP_CALLS_H

#include "formats/common/costs.h"
#include "formats/common/tree.h"
#include "formats/htdump/labels.h"
#include "formats/htdump/order.h"

/* Sums of 64-bit times that cannot overflow. */
typedef __int128 htd_sum;

enum { HTD_METRIC_INCL, HTD_METRIC_EXCL, HTD_METRIC_CALLS, HTD_N_METRICS };

/* A call that is open at some mark: marks share them, each knows the one around it. */
struct htd_open {
	htd_place place;
	uint64_t self; /* duration less direct children's */
	uint32_t context;
	uint32_t parent; /* the one around it, or HTD_NONE */
};

/* The calls of a thread. */
struct htd_lane {
	struct htd_order order;
	uint32_t *open; /* at each mark the innermost open call, or HTD_NONE */
	size_t open_room;
	uint32_t n_contexts;
	uint64_t end; /* of its last call; UINT64_MAX = beyond what 64 bits hold */
};

/* A row of labels.csv. */
struct htd_label_cost {
	uint64_t calls, min, max;
	htd_sum incl, excl;
	uint32_t open;  /* while building: calls of this label that are open */
	uint32_t frame; /* of the tree, or HTD_NONE: no call has it */
};

struct htd_calls {
	const struct htd_stream *s;
	struct htd_labels labels;
	struct htd_label_cost *by_label;
	size_t n_labels, label_room;
	uint32_t *ranked; /* labels that calls have, most inclusive time first */
	size_t n_ranked;
	struct htd_lane *lanes; /* s->n_threads */
	struct htd_open *opens;
	size_t n_opens, open_room;
	struct pm_tree *tree;
	struct pm_map children; /* htd_child_key → context */
	struct pm_costs costs;
	uint64_t overlapping; /* calls that begin in another one and end after it */
};

static inline uint64_t htd_child_key(uint32_t parent, uint32_t frame)
{
	return (uint64_t)(uint32_t)(parent + 1) << 32 | frame; /* PM_NONE + 1 = 0: the top */
}

/* Zeroed before; end with htd_calls_done also after a failure. */
int htd_calls_build(struct htd_calls *c, const struct htd_stream *s, struct pm_error *err);
void htd_calls_done(struct htd_calls *c);

/* Does the call of `start` and `duration` hold the other one whole? Ends may lie beyond 2^64. */
static inline bool htd_call_holds(
	uint64_t start, uint64_t duration, uint64_t inner_start, uint64_t inner_duration)
{
	return inner_start >= start && inner_start - start <= duration &&
		inner_duration <= duration - (inner_start - start);
}

/* Samples of a thread from one mark to the next. */
struct htd_segment {
	uint32_t lane;
	size_t mark;
	uint32_t n;
	struct pm_sample samples[HTD_MARK];
};

/* Fills `ret` with the calls of a lane from mark `ret->mark` on. */
int htd_segment_read(const struct htd_calls *c, struct htd_segment *ret, struct pm_error *err);

#endif
