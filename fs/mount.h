/* The mount: FUSE in front of an instance. Only this room sees libfuse. */
#ifndef PROFMOUNT_FS_MOUNT_H
#define PROFMOUNT_FS_MOUNT_H

#include "fs/opening.h"

/*
 * Opens the sources, mounts them, goes into the background unless told otherwise, and
 * serves until it is unmounted. Returns the process's exit status; failures before the background
 * are said on standard error.
 */
int pmfs_mount(const struct pmfs_options *options, const struct pmfs_source_paths *sources);

#endif
