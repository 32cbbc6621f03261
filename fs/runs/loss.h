/* What more threads should cost. */
#ifndef PROFMOUNT_FS_RUNS_LOSS_H
#define PROFMOUNT_FS_RUNS_LOSS_H

#include "fs/runs/internal.h"

/* Threads that cost anything in the first run of a group that can be read; 0: none, or unknown. */
uint32_t pmfs_busy_threads(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group);

/*
 * By what a cost of the baseline is multiplied to be the cost of a group without a loss; false
 * where threads of either are not known.
 */
bool pmfs_loss_factor(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group, double *ret);

#endif
