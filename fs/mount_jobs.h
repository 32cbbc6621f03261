/*
 * Requests hold no threads while they wait. Each is first tried with what is there; where something
 * has to be built for it, it becomes a job: one for all requests that want the same, run by a
 * thread that the job has for itself, while the threads that read requests go on.
 *
 * As many young jobs run at once as there are processors; one that runs for longer, or waits for
 * what another one builds, lets the next one start beside it.
 */
#ifndef PROFMOUNT_FS_MOUNT_JOBS_H
#define PROFMOUNT_FS_MOUNT_JOBS_H

#include "fs/mount_ops.h"

/* A request of the kernel. */
struct pmfs_call {
	struct pmfs_mount *m; /* pinned: given back with the call */
	fuse_req_t req;       /* to be touched by who took the call alone */
	/*
	 * Finds the answer, and replies if pmfs_call_take allows it. Called until somebody took
	 * the call; never by two at once.
	 */
	void (*answer)(struct pmfs_call *c);
	/* Optional, set by answer: replies with what is known already, so that nobody waits. */
	void (*answer_early)(struct pmfs_call *c);
	fuse_ino_t ino; /* the node */
	const char *name;
	size_t size;
	off_t off;
	struct pmfs_entry entry; /* of lookup, once it is found */
	uint64_t key;            /* calls of one key wait for one job */

	/* Of mount_jobs.c: */
	struct pmfs_call *next;
	bool parked;       /* it has left the thread that it came in with */
	bool taken;        /* atomic */
	bool interrupted;  /* atomic */
	pid_t tid;         /* who waits; 0: unknown */
	uint64_t asked_ms; /* when he was last asked whether he wants to wait any longer */
};

/* True for the one who replies; false where the answer is not wanted, or worth nothing. */
bool pmfs_call_take(struct pmfs_call *c);

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
