/*
 * Who holds up whom: while threads of a process wait, their time is charged to what its other
 * threads run. See docs/namespace.md, blame.csv.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_BLAME_H
#define PROFMOUNT_FS_VIEWS_SUMS_BLAME_H

#include "fs/views/model/identity.h"

/* Kinds of waiting. */
enum pmfs_wait {
	PMFS_WAIT_BARRIER,
	PMFS_WAIT_IDLE,
	PMFS_WAIT_OMP,
	PMFS_WAIT_SPIN,
	PMFS_WAIT_CONDITION,
	PMFS_WAIT_LOCK,
	PMFS_WAIT_GPU,  /* for operations of a GPU */
	PMFS_WAIT_HOST, /* a GPU that has nothing to do */
	PMFS_N_WAITS,
};

/* In the column `waiting`: omp barrier, omp idle … */
extern const char *const pmfs_wait_names[PMFS_N_WAITS];

struct pmfs_blame_row {
	uint32_t function; /* of pmfs_identity; PM_NONE: nobody ran, or it is not known who did */
	uint32_t context;  /* that is charged most; PM_NONE with `function` */
	enum pmfs_wait waiting;
	double wait_ns;
};

struct pmfs_blame {
	uint32_t n;
	struct pmfs_blame_row *rows; /* most time first */
	double whole_ns;             /* of all rows */
	const struct pmfs_identity *identity;
};

/* Computed on the first call, in one pass over the traces in time order; owned by the model. */
int pmfs_blame(struct pmfs_model *m, const struct pmfs_blame **ret, struct pm_error *err);

/* Whether threads have sampled traces. Reads no values. 1, 0, or a negative errno. */
int pmfs_blame_applies(struct pmfs_model *m, struct pm_error *err);

#endif
