/*
 * Builds a struct pm_tree: contexts are added in database order, parents before children, then
 * frozen into pre-order arrays. Formats that do not store a tree use pm_tree_child, which finds or
 * adds a child; formats that store one use pm_tree_add, which keeps duplicate siblings separate.
 */
#ifndef PROFMOUNT_TREE_H
#define PROFMOUNT_TREE_H

#include "formats/common/map.h"
#include "profmount/profile.h"

struct pm_tree_builder;

/* NULL if out of memory. The functions below return PM_NONE if out of memory. */
struct pm_tree_builder *pm_tree_builder_new(void);

/* Accepts NULL; frees also what was never frozen. Returns NULL. */
struct pm_tree_builder *pm_tree_builder_free(struct pm_tree_builder *b);

/*
 * The index of a text; equal texts have the same index. 0 is the empty text. With `copy` the bytes
 * are copied into the tree, otherwise they must outlive it (mapped input).
 */
uint32_t pm_tree_text(struct pm_tree_builder *b, struct pm_bytes text, bool copy);

/* Adds a function, which must be new. Returns its index. */
uint32_t pm_tree_function(struct pm_tree_builder *b, const struct pm_function *function);

/* The index of an equal frame, which is added if it is new. */
uint32_t pm_tree_intern(struct pm_tree_builder *b, const struct pm_frame *frame);

/*
 * Adds a context below `parent` (an earlier return value, or PM_NONE) with its number in the
 * database (0 if the format has no numbers; then all contexts must have 0). Returns its rank.
 */
uint32_t pm_tree_add(struct pm_tree_builder *b, uint32_t parent, uint32_t frame, uint32_t number);

/* The child of `parent` with this frame, which is added without a number if there is none. O(1). */
uint32_t pm_tree_child(struct pm_tree_builder *b, uint32_t parent, uint32_t frame);

/* A frame by its index. Valid until the next one is added. */
const struct pm_frame *pm_tree_interned(const struct pm_tree_builder *b, uint32_t frame);

/* Number of contexts so far. */
uint32_t pm_tree_count(const struct pm_tree_builder *b);

/* The parent (a rank or PM_NONE), frame and number of a context by rank. */
uint32_t pm_tree_parent_of(const struct pm_tree_builder *b, uint32_t rank);
uint32_t pm_tree_frame_of(const struct pm_tree_builder *b, uint32_t rank);
uint32_t pm_tree_number_of(const struct pm_tree_builder *b, uint32_t rank);

/*
 * Freezes the tree and frees the builder. `weight[rank]` is the inclusive cost by which siblings
 * are ordered (NULL: database order; NaN is the smallest). `*ret_index` (unless NULL) becomes an
 * array rank → index in the tree, to be freed by the caller. If several contexts have the same
 * number, pm_tree_find finds the first. With weights, `ordered_by` is set to group 0; callers that
 * use another group change it.
 */
int pm_tree_freeze(struct pm_tree_builder *b, const double *weight, struct pm_tree **ret,
	uint32_t **ret_index, struct pm_error *err);

/*
 * The same tree with siblings in a different order: by `weight[i]`, where i is a context of `tree`,
 * as above. Contexts keep their numbers. Frames, functions and texts are shared with `tree`, which
 * must outlive it. `*ret_from` becomes an array context → context of `tree`, to be freed by the
 * caller. `ordered_by` is as in `tree`.
 */
int pm_tree_reorder(const struct pm_tree *tree, const double *weight, struct pm_tree **ret,
	uint32_t **ret_from, struct pm_error *err);

/* A context that a part of a tree has at the top, with number 0: `frame` is one of the tree's. */
struct pm_tree_extra {
	uint32_t frame; /* PM_NONE: there is none */
	double weight;
};

/* For context 0, where nothing runs: <no activity>. PM_NONE if out of memory. */
uint32_t pm_tree_intern_nothing(struct pm_tree_builder *b);

/*
 * The same, with only the contexts that are `kept`. If one is kept, so are all above it. Of the
 * `extra` one, `*ret_from` is tree->n_contexts.
 */
int pm_tree_prune(const struct pm_tree *tree, const double *weight, const bool *kept,
	const struct pm_tree_extra *extra, struct pm_tree **ret, uint32_t **ret_from,
	struct pm_error *err);

/*
 * A part of a tree with contexts joined, and hung elsewhere: context k has the frame and the number
 * of `from[k]`, and those with from[k] == PM_NONE, at most `n_made`, have a placeholder named
 * `made` and numbers of their own. Parents come before their children; in this order siblings with
 * equal weight are. `*ret_index` as in pm_tree_freeze; `ordered_by` is set by the caller. The tree
 * must outlive it, and so must `made`.
 */
struct pm_tree_regrowth {
	uint32_t n;
	const uint32_t *parent, *from;
	const double *weight; /* NULL: in their order */
	uint32_t n_made;
	struct pm_bytes made;
};
int pm_tree_regrow(const struct pm_tree *tree, const struct pm_tree_regrowth *with,
	struct pm_tree **ret, uint32_t **ret_index, struct pm_error *err);

/*
 * The contexts from the outermost down to `context`, `*ret_n` of them, in the arena.
 */
uint32_t *pm_tree_path(
	struct pm_arena *a, const struct pm_tree *tree, uint32_t context, uint32_t *ret_n);

/* Accepts NULL. */
void pm_tree_free(struct pm_tree *tree);

#endif
