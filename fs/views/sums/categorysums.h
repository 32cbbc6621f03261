/* Costs by category: of the run, and of each function. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H
#define PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H

#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"

/* Rows of categories.csv. */
struct pmfs_category_sums {
	const struct pmfs_columns *columns;
	uint32_t n; /* categories with contexts, most expensive first */
	uint32_t order[PMFS_N_CATEGORIES];
	uint64_t contexts[PMFS_N_CATEGORIES];
	double whole;
	double *cells; /* columns->n per category */
};

/* Computed on the first call; owned by the model. */
int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err);

/*
 * The total of the primary quantity: the sum of exclusive costs, or of top-level inclusive costs if
 * there are no exclusive ones. One pass over the contexts on the first call.
 */
int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err);

/*
 * By function: the category with most of its exclusive cost of the primary quantity, or that of its
 * first context if it has no cost. The caller frees `*ret`. 0, or a negative errno.
 */
int pmfs_function_categories(struct pmfs_model *m, uint8_t **ret, struct pm_error *err);

#endif
