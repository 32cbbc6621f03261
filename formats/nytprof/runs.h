/*
 * Assigns the processes of a directory to runs. A child records its parent's pid, and a fork keeps
 * the start time of its program; processes that neither connects to others are separate runs, for
 * example files left by an earlier run.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_RUNS_H
#define PROFMOUNT_FORMATS_NYTPROF_RUNS_H

#include "formats/nytprof/native.h"

/*
 * Sets nytp_thread.run of all threads to 1 … n->n_runs, in order of start times, and reports
 * unrelated runs and missing parents in n->damage. A single file is one run. -ENOMEM.
 */
int nytp_runs_find(struct nytp *n);

#endif
