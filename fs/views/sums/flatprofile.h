/* The flat profile of a part of the run: of a context's subtree, or of a thread. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_FLATPROFILE_H
#define PROFMOUNT_FS_VIEWS_SUMS_FLATPROFILE_H

#include "fs/views/sums/functions.h"

struct pmfs_flat_profile {
	const struct pmfs_functions *functions; /* of the whole run */
	uint32_t n;                             /* functions that have a context in the part */
	uint32_t *order;                        /* their rows here, highest exclusive cost first */
	uint32_t *whole;    /* row → that of functions.csv; NULL: the same one */
	uint32_t *contexts; /* row → how many */
	double *cells;      /* row → functions->columns->n cells */
};

/* Reads the costs of the subtree. `*ret` is the caller's. */
int pmfs_context_functions(struct pmfs_model *m, uint32_t context, struct pmfs_flat_profile **ret,
	struct pm_error *err);

/* Reads all of the thread's values. `*ret` is the caller's. */
int pmfs_thread_functions(struct pmfs_model *m, uint32_t thread, struct pmfs_flat_profile **ret,
	struct pm_error *err);

/* Accepts NULL. */
void pmfs_flat_profile_free(struct pmfs_flat_profile *f);

#endif
