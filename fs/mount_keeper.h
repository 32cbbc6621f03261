/*
 * The keeper: a child process that mounts, logs and unmounts. That takes privileges (root's, or
 * those of the set-user-id fusermount3, and a way to the system's log) which the process that reads
 * a profile gives up before it looks at it.
 */
#ifndef PROFMOUNT_FS_MOUNT_KEEPER_H
#define PROFMOUNT_FS_MOUNT_KEEPER_H

#include <stdbool.h>

struct fuse_session;
struct pmfs_background;

struct pmfs_keeping {
	struct fuse_session *session;             /* not mounted yet */
	const char *mountpoint;                   /* absolute */
	bool always;                              /* unmount also when the server dies */
	const struct pmfs_background *background; /* it leaves the terminal, too */
};

/* First byte of a message to the keeper. A line for the log follows PMFS_KEEPER_LOG. */
enum {
	PMFS_KEEPER_MOUNT = 'm',
	PMFS_KEEPER_READY = 'r',
	PMFS_KEEPER_LOG = 'l',
	PMFS_KEEPER_UNMOUNT = 'u',
};

/*
 * Starts it, before the confinement. Returns the line to it, a descriptor that keeps the bounds of
 * messages, or a negative errno. When the line is closed without PMFS_KEEPER_UNMOUNT the server has
 * died.
 */
int pmfs_keeper_start(const struct pmfs_keeping *keeping);

/* Has it mount: the device's descriptor, or -1 where that failed and has been said. */
int pmfs_keeper_mount(int line);

/* The kernel was greeted: it raises readahead, and leaves the terminal. */
void pmfs_keeper_ready(int line);

/* Has it unmount, waits for that, and closes the line. What is unmounted already stays so. */
void pmfs_keeper_unmount(int line);

#endif
