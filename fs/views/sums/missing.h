/* Code without names, by load module: what it costs, and why it has none. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_MISSING_H
#define PROFMOUNT_FS_VIEWS_SUMS_MISSING_H

#include "fs/views/model/views.h"

struct pmfs_missing {
	struct pm_bytes module, build_id;
	const char *why, *tried; /* or NULL */
	double cost, samples;    /* of its addresses: own cost; NaN = none */
};

/* Rows of missing-symbols.csv. */
struct pmfs_missings {
	uint32_t n;
	struct pmfs_missing *rows; /* highest cost first */
	double cost, whole;        /* of the primary quantity: of all rows, of the run */
	const char *advice;        /* what a reader can do about it, or NULL */
	const char *columns[6];
};

/* Computed on the first call; owned by the model. Needs the flat profile. */
int pmfs_missings(struct pmfs_model *m, const struct pmfs_missings **ret, struct pm_error *err);

#endif
