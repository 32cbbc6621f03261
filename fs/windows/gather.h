/* The costs of a window: the sums of the parts of traces, in a tree of their own. */
#ifndef PROFMOUNT_FS_WINDOWS_GATHER_H
#define PROFMOUNT_FS_WINDOWS_GATHER_H

#include "formats/common/callcosts.h"
#include "formats/common/tree.h"
#include "fs/windows/cut.h"

struct pmfs_gathered {
	const struct pm_tree *whole; /* of the run */
	const struct pmfs_index *index;
	const struct pmfs_cut *cuts;
	uint32_t first, n; /* threads: a cut each */
};

/*
 * Builds the tree of the contexts that were tallied, and of their ancestors, with costs by thread.
 * Calls were tallied with their whole time, samples with that of their own context. Contexts that
 * the run's tree lacks are left out. Time in which nothing runs, by samples of context 0 or of one
 * of the tree that says so, is the cost of a context 0 at the top, where the tree has a frame for
 * it. 0 or a negative errno; call pm_callcosts_done in any case.
 */
int pmfs_gather(const struct pmfs_gathered *from, struct pm_tree **ret,
	struct pm_callcosts *ret_costs, struct pm_error *err);

#endif
