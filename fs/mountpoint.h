/* What is to be known of a mountpoint before and after mounting. */
#ifndef PROFMOUNT_FS_MOUNTPOINT_H
#define PROFMOUNT_FS_MOUNTPOINT_H

#include <stdbool.h>

#include "profmount/error.h"

/*
 * Does it serve? The error says why not: missing, no directory, busy, or left behind by a process
 * that died, and then what heals it.
 */
int pmfs_mountpoint_check(const char *mountpoint, struct pm_error *err);

/*
 * Lets the kernel read 4 MiB ahead instead of 128 KiB: first reading of large files is three times
 * as fast. Only root may; silently without effect for others. `mountpoint` is absolute.
 */
void pmfs_mountpoint_raise_readahead(const char *mountpoint);

#endif
