/* The expected cost of more threads. */
#ifndef PROFMOUNT_FS_RUNS_LOSS_H
#define PROFMOUNT_FS_RUNS_LOSS_H

#include "fs/runs/internal.h"

/*
 * Threads with costs: the mean of the runs of a group that can be opened, as of its costs. 0: none,
 * or unknown.
 */
double pmfs_busy_threads(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group);

/*
 * The factor by which a cost of the baseline would grow in the group without any loss; false if the
 * threads of either are unknown.
 */
bool pmfs_loss_factor(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group, double *ret);

#endif
