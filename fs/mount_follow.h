/*
 * -o follow: the mount switches to a new snapshot of its source when it has grown. A snapshot is
 * the source opened again, as a separate instance.
 *
 * A request is answered from one snapshot, and an open file or directory belongs to one. A file
 * that has been read to its end, and is read again there, switches to the newest snapshot. Root
 * entries with fixed names keep their inode numbers in all snapshots; the inode numbers of
 * contexts, functions, threads and items, which are renumbered, contain their snapshot.
 */
#ifndef PROFMOUNT_FS_MOUNT_FOLLOW_H
#define PROFMOUNT_FS_MOUNT_FOLLOW_H

#include <stdint.h>

#include "fs/mount_ops.h"
#include "fs/options.h"

/*
 * Starts watching the source of `m`, which was opened after `mark` was taken; takes ownership of
 * m->in. NULL if out of memory.
 */
struct pmfs_follow *pmfs_follow_start(struct pmfs_mount *m, const struct pmfs_options *options,
	const char *source, uint64_t mark);

/* Ends it; false if it does not end within a second. No requests are being served any more. */
bool pmfs_follow_stop(struct pmfs_follow *f);

/*
 * The snapshot of an inode number of the kernel, to be released; NULL if it no longer exists.
 * Without -o follow, the argument.
 */
struct pmfs_mount *pmfs_mount_pin(struct pmfs_mount *session, fuse_ino_t ino);
void pmfs_mount_unpin(struct pmfs_mount *m);

/* Inode numbers as seen by the kernel. */
fuse_ino_t pmfs_mount_ino(const struct pmfs_mount *m, pm_node node);
pm_node pmfs_mount_node(fuse_ino_t ino);

/* Open files: fi->fh of open; 0 if out of memory. */
uint64_t pmfs_handle_open(struct pmfs_mount *session, fuse_ino_t ino);
void pmfs_handle_close(uint64_t handle);

/* The snapshot for a read of it, to be released. */
struct pmfs_mount *pmfs_handle_pin(
	struct pmfs_mount *session, uint64_t handle, pm_node node, uint64_t off);

/* ---- noticing changes of a source ---- */

/* A number that changes with the source; for a folder, with the files in it and one level below. */
uint64_t pmfs_source_mark(const char *path);

#endif
