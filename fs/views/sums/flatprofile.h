/* The flat profile of a part of the run: a subtree or a thread. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_FLATPROFILE_H
#define PROFMOUNT_FS_VIEWS_SUMS_FLATPROFILE_H

#include "fs/views/sums/functions.h"

struct pmfs_flat_profile {
	const struct pmfs_functions *functions; /* of the whole run */
	uint32_t n;                             /* functions with a context in the part */
	uint32_t *order;    /* rows of this profile, highest exclusive cost first */
	uint32_t *whole;    /* row → row of functions.csv; NULL: identical */
	uint32_t *contexts; /* row → number of contexts */
	double *cells;      /* row → functions->columns->n cells */
};

/* Reads the costs of the subtree. The caller owns `*ret`. */
int pmfs_context_functions(struct pmfs_model *m, uint32_t context, struct pmfs_flat_profile **ret,
	struct pm_error *err);

/* Reads all values of the thread. The caller owns `*ret`. */
int pmfs_thread_functions(struct pmfs_model *m, uint32_t thread, struct pmfs_flat_profile **ret,
	struct pm_error *err);

/* Accepts NULL. */
void pmfs_flat_profile_free(struct pmfs_flat_profile *f);

#endif
