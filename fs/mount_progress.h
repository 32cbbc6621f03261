/*
 * .progress and .status at the root: the running builds and their progress, and what the server
 * has. They are not listed.
 *
 * Each opening shows a snapshot with its own inode number. Its size is therefore exact, readers get
 * a consistent state, and the kernel may cache its contents. A snapshot lives as long as the kernel
 * knows its number. A name that is looked up again shortly afterwards, for example by a program
 * that calls stat before open, still refers to the same snapshot.
 */
#ifndef PROFMOUNT_FS_MOUNT_PROGRESS_H
#define PROFMOUNT_FS_MOUNT_PROGRESS_H

#include "fs/mount_ops.h"

/* NULL if out of memory. */
struct pmfs_progress *pmfs_progress_new(void);

/* Call it when no requests are being served any more. Accepts NULL. */
void pmfs_progress_free(struct pmfs_progress *p);

/* Is it the number of a snapshot, and is the name one? */
bool pmfs_progress_is(fuse_ino_t ino);
bool pmfs_progress_is_named(fuse_ino_t parent, const char *name);

/*
 * Requests, answered without waiting. `m` is the session. `ino`: the root, or the snapshot itself.
 */
void pmfs_progress_lookup(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino, const char *name);
void pmfs_progress_getattr(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino);
void pmfs_progress_read(
	struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino, size_t size, off_t off);
void pmfs_progress_forget(struct pmfs_mount *m, fuse_ino_t ino, uint64_t n);

#endif
