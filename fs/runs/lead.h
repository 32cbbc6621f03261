/* The quantity by which runs are compared at the root. */
#ifndef PROFMOUNT_FS_RUNS_LEAD_H
#define PROFMOUNT_FS_RUNS_LEAD_H

#include "fs/runs/internal.h"

/* The primary quantity of the baseline, else of the first run that has one; PM_NONE. */
uint32_t pmfs_lead(const struct pmfs_ensemble *e, const struct pmfs_facts *facts);

/* The total of a quantity; NaN if the run lacks it. */
double pmfs_whole_of(const struct pmfs_run_facts *f, uint32_t quantity);

/* The quantity as a column, with the unit that it has where it is a run's primary quantity. */
struct pmfs_column pmfs_lead_column(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t quantity);

#endif
