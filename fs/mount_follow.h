/*
 * -o follow: the mount moves on to a new snapshot of its source when that has grown. A snapshot is
 * the source opened once more: an instance of its own, and what requests see of the mount.
 *
 * A request is answered out of one snapshot, an open file or directory belongs to one; a file that
 * was read to its end and is read on there goes over to the newest. What stands at the root and has
 * a fixed name keeps its inode number from snapshot to snapshot; numbers of contexts, functions,
 * threads and items, which are counted anew, say of which snapshot they are.
 */
#ifndef PROFMOUNT_FS_MOUNT_FOLLOW_H
#define PROFMOUNT_FS_MOUNT_FOLLOW_H

#include "fs/mount_ops.h"
#include "fs/options.h"

/* A number that changes with the source, for a folder with the files in it and one level below. */
uint64_t pmfs_follow_mark(const char *source);

/*
 * Begins to look at the source, which `m` presents, as it was opened after it had that mark; takes
 * m->in over. NULL without memory.
 */
struct pmfs_follow *pmfs_follow_start(struct pmfs_mount *m, const struct pmfs_options *options,
	const char *source, uint64_t mark);

/* Ends it; false where it does not end within a second. Nobody is being served any more. */
bool pmfs_follow_stop(struct pmfs_follow *f);

/*
 * The snapshot that an inode number of the kernel is of, to be given back; NULL where it is gone.
 * Without -o follow, what was given.
 */
struct pmfs_mount *pmfs_mount_pin(struct pmfs_mount *session, fuse_ino_t ino);
void pmfs_mount_unpin(struct pmfs_mount *m);

/* Inode numbers as the kernel has them. */
fuse_ino_t pmfs_mount_ino(const struct pmfs_mount *m, pm_node node);
pm_node pmfs_mount_node(fuse_ino_t ino);

/* Open files: fi->fh of open; 0 without memory. */
uint64_t pmfs_handle_open(struct pmfs_mount *session, fuse_ino_t ino);
void pmfs_handle_close(uint64_t handle);

/* The snapshot for a read of it, to be given back. */
struct pmfs_mount *pmfs_handle_pin(
	struct pmfs_mount *session, uint64_t handle, pm_node node, uint64_t off);

#endif
