/* Costs by category. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H
#define PROFMOUNT_FS_VIEWS_SUMS_CATEGORYSUMS_H

#include "fs/views/model/categories.h"
#include "fs/views/model/views.h"

/* Rows of categories.csv. */
struct pmfs_category_sums {
	const struct pmfs_columns *columns;
	uint32_t n; /* categories with contexts or costs, most expensive first */
	uint32_t order[PMFS_N_CATEGORIES];
	uint64_t contexts[PMFS_N_CATEGORIES];
	double whole;
	double busy; /* of it, what shares are of: in windows, idle time is a cost, but has none */
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

#endif
