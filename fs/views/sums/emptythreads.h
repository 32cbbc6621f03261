/*
 * Threads without any cost (stored zeros do not count), which are counted separately; in filters,
 * those without any in the whole.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_EMPTYTHREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_EMPTYTHREADS_H

#include "fs/views/model/model.h"

struct pmfs_empty_threads {
	uint32_t n_threads; /* without lanes */
	uint32_t n_empty;   /* threads without a cost in any column */
	const bool *empty;  /* by thread, and lane */
};

/*
 * Computed on the first call; owned by the model. For quantities with inclusive costs only
 * top-level contexts are read; only counts require reading all values of each thread.
 */
int pmfs_empty_threads(
	struct pmfs_model *m, const struct pmfs_empty_threads **ret, struct pm_error *err);

#endif
