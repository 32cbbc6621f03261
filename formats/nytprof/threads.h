/* The processes of a source as threads of the model: one per pid, over all files. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_THREADS_H
#define PROFMOUNT_FORMATS_NYTPROF_THREADS_H

#include "formats/nytprof/native.h"

struct nytp_threads {
	struct pm_threads list;
	struct pm_thread *threads;
	struct pm_identity *identities;
	int64_t *statements;            /* by thread */
	double *statements_ns;          /* their time */
	const struct nytp_file **files; /* by thread: its first occurrence */
	struct pm_map by_pid;
};

/* -ENOMEM. Give back with nytp_threads_done, also after a failure. */
int nytp_threads_build(struct nytp_threads *t, const struct nytp *n);

/* The index of a process that is in some file's threads. */
uint32_t nytp_thread_of(const struct nytp_threads *t, uint32_t pid);

void nytp_threads_done(struct nytp_threads *t);

#endif
