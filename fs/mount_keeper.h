/*
 * The keeper: a child process that unmounts. Unmounting takes a privilege (root's, or that of the
 * set-user-id fusermount3) that the process which reads a profile has given up.
 */
#ifndef PROFMOUNT_FS_MOUNT_KEEPER_H
#define PROFMOUNT_FS_MOUNT_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct fuse_session;

struct pmfs_keeper {
	pid_t pid;
	int line; /* a byte over it: unmount; its end without one: the server died */
};

/*
 * Starts it for a mounted session; `always` has it unmount also when the server dies. Returns 0 or
 * a negative errno.
 */
int pmfs_keeper_start(struct pmfs_keeper *ret, struct fuse_session *se, bool always);

/* Has it unmount, and waits for that. What is unmounted already stays so. */
void pmfs_keeper_unmount(struct pmfs_keeper *keeper);

#endif
