/*
 * The set-user-id program that mounts for users: fusermount3, or fusermount of fuse2, which takes
 * the same words and is what older login nodes have.
 */
#ifndef PROFMOUNT_FS_FUSERMOUNT_H
#define PROFMOUNT_FS_FUSERMOUNT_H

#include <stdbool.h>

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
