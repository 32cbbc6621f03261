/*
 * Reads the data that nearly every document needs in the background, once the mount is ready.
 * Requests that come in the meantime wait only for the rest. If all of these are interrupted, the
 * reading ends, too: nobody who presses Ctrl-C expects the disk to stay busy. It also ends when a
 * request has begun to read the same data.
 */
#ifndef PROFMOUNT_FS_MOUNT_WARM_H
#define PROFMOUNT_FS_MOUNT_WARM_H

#include <stdbool.h>

#include "profmount/profile.h"

struct pmfs_warm;

/* NULL if there is nothing to read, or no thread: the first request then reads it. */
struct pmfs_warm *pmfs_warm_start(const struct pm_profile *p);

/* Whether it is still reading, with its progress and start time. Accepts NULL. */
bool pmfs_warm_runs(struct pmfs_warm *w, uint64_t *ret_done, uint64_t *ret_total, uint64_t *ret_ms);

/*
 * Ends it. False if it does not end within a second, for example on a disk that does not respond;
 * its thread then continues. Accepts NULL.
 */
bool pmfs_warm_stop(struct pmfs_warm *w);

#endif
