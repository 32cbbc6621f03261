/* How much there is of everything: for info.json and the texts. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_COUNTS_H
#define PROFMOUNT_FS_VIEWS_SUMS_COUNTS_H

#include "fs/views/model/model.h"

/* PM_NO_TIME where the format does not know such things. */
struct pmfs_counts {
	uint64_t contexts, threads, metrics, functions, samples, damages;
	uint64_t time_origin_ns, duration_ns;
};

int pmfs_count(struct pmfs_model *m, struct pmfs_counts *ret, struct pm_error *err);

#endif
