/* Slices of calls, which may overlap: on lanes of their thread, each of which nests. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_OVERLAPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_OVERLAPS_H

#include "fs/views/sums/slices.h"

/* Orders the slices of a thread, from place `first` on, and gives each its lane. 0 or -ENOMEM. */
int pmfs_slices_nest(struct pmfs_slices *s, size_t first);

#endif
