/* Counts of contexts, threads and so on, for info.json and texts. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_COUNTS_H
#define PROFMOUNT_FS_VIEWS_SUMS_COUNTS_H

#include "fs/views/model/model.h"

/* PM_NO_TIME if the format does not have such things. */
struct pmfs_counts {
	uint64_t contexts, threads, metrics, functions, samples, damages;
	uint64_t time_origin_ns, duration_ns;
};

int pmfs_count(struct pmfs_model *m, struct pmfs_counts *ret, struct pm_error *err);

#endif
