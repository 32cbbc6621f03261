/*
 * The tree for viewers of stacks: loops and lines are part of the frame above them, and every frame
 * has an exclusive cost.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_STACKS_H
#define PROFMOUNT_FS_VIEWS_SUMS_STACKS_H

#include "formats/common/arena.h"
#include "formats/common/map.h"
#include "fs/views/model/model.h"

/*
 * One metric for a range of contexts. Arrays have a cell for each context from `first` to `end`
 * (excluded): the cell of context i is [i - first].
 */
struct pmfs_stacks {
	const struct pm_tree *tree;
	const struct pmfs_column *column; /* name and scale */
	uint32_t first, end;
	bool is_cut;     /* see pmfs_stacks_cut */
	uint32_t *shown; /* the frame of a context: itself, or a context above it */
	double *value;   /* inclusive, or the plain count; never NaN; negative only if costs are
			    differences (struct pmfs_column) */
	double *self; /* of frames: the cost not in a frame below; 0 for parts of frames. Adds up to
			 the total */
};

/*
 * Costs of the whole run (thread PM_NONE) or of one thread, of the subtree of `context` or of all
 * contexts (PM_NONE). `column` selects its group, whose inclusive costs are used if it has them.
 * In a build of the arena, which has them. O(contexts).
 */
struct pmfs_stacks *pmfs_stacks_make(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	uint32_t thread, uint32_t context, struct pm_error *err);

/*
 * The inclusive costs of all contexts as stored in the profile, also if contexts overlap, so that
 * they do not add up (`self` means nothing then). The column is one of a quantity that has them.
 */
struct pmfs_stacks *pmfs_stacks_make_inclusive(struct pm_arena *a, struct pmfs_model *m,
	uint32_t column, uint32_t thread, struct pm_error *err);

/*
 * Merges frames below level PM_LIMIT_STACK_LEVELS into the frame on that level, including their
 * exclusive costs. Returns the original number of levels. In a build of the arena, which is left as
 * it was. O(contexts).
 */
uint32_t pmfs_stacks_cut(struct pm_arena *a, struct pmfs_stacks *s);

/* Fills `shown` as above, for callers that need no costs. */
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

/* A cost in the unit of exports, rounded; 0 if it is not positive. */
uint64_t pmfs_stacks_units(const struct pmfs_stacks *s, double cost);

/* The same for a context's exclusive cost. */
static inline uint64_t pmfs_stacks_own(const struct pmfs_stacks *s, uint32_t context)
{
	return pmfs_stacks_units(s, s->self[context - s->first]);
}

/* The sum of all of them. */
uint64_t pmfs_stacks_total(const struct pmfs_stacks *s);

/*
 * The total number of frames in the stacks of all frames with an exclusive cost, for exports that
 * write each stack; in a deep tree this is much larger than the number of contexts. In a build of
 * the arena, which is left as it was. O(contexts).
 */
uint64_t pmfs_stacks_count_levels(struct pm_arena *a, const struct pmfs_stacks *s);

/* a + b, saturating, so that hostile costs do not wrap. */
static inline uint64_t pmfs_stacks_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The name of a frame for viewers: as in tables, `(unknown)` if it has none. */
struct pm_bytes pmfs_stacks_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch);

/*
 * ---- stacks by name ----
 *
 * For viewers that know nothing else about a frame: children of a frame with the same name are
 * merged, so every path of names occurs once. Made in a build of the arena that has them.
 */

/* Node 0 is the root, without a name; parents come before children. */
struct pmfs_name_paths {
	uint32_t n;
	uint32_t *parent;      /* PM_NONE for the root */
	uint32_t *name;        /* into names; see pmfs_name_paths_name */
	double *self;          /* sum over the frames */
	uint32_t *child_start; /* n + 1: the children of i are children[child_start[i]] … */
	uint32_t *children;    /* … below child_start[i + 1], in the order of the tree */
	struct pm_strtab names;
};

/*
 * `clean` appends a name in the form for the viewer; names that become equal are merged.
 * O(contexts).
 */
struct pmfs_name_paths *pmfs_name_paths_make(struct pm_arena *a, const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name));

/* Empty for the root. */
static inline struct pm_bytes pmfs_name_paths_name(const struct pmfs_name_paths *p, uint32_t node)
{
	return p->names.items[p->name[node]];
}

/*
 * ---- call paths around a function ----
 *
 * Of all its callers and all its callees, over all its calls.
 * Functions with the same name are merged.
 */

/*
 * The paths below the function's outermost calls, merged: the root is the function, and costs are
 * as in `all`. `name` is a name of `all`. O(all->n).
 */
struct pmfs_name_paths *pmfs_callee_paths(
	struct pm_arena *a, const struct pmfs_name_paths *all, uint32_t name);

/*
 * The paths up from the function's outermost calls, merged: the root is the function, its children
 * are its callers. `total` has inclusive costs by node of `all`; the cost of each call is added at
 * the end of its path. Paths end after `levels` callers, or earlier if there would be more than
 * all->n nodes. O(all->n * levels).
 */
struct pmfs_name_paths *pmfs_caller_paths(struct pm_arena *a, const struct pmfs_name_paths *all,
	uint32_t name, const double *total, uint32_t levels);

#endif
