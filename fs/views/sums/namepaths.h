/*
 * Stacks by name only, for viewers that know nothing else about a frame: children of a frame with
 * the same name are merged, so every path of names occurs once.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_NAMEPATHS_H
#define PROFMOUNT_FS_VIEWS_SUMS_NAMEPATHS_H

#include "formats/common/map.h"
#include "fs/views/sums/stacks.h"

/* Node 0 is the root, without a name; parents come before children. */
struct pmfs_name_paths {
	uint32_t n;
	uint32_t *parent;      /* PM_NONE for the root */
	uint32_t *name;        /* into names; see pmfs_name_paths_name */
	double *self;          /* sum over the frames */
	uint32_t *child_start; /* n + 1: the children of i are children[child_start[i]] … */
	uint32_t *children;    /* … below child_start[i + 1], in the order of the tree */
	struct pm_strtab names;
	struct pm_arena arena; /* of everything; must not be moved while it is made */
};

/*
 * `clean` appends a name in the form for the viewer; names that become equal are merged. The caller
 * frees `ret`; a failure leaves nothing allocated. O(contexts).
 */
int pmfs_name_paths_make(const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name), struct pmfs_name_paths *ret,
	struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_name_paths_done(struct pmfs_name_paths *p);

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
 * as in `all`. `name` is a name of `all`. Free with pmfs_name_paths_done. O(all->n); 0 or -ENOMEM.
 */
int pmfs_callee_paths(
	const struct pmfs_name_paths *all, uint32_t name, struct pmfs_name_paths *ret);

/*
 * The paths up from the function's outermost calls, merged: the root is the function, its children
 * are its callers. `total` has inclusive costs by node of `all`; the cost of each call is added at
 * the end of its path. Paths end after `levels` callers, or earlier if there would be more than
 * all->n nodes. Free with pmfs_name_paths_done. O(all->n * levels); 0 or -ENOMEM.
 */
int pmfs_caller_paths(const struct pmfs_name_paths *all, uint32_t name, const double *total,
	uint32_t levels, struct pmfs_name_paths *ret);

#endif
