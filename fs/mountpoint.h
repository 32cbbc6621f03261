/* Checks and settings of a mountpoint before and after mounting. */
#ifndef PROFMOUNT_FS_MOUNTPOINT_H
#define PROFMOUNT_FS_MOUNTPOINT_H

#include <stdbool.h>

#include "profmount/error.h"

/*
 * Whether it can be used. The error gives the reason: missing, not a directory, busy, or left
 * behind by a process that died, with the remedy.
 */
int pmfs_mountpoint_check(const char *mountpoint, struct pm_error *err);

/*
 * Sets the readahead to 4 MiB instead of 128 KiB, which makes the first read of large files three
 * times as fast. Works for root only; silently has no effect for others. `mountpoint` is absolute.
 */
void pmfs_mountpoint_raise_readahead(const char *mountpoint);

/*
 * Unmounts what profmount mounted at this path, also if its server died; anything else is left
 * alone. A negative errno with the reason in `err`, or without one if fusermount has said it.
 */
int pmfs_mountpoint_unmount(const char *mountpoint, struct pm_error *err);

#endif
