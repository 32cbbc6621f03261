/*
 * .progress at the root: what is being built, and how far it is. It is not listed.
 *
 * Each opening shows a snapshot, which has an inode number of its own: so its size is exact, its
 * readers get one state and not halves of two, and the kernel may keep its bytes. A snapshot lives
 * as long as the kernel knows its number. A name that is looked up again at once, as by a program
 * that looks at a file before it opens it, still means the same one.
 */
#ifndef PROFMOUNT_FS_MOUNT_PROGRESS_H
#define PROFMOUNT_FS_MOUNT_PROGRESS_H

#include "fs/mount_ops.h"

/* NULL without memory. */
struct pmfs_progress *pmfs_progress_new(void);

/* Nobody is being served any more. Accepts NULL. */
void pmfs_progress_free(struct pmfs_progress *p);

/* Is it the number of a snapshot, and is the name one? */
bool pmfs_progress_is(fuse_ino_t ino);
bool pmfs_progress_is_named(fuse_ino_t parent, const char *name);

/* Requests; they wait for nothing. `m` is the session. `ino`: the root, or the snapshot itself. */
void pmfs_progress_lookup(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino);
void pmfs_progress_getattr(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino);
void pmfs_progress_read(
	struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino, size_t size, off_t off);
void pmfs_progress_forget(struct pmfs_mount *m, fuse_ino_t ino, uint64_t n);

#endif
