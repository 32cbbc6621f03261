/* A program that returns to its caller once it is ready, and goes on in the background. */
#ifndef PROFMOUNT_FS_BACKGROUND_H
#define PROFMOUNT_FS_BACKGROUND_H

#include <stdbool.h>

/* Zeroed and `wanted` false: everything here does nothing, the program stays in the foreground. */
struct pmfs_background {
	bool wanted;
	int null; /* /dev/null, opened while that is allowed; -1 where it is missing */
	int line; /* to the process that waits */
};

/*
 * Forks where a background is wanted. 0 in the process that is to go on, on the terminal still; in
 * the one that was started 1, once the other is ready or has ended, with the status to exit with.
 * A negative errno where there is no other process.
 */
int pmfs_background_start(struct pmfs_background *b, int *ret_status);

/* Leaves the terminal and the working directory. */
void pmfs_background_leave(const struct pmfs_background *b);

/* Leaves, and lets the process that waits end with success. */
void pmfs_background_ready(struct pmfs_background *b);

#endif
