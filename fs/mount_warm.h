/*
 * What nearly every answer needs is read once the mount is ready, without anybody waiting for it:
 * whoever comes meanwhile waits for the rest of it only.
 */
#ifndef PROFMOUNT_FS_MOUNT_WARM_H
#define PROFMOUNT_FS_MOUNT_WARM_H

#include <stdbool.h>

#include "profmount/profile.h"

struct pmfs_warm;

/* NULL where there is nothing to be read, or no thread to do it: then the first answer takes it. */
struct pmfs_warm *pmfs_warm_start(const struct pm_profile *p);

/* Is it still reading? How far, and since when. Accepts NULL. */
bool pmfs_warm_runs(struct pmfs_warm *w, uint64_t *ret_done, uint64_t *ret_total, uint64_t *ret_ms);

/*
 * Ends it. False where it does not end within a second, as on a disk that does not answer: its
 * thread goes on. Accepts NULL.
 */
bool pmfs_warm_stop(struct pmfs_warm *w);

#endif
