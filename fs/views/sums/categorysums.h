/* Costs by category: of the run, and of each function. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H
#define PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H

#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"

/* Rows of categories.csv. */
struct pmfs_category_sums {
	const struct pmfs_columns *columns;
	uint32_t n; /* categories that have contexts, dearest first */
	uint32_t order[PMFS_N_CATEGORIES];
	uint64_t contexts[PMFS_N_CATEGORIES];
	double whole;
	double *cells; /* columns->n a category */
};

/* Computed on the first call; the model's. */
int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err);

/*
 * What all contexts cost together of the leading quantity: the sum of own costs, or of inclusive
 * ones at the top where no own ones are known. One pass over the contexts on the first call.
 */
int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err);

/*
 * By function: the category that most of its own cost of the leading quantity lies in, or that of
 * its first context where it has none. `*ret` is the caller's, for free(). 0, or a negative errno.
 */
int pmfs_function_categories(struct pmfs_model *m, uint8_t **ret, struct pm_error *err);

#endif
