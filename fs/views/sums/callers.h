/* Call edges: callers, callees, call sites and costs. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CALLERS_H
#define PROFMOUNT_FS_VIEWS_SUMS_CALLERS_H

#include "fs/views/model/identity.h"

#define PMFS_UNCOUNTED UINT64_MAX /* calls that were not counted */

/* One row of callers.csv. */
struct pmfs_call_edge {
	uint32_t caller; /* a function, or PM_NONE: at the top */
	uint32_t callee;
	uint32_t file; /* text: of the call site */
	uint32_t line; /* 0 = unknown */
	uint64_t calls;
};

struct pmfs_calls {
	uint32_t n;
	const struct pmfs_call_edge *calls;
	const pm_number
		*cells; /* columns->n per call; inclusive: of the callee's outermost instances */
	const uint32_t *order; /* in the order of callers.csv: highest inclusive cost first */
	/* The calls of function f are list[first[f]] … list[first[f + 1] - 1], in that order. */
	const uint32_t *by_caller, *caller_first;
	const uint32_t *by_callee, *callee_first;
	const struct pmfs_identity *identity;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
};

/* Computed on the first call; owned by the model. */
int pmfs_calls(struct pmfs_model *m, const struct pmfs_calls **ret, struct pm_error *err);

#endif
