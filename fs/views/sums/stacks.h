/*
 * The tree as viewers of stacks want it: loops and lines are part of the frame above them, and
 * every frame has the cost that is its own.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_STACKS_H
#define PROFMOUNT_FS_VIEWS_SUMS_STACKS_H

#include "fs/views/model/model.h"

/*
 * One metric over a range of contexts. Arrays have a cell for each context from `first` up to
 * `end`: the cell of context i is [i - first].
 */
struct pmfs_stacks {
	const struct pm_tree *tree;
	const struct pmfs_column *column; /* what it is called, how it is scaled */
	uint32_t first, end;
	uint32_t *shown; /* the frame that a context is part of: itself, or a context above it */
	double *value;   /* inclusive, or the plain count; never NaN */
	double *self;    /* of frames: what no frame below has; 0 in parts. Adds up to the whole */
};

/*
 * Costs of the whole run (thread PM_NONE) or of one thread, of the subtree of `context` or of all
 * contexts (PM_NONE). `column` stands for its group: where that has inclusive costs, they are
 * taken. `ret` is the caller's to give back; a failure leaves nothing allocated. O(contexts).
 */
int pmfs_stacks_make(struct pmfs_model *m, uint32_t column, uint32_t thread, uint32_t context,
	struct pmfs_stacks *ret, struct pm_error *err);

/*
 * Makes frames below PM_LIMIT_STACK_LEVELS part of the one on that level, with their own costs.
 * `*ret_levels` is how many levels there were. 0 or -ENOMEM. O(contexts).
 */
int pmfs_stacks_cut(struct pmfs_stacks *s, uint32_t *ret_levels, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_stacks_done(struct pmfs_stacks *s);

/* Fills `shown` as above. For those who need no costs. */
void pmfs_stacks_find_frames(
	const struct pm_tree *tree, uint32_t first, uint32_t end, uint32_t *shown);

static inline bool pmfs_stacks_is_frame(const struct pmfs_stacks *s, uint32_t context)
{
	return s->shown[context - s->first] == context;
}

/* The frame that called this frame, or PM_NONE. */
static inline uint32_t pmfs_stacks_caller(const struct pmfs_stacks *s, uint32_t frame)
{
	uint32_t parent = frame == s->first ? PM_NONE : s->tree->parent[frame];
	return parent == PM_NONE ? PM_NONE : s->shown[parent - s->first];
}

/* A cost in the unit that exports use, rounded; 0 for what is not positive. */
uint64_t pmfs_stacks_units(const struct pmfs_stacks *s, double cost);

/* The same of a context's own cost. */
static inline uint64_t pmfs_stacks_own(const struct pmfs_stacks *s, uint32_t context)
{
	return pmfs_stacks_units(s, s->self[context - s->first]);
}

/* All of them together. */
uint64_t pmfs_stacks_total(const struct pmfs_stacks *s);

/*
 * How many frames there are in the stacks of all frames with a cost of their own, for those who
 * write each of them out: in a deep tree they are many more than contexts. O(contexts).
 */
int pmfs_stacks_count_levels(const struct pmfs_stacks *s, uint64_t *ret, struct pm_error *err);

/* a + b, or the largest number there is: hostile costs do not wrap. */
static inline uint64_t pmfs_stacks_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The name of a frame for viewers: as tables show it, `(unknown)` where it has none. */
struct pm_bytes pmfs_stacks_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch);

#endif
