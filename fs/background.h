/* Runs the program in the background: the command returns once it is ready. */
#ifndef PROFMOUNT_FS_BACKGROUND_H
#define PROFMOUNT_FS_BACKGROUND_H

#include <stdbool.h>

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

/* Detaches from the terminal and leaves the working directory. */
void pmfs_background_leave(const struct pmfs_background *b);

/*
 * Detaches, and lets the waiting process exit with success; false if that has been interrupted.
 * Until then, the death of the waiting process terminates this one.
 */
bool pmfs_background_ready(struct pmfs_background *b);

#endif
