/*
 * Slices of calls that may overlap: assigns them to lanes of their thread, so that the slices of a
 * lane nest.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_OVERLAPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_OVERLAPS_H

#include "fs/views/sums/slices.h"

enum { PMFS_MAX_LANES = 64 /* of a thread; calls for which there is none are left out */ };

/* Orders the slices of a thread, from index `first` on, and assigns lanes. 0 or -ENOMEM. */
int pmfs_slices_nest(struct pmfs_slices *s, size_t first);

#endif
