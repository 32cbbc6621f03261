/* Shared by the files of the mount: answers to FUSE requests. Only these files use libfuse. */
#ifndef PROFMOUNT_FS_MOUNT_OPS_H
#define PROFMOUNT_FS_MOUNT_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

/* What libfuse 3.3 does not have yet; kernels that have it are then not asked for it. */
#ifndef FUSE_CAP_NO_OPENDIR_SUPPORT /* 3.5 */
#define FUSE_CAP_NO_OPENDIR_SUPPORT (1u << 31)
#define PMFS_NO_CACHE_READDIR
#endif
#ifndef FUSE_CAP_EXPLICIT_INVAL_DATA /* 3.9 */
#define FUSE_CAP_EXPLICIT_INVAL_DATA 0
#endif
#ifndef FUSE_CAP_CACHE_SYMLINKS /* 3.10 */
#define FUSE_CAP_CACHE_SYMLINKS 0
#endif

#include "fs/instance.h"

enum { PMFS_BLOCK = 128 << 10 }; /* st_blksize: the size of reads of glibc and Python */

/* The session's user data. */
struct pmfs_mount {
	struct pmfs_instance *in;
	struct pmfs_jobs *jobs; /* set when the loop begins */
	struct pmfs_warm *warm; /* or NULL */
	struct pmfs_progress *progress;
	struct pmfs_unlisted_names *unlisted; /* NULL with -o follow */
	uid_t uid;
	gid_t gid;
	bool kernel_opens;          /* the kernel supports ENOSYS for open and opendir */
	bool parallel;              /* it supports parallel lookups in a directory */
	bool follows;               /* -o follow */
	unsigned messages;          /* atomic: errors logged so far */
	struct pmfs_follow *follow; /* -o follow: set in its snapshots, and in the session */
	uint64_t mtime_ns;          /* of a snapshot; 0: that of the profile */
};

/* The operations, with extended attributes if `xattr`. */
void pmfs_mount_operations(struct fuse_lowlevel_ops *ret, bool xattr);

/*
 * Answers the kernel's first request. Call once between fuse_session_mount and the loop; `m` is the
 * session's user data. A negative errno if PARALLEL_DIROPS could not be negotiated.
 */
int pmfs_mount_greet(struct fuse_session *se, const struct pmfs_mount *m);

struct pmfs_call; /* fs/mount_jobs.h */

/* ---- mount_answer.c ---- */

void pmfs_answer_getattr(struct pmfs_call *c);
void pmfs_answer_lookup(struct pmfs_call *c);
void pmfs_answer_getxattr(struct pmfs_call *c);
void pmfs_answer_listxattr(struct pmfs_call *c);

void pmfs_answer_read(struct pmfs_call *c);
void pmfs_answer_readlink(struct pmfs_call *c);

void pmfs_answer_readdir(struct pmfs_call *c);
void pmfs_answer_readdirplus(struct pmfs_call *c);

#endif
