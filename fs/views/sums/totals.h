/*
 * The total of each quantity: the sum of exclusive costs over all contexts, which in a tree of
 * calls or samples is the sum of the top-level inclusive costs. A quantity that no context has is
 * summed over the threads.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_TOTALS_H
#define PROFMOUNT_FS_VIEWS_SUMS_TOTALS_H

#include "fs/views/model/model.h"

struct pmfs_totals {
	const pm_number *of;     /* by column: the total of its group; 0 if nothing has a cost */
	const pm_number *idle;   /* by column: of it, what context 0 costs, in which nothing runs */
	const bool *in_contexts; /* by column: contexts have costs of its group */
	const struct pmfs_columns *columns;
	/*
	 * Of the primary quantity: all but what is idle. Shares, the hot path, and pictures are of
	 * what is busy; where some own costs are negative, that is the sum of their amounts.
	 */
	double busy;
	bool of_amounts;
};

/*
 * Computed on the first call; owned by the model. Reads top-level contexts, and all contexts only
 * if a quantity has no inclusive cost.
 */
int pmfs_totals(struct pmfs_model *m, const struct pmfs_totals **ret, struct pm_error *err);

/*
 * Whether contexts have costs of the column's quantity. 1 or 0; 1 also if it cannot be read, so
 * that reading it reports the reason. -ENOMEM if this cannot be determined now.
 */
int pmfs_has_cost(struct pmfs_model *m, uint32_t column, struct pm_error *err);

/*
 * Appends a line with the word `unaccounted` and the part of the totals that is not in any
 * function, if the costs of the source are inconsistent; nothing if everything adds up. In a build.
 */
void pmfs_unaccounted(
	struct pm_arena *a, struct pmfs_model *m, struct pm_text *out, struct pm_error *err);

/* ---- counts of contexts, threads and so on, for info.json and texts ---- */

/* PM_NO_TIME if the format does not have such things. */
struct pmfs_counts {
	uint64_t contexts, threads, metrics, functions, samples, damages;
	uint64_t time_origin_ns, duration_ns;
};

int pmfs_count(struct pmfs_model *m, struct pmfs_counts *ret, struct pm_error *err);

#endif
