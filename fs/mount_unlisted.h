/*
 * Which names that are not listed (windows) the kernel knows: fs/tree counts their numbers, and may
 * give one to another name once the kernel has forgotten every node with it. As the kernel forgets
 * nothing while it has memory, it is told to after some thousand names.
 *
 * With -o follow, inode numbers contain their snapshot, and nothing is counted: a number is used as
 * long as the snapshot is.
 */
#ifndef PROFMOUNT_FS_MOUNT_UNLISTED_H
#define PROFMOUNT_FS_MOUNT_UNLISTED_H

#include "fs/mount_ops.h"

/* `se` outlives it. NULL if out of memory. */
struct pmfs_unlisted_names *pmfs_unlisted_names_new(struct fuse_session *se);

/* Call it when no requests are being served any more. Accepts NULL. */
void pmfs_unlisted_names_free(struct pmfs_unlisted_names *u);

/*
 * Before an entry is returned: counts a lookup of its node, found as `name` in `parent`, and
 * returns the generation. 0, or -ESTALE if its number means something else by now: it has to be
 * looked up again. -ENOMEM.
 */
int pmfs_unlisted_names_count(struct pmfs_mount *m, const struct pmfs_entry *entry,
	fuse_ino_t parent, const char *name, uint64_t *ret_generation);

/* The kernel has forgotten n lookups of a node. */
void pmfs_unlisted_names_forget(struct pmfs_mount *m, fuse_ino_t ino, uint64_t n);

/* Whether a node is, or lies in, something that is not listed. */
bool pmfs_unlisted_names_have(struct pmfs_mount *m, pm_node node);

/* How many of them the kernel knows. */
uint64_t pmfs_unlisted_names_n(struct pmfs_mount *m);

#endif
