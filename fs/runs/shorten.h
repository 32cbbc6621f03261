/* Names for runs without a given name. */
#ifndef PROFMOUNT_FS_RUNS_SHORTEN_H
#define PROFMOUNT_FS_RUNS_SHORTEN_H

#include "fs/runs/words.h"

/*
 * Names each unnamed run by the components of its path that are not common to all runs at the start
 * or end; at least one component is left. 0 or -ENOMEM.
 */
int pmfs_shorten_names(struct pmfs_runs *runs);

#endif
