/*
 * Which threads cost anything at all, which a stored zero is not: empty threads are counted apart.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_EMPTYTHREADS_H
#define PROFMOUNT_FS_VIEWS_SUMS_EMPTYTHREADS_H

#include "fs/views/model/model.h"

struct pmfs_empty_threads {
	uint32_t n_threads;
	uint32_t n_empty;  /* threads that no column has a cost of */
	const bool *empty; /* by thread */
};

/*
 * Computed on the first call; the model's. Quantities with inclusive costs are looked for at the
 * contexts at the top, only counts take reading all values of each thread.
 */
int pmfs_empty_threads(
	struct pmfs_model *m, const struct pmfs_empty_threads **ret, struct pm_error *err);

#endif
