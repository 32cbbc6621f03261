/*
 * What each quantity costs as a whole: the sum of own costs over all contexts, which in a tree of
 * calls or samples is the sum of the inclusive costs at the top.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_TOTALS_H
#define PROFMOUNT_FS_VIEWS_SUMS_TOTALS_H

#include "fs/views/model/model.h"

struct pmfs_totals {
	const double *of; /* by column: that of its group; 0 where nothing has a cost */
	const struct pmfs_columns *columns;
};

/*
 * Computed on the first call; the model's. Reads the contexts at the top, and all of them only
 * where a quantity has no inclusive cost.
 */
int pmfs_totals(struct pmfs_model *m, const struct pmfs_totals **ret, struct pm_error *err);

/*
 * Has the column's quantity a cost anywhere? 1 or 0; 1 also where that cannot be read, so that who
 * asks for it is told why. -ENOMEM where that cannot be told now.
 */
int pmfs_has_cost(struct pmfs_model *m, uint32_t column, struct pm_error *err);

/*
 * Appends a line with the word `unaccounted` that says how much of the wholes stands in no
 * function, where the source's costs contradict each other; nothing where all adds up.
 */
int pmfs_unaccounted(struct pmfs_model *m, struct pm_text *out, struct pm_error *err);

#endif
