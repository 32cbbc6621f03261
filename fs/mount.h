/* The mount: FUSE in front of an instance. Only fs/mount*.c uses libfuse. */
#ifndef PROFMOUNT_FS_MOUNT_H
#define PROFMOUNT_FS_MOUNT_H

#include "fs/opening.h"

/*
 * Opens the sources, mounts them, moves to the background unless told otherwise, and serves until
 * it is unmounted. Returns the exit status of the process; errors before it moves to the background
 * are reported on standard error.
 */
int pmfs_mount(const struct pmfs_options *options, const struct pmfs_source_paths *sources);

#endif
