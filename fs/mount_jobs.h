/*
 * Requests hold no threads while they wait. Each is first tried with what is there; where something
 * has to be built for it, it becomes a job: one for all requests that want the same, run by a
 * thread that the job has for itself, while the threads that read requests go on. How many jobs run
 * at once: see fs/mount_pool.h.
 */
#ifndef PROFMOUNT_FS_MOUNT_JOBS_H
#define PROFMOUNT_FS_MOUNT_JOBS_H

#include "fs/mount_call.h"

/*
 * NULL without memory or threads. With `single` one job runs at a time, and never on the thread
 * that reads requests. `stuck` is called where the session has ended, and work has not a second
 * later; it does not return.
 */
struct pmfs_jobs *pmfs_jobs_start(
	struct fuse_session *se, bool single, void (*stuck)(void *context), void *context);

/* How many threads may be kept from reading requests. */
unsigned pmfs_jobs_hosted(const struct pmfs_jobs *jobs);

/* Answers the call, now or later; `c` is copied. */
void pmfs_jobs_serve(struct pmfs_jobs *jobs, struct pmfs_call *c);

/* A job that runs: the first call that asked for it, and how far it is. */
struct pmfs_running {
	fuse_ino_t ino;
	const char *name; /* of a lookup in `ino`, or NULL */
	uint64_t done, total, ms;
};

/* Those that run now, in order of arrival; `take` must not wait for anything. */
void pmfs_jobs_each(struct pmfs_jobs *jobs,
	void (*take)(void *context, const struct pmfs_running *running), void *context);

/* Ends all work, and answers whoever waits with ECONNABORTED. Accepts NULL. */
void pmfs_jobs_stop(struct pmfs_jobs *jobs);

#endif
