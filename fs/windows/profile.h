/* A window as a profile. */
#ifndef PROFMOUNT_FS_WINDOWS_PROFILE_H
#define PROFMOUNT_FS_WINDOWS_PROFILE_H

#include "fs/windows/index.h"

/*
 * Threads from `first` on, `n` of them, n > 0: the whole run or one. `title` is a readable name of
 * the window. Built on first use; the index must outlive it. As pm_collection.profile.
 */
int pmfs_window_open(struct pmfs_index *x, const struct pmfs_span *span, uint32_t first, uint32_t n,
	struct pm_profile **ret, struct pm_error *err);

#endif
