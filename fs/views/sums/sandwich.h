/*
 * Call paths around a function: of all its callers and all its callees, over all its calls.
 * Functions with the same name are merged.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_SANDWICH_H
#define PROFMOUNT_FS_VIEWS_SUMS_SANDWICH_H

#include "fs/views/sums/namepaths.h"

/*
 * The paths below the function's outermost calls, merged: the root is the function, and costs are
 * as in `all`. `name` is a name of `all`. Free with pmfs_name_paths_done. O(all->n); 0 or -ENOMEM.
 */
int pmfs_callee_paths(
	const struct pmfs_name_paths *all, uint32_t name, struct pmfs_name_paths *ret);

/*
 * The paths up from the function's outermost calls, merged: the root is the function, its children
 * are its callers. `total` has inclusive costs by node of `all`; the cost of each call is added at
 * the end of its path. Paths end after `levels` callers, or earlier if there would be more than
 * all->n nodes. Free with pmfs_name_paths_done. O(all->n * levels); 0 or -ENOMEM.
 */
int pmfs_caller_paths(const struct pmfs_name_paths *all, uint32_t name, const double *total,
	uint32_t levels, struct pmfs_name_paths *ret);

#endif
