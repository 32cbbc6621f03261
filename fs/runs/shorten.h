/* Names for runs that were given none. */
#ifndef PROFMOUNT_FS_RUNS_SHORTEN_H
#define PROFMOUNT_FS_RUNS_SHORTEN_H

#include "fs/runs/words.h"

/*
 * Names each run without a name by the components of its path that not all runs share at both ends;
 * at least one component is left. 0 or -ENOMEM.
 */
int pmfs_shorten_names(struct pmfs_runs *runs);

#endif
