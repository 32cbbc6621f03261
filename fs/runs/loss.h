/* How runs scale: their threads, durations, and the cost that more threads should have. */
#ifndef PROFMOUNT_FS_RUNS_LOSS_H
#define PROFMOUNT_FS_RUNS_LOSS_H

#include "fs/runs/internal.h"

/* Means over the runs of a name that can be opened and have the primary quantity. */
struct pmfs_group_facts {
	double whole;       /* of the primary quantity; NaN: none has it */
	double threads;     /* with costs; 0: unknown */
	double duration_ns; /* NaN: unknown of some run */
	uint32_t n;         /* runs */
};

struct pmfs_group_facts pmfs_group_facts(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group);

/* Names differ in their number of threads. */
bool pmfs_threads_differ(const struct pmfs_ensemble *e, const struct pmfs_facts *facts);

/*
 * The factor by which a cost of the baseline would grow in the group without any loss; false if the
 * threads of either are unknown.
 */
bool pmfs_loss_factor(const struct pmfs_ensemble *e, const struct pmfs_group_facts *base,
	const struct pmfs_group_facts *group, double *ret);

#endif
