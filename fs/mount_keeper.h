/*
 * The keeper: a child process that mounts, logs and unmounts. This requires privileges (root, or
 * the set-user-id fusermount3, and access to the system log) that the process drops before it reads
 * a profile.
 */
#ifndef PROFMOUNT_FS_MOUNT_KEEPER_H
#define PROFMOUNT_FS_MOUNT_KEEPER_H

#include <stdbool.h>

struct fuse_session;
struct pmfs_background;

struct pmfs_keeping {
	struct fuse_session *session;             /* not mounted yet */
	const char *mountpoint;                   /* absolute */
	const char *options;                      /* of mount(8) */
	bool always;                              /* unmount even if the server is killed */
	const struct pmfs_background *background; /* detach from the terminal, too */
};

/* First byte of a message to the keeper. A line for the log follows PMFS_KEEPER_LOG. */
enum {
	PMFS_KEEPER_MOUNT = 'm',
	PMFS_KEEPER_READY = 'r',
	PMFS_KEEPER_LOG = 'l',
	PMFS_KEEPER_UNMOUNT = 'u',
	PMFS_KEEPER_LEAVE = 'i',
};

/*
 * Starts it, before the confinement. Returns a socket to it that preserves message boundaries, or a
 * negative errno. If the socket is closed without PMFS_KEEPER_UNMOUNT, the server has died.
 */
int pmfs_keeper_start(const struct pmfs_keeping *keeping);

/* Tells it to mount; returns the descriptor of the device, or -1 after a reported failure. */
int pmfs_keeper_mount(int line);

/*
 * The first request has been answered: the keeper raises the readahead and detaches from the
 * terminal.
 */
void pmfs_keeper_ready(int line);

/* Tells it to unmount if nobody uses the mount. Does not wait: if it is done, the session ends. */
void pmfs_keeper_leave(int line);

/*
 * Tells it to unmount, waits for that, and closes the socket. Has no effect if it is unmounted
 * already.
 */
void pmfs_keeper_unmount(int line);

/*
 * ---- the background ----
 *
 * Runs the program in the background: the command returns once it is ready.
 */

/* Zeroed, or `wanted` false: all functions do nothing, and the program stays in the foreground. */
struct pmfs_background {
	bool wanted;
	int null; /* /dev/null, opened before the confinement; -1 if missing */
	int line; /* to the waiting process */
};

/*
 * Forks if the background is wanted. Returns 0 in the process that continues, which is still
 * attached to the terminal; returns 1 in the original process, with the status to exit with, once
 * the other one is ready or has ended. A negative errno if fork failed.
 */
int pmfs_background_start(struct pmfs_background *b, int *ret_status);

/*
 * Detaches, and lets the waiting process exit with success; false if that has been interrupted.
 * Until then, the death of the waiting process terminates this one.
 */
bool pmfs_background_ready(struct pmfs_background *b);

#endif
