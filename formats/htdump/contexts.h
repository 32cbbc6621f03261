/*
 * Calls: the tree of label paths with its costs, and the calls of each thread in time order with
 * their contexts. Built on first need, const from then on.
 */
#ifndef PROFMOUNT_HTDUMP_CONTEXTS_H
#define PROFMOUNT_HTDUMP_CONTEXTS_H

#include "formats/common/tree.h"
#include "formats/htdump/lane.h"

/* A row of labels.csv. */
struct htd_label_cost {
	uint64_t calls, min, max;
	pm_sum incl, excl;
	uint32_t open;  /* while adding up: open contexts with this label */
	uint32_t frame; /* of the tree, or HTD_NONE if no call has it */
};

struct htd_calls {
	const struct htd_stream *s;
	struct htd_mapped mapped;
	struct htd_labels labels;
	struct htd_label_cost *by_label;
	size_t n_labels, label_room;
	struct htd_spreads spreads; /* by label; freed when the quantiles have been found */
	struct htd_spread_budget budget;
	uint32_t *ranked; /* labels that calls have, most inclusive time first */
	size_t n_ranked;
	struct htd_lane *lanes; /* s->n_threads */
	struct pm_tree *tree;
	struct pm_callcosts costs;
	uint64_t overlapping; /* number of calls that begin in another call and end after it */
};

/* Zeroed before; free with htd_calls_done, even after a failure. */
int htd_calls_build(struct htd_calls *c, const struct htd_stream *s, struct pm_error *err);
void htd_calls_done(struct htd_calls *c);

/*
 * The contexts of calls, by htd_child_key. Only traces need it. 0, or -ENOMEM, also if the work is
 * cancelled; end with pm_map_done in both cases.
 */
int htd_children_build(struct pm_map *ret, const struct htd_calls *c);

static inline uint64_t htd_child_key(uint32_t parent, uint32_t frame)
{
	return (uint64_t)(uint32_t)(parent + 1) << 32 | frame; /* PM_NONE + 1 = 0: the top */
}

/* Samples of a thread from one mark to the next. */
struct htd_segment {
	uint32_t lane;
	size_t mark;
	uint32_t n;
	struct pm_sample samples[HTD_MARK];
};

/*
 * Fills `ret` with the calls of a lane from mark `ret->mark` on. `children` is from
 * htd_children_build. 0, -EIO if the file has changed, or -ENOMEM.
 */
int htd_segment_read(const struct htd_calls *c, const struct pm_map *children,
	struct htd_segment *ret, struct pm_error *err);

/* Recently read segments, for several threads. NULL if out of memory. */
struct htd_segments *htd_segments_new(void);
void htd_segments_free(struct htd_segments *segments);

/* Copies samples from `first` to the end of its segment, if the segment is cached. */
bool htd_segments_look(struct htd_segments *s, uint32_t lane, uint64_t first, struct pm_sample *ret,
	size_t room, size_t *ret_n);

/* Caches a segment; takes ownership of it. */
void htd_segments_keep(struct htd_segments *s, struct htd_segment *seg);

/* The samples from number `first` on, of its segment. */
size_t htd_segment_copy(
	const struct htd_segment *seg, uint64_t first, struct pm_sample *ret, size_t room);

#endif
