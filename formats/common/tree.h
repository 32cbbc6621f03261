/*
 * Builds a struct pm_tree: contexts are added in database order, parents before children, then
 * frozen into pre-order arrays. Formats without a tree of their own use pm_tree_child, which finds
 * or makes a child; formats with one use pm_tree_add, which keeps duplicate siblings apart.
 */
#ifndef PROFMOUNT_TREE_H
#define PROFMOUNT_TREE_H

#include "formats/common/map.h"
#include "profmount/profile.h"

struct pm_tree_builder;

/* NULL without memory. Functions below fail with PM_NONE where memory runs out. */
struct pm_tree_builder *pm_tree_builder_new(void);

/* Accepts NULL; frees also what was never frozen. Returns NULL. */
struct pm_tree_builder *pm_tree_builder_free(struct pm_tree_builder *b);

/*
 * The index of a text: equal texts share one. 0 is the empty text. With `copy` the bytes are
 * copied into the tree, else they must outlive it (mapped input).
 */
uint32_t pm_tree_text(struct pm_tree_builder *b, struct pm_bytes text, bool copy);

/* Adds a function; the caller knows that it is new. Returns its index. */
uint32_t pm_tree_function(struct pm_tree_builder *b, const struct pm_function *function);

/* The index of an equal frame, new or known. */
uint32_t pm_tree_intern(struct pm_tree_builder *b, const struct pm_frame *frame);

/*
 * Adds a context below `parent` (an earlier return value, or PM_NONE) with the database's number
 * for it (0 where the format has none: then no context may have one). Returns its rank.
 */
uint32_t pm_tree_add(struct pm_tree_builder *b, uint32_t parent, uint32_t frame, uint32_t number);

/* The child of `parent` with that frame, found or added without a number. O(1). */
uint32_t pm_tree_child(struct pm_tree_builder *b, uint32_t parent, uint32_t frame);

/* Contexts so far. */
uint32_t pm_tree_count(const struct pm_tree_builder *b);

/* The parent (a rank or PM_NONE) and frame of a context by rank. */
uint32_t pm_tree_parent_of(const struct pm_tree_builder *b, uint32_t rank);
uint32_t pm_tree_frame_of(const struct pm_tree_builder *b, uint32_t rank);

/*
 * Freezes the tree and frees the builder. `weight[rank]` is the inclusive cost that orders
 * siblings (NULL: database order; NaN counts as least). `*ret_index` (unless NULL) becomes an
 * array rank → index in the tree, the caller's to free(). Of contexts with one number the first
 * is found by pm_tree_find. The tree says that group 0 orders it, where there are weights: who
 * weighs by another one changes `ordered_by`.
 */
int pm_tree_freeze(struct pm_tree_builder *b, const double *weight, struct pm_tree **ret,
	uint32_t **ret_index, struct pm_error *err);

/*
 * The same tree with siblings in another order: by `weight[i]`, i a context of `tree`, as above.
 * Contexts keep their numbers. Frames, functions and texts stay those of `tree`, which must outlive
 * it. `*ret_from` becomes an array context → context of `tree`, the caller's to free().
 * `ordered_by` is as in `tree`.
 */
int pm_tree_reorder(const struct pm_tree *tree, const double *weight, struct pm_tree **ret,
	uint32_t **ret_from, struct pm_error *err);

/* The same of the contexts that are `kept` alone: all above one that is kept are, too. */
int pm_tree_prune(const struct pm_tree *tree, const double *weight, const bool *kept,
	struct pm_tree **ret, uint32_t **ret_from, struct pm_error *err);

/* Accepts NULL. */
void pm_tree_free(struct pm_tree *tree);

/*
 * For costs that are added up the tree: adds each context's `own` to itself and all above it in
 * `total` (n_contexts cells each, NaN = none counts as 0 in sums and stays NaN where nothing was
 * added). `own` and `total` may be the same array. O(n).
 */
void pm_tree_sum_up(const struct pm_tree *tree, const double *own, double *total);

#endif
