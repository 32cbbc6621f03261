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
	struct pm_arena arena; /* of the names */
};

/*
 * `clean` appends a name in the form for the viewer; names that become equal are merged. The caller
 * frees `ret`; a failure leaves nothing allocated. O(contexts).
 */
int pmfs_name_paths_make(const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name), struct pmfs_name_paths *ret,
	struct pm_error *err);

/*
 * For callers that build paths of their own: starts with only the root and room for `room` nodes.
 * Then add nodes, parents first, and finally list their children. 0 or -ENOMEM.
 */
int pmfs_name_paths_begin(struct pmfs_name_paths *p, size_t room);
void pmfs_name_paths_end(struct pmfs_name_paths *p);

/* Accepts a zeroed one. */
void pmfs_name_paths_done(struct pmfs_name_paths *p);

/* Empty for the root. */
static inline struct pm_bytes pmfs_name_paths_name(const struct pmfs_name_paths *p, uint32_t node)
{
	return p->names.items[p->name[node]];
}

#endif
