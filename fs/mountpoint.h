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

/*
 * ---- the set-user-id program ----
 *
 * fusermount3, or fusermount of fuse2, which takes the same words and is what older login nodes
 * have.
 */

/* Whether fusermount3, which libfuse runs, is missing, but fusermount is there. */
bool pmfs_fusermount_is_old(void);

/*
 * Mounts by fusermount, for pmfs_fusermount_is_old. `options` are those of mount(8). Returns the
 * open device, the caller's, or -1: the program has said why on standard error.
 */
int pmfs_fusermount_mount(const char *options, const char *mountpoint);

/*
 * Unmounts what is mounted at `mountpoint`, by umount2(2) where this process may, else by the
 * program. `lazily` detaches a mount that is in use. 0, or a negative errno; -EPERM also if the
 * program refused, which it has explained on standard error unless `quiet`.
 */
int pmfs_unmount(const char *mountpoint, bool lazily, bool quiet);

#endif
