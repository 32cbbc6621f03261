/*
 * Which processes of a directory are of one run. A child names its parent's pid, and a fork keeps
 * the time when its program began; what is tied to nothing else by either is a run of its own, as
 * are files that an earlier run left behind.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_RUNS_H
#define PROFMOUNT_FORMATS_NYTPROF_RUNS_H

#include "formats/nytprof/native.h"

/*
 * Sets nytp_thread.run of all threads, 1 … n->n_runs by the time when they began, and says in
 * n->damage what does not belong together, and which parents are not there. Of one file: one run.
 * -ENOMEM.
 */
int nytp_runs_find(struct nytp *n);

#endif
