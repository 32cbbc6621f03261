/*
 * Requests occupy no threads while they wait. Each is first tried with existing data. If something
 * has to be built, it becomes a job, which is shared by identical requests and run by a thread of
 * its own, while the threads that read requests continue. For the number of jobs that run at once
 * see fs/mount_jobs.c.
 */
#ifndef PROFMOUNT_FS_MOUNT_JOBS_H
#define PROFMOUNT_FS_MOUNT_JOBS_H

#include "fs/mount_ops.h"

/* A request of the kernel that is being processed; processing can be tried more than once. */
struct pmfs_call {
	struct pmfs_mount *m; /* pinned; released with the call */
	fuse_req_t req;       /* only for the thread that has taken the call */
	/*
	 * Finds the answer, and replies if pmfs_call_take allows it. Called until a thread has
	 * taken the call; never by two threads at once.
	 */
	void (*answer)(struct pmfs_call *c);
	/*
	 * Optional, set by answer: replies with what is known so far, so that the client need not
	 * wait.
	 */
	void (*answer_early)(struct pmfs_call *c);
	fuse_ino_t ino; /* the node */
	const char *name;
	size_t size;
	off_t off;
	struct pmfs_entry entry; /* of a lookup, once found */
	uint64_t key;            /* calls with the same key wait for the same job */

	/* Used by mount_jobs.c: */
	struct pmfs_call *next;
	bool parked;       /* it has left the thread that it came in with */
	bool taken;        /* atomic */
	bool interrupted;  /* atomic */
	pid_t tid;         /* the waiting thread; 0: unknown */
	uint64_t asked_ms; /* when it was last checked whether it still waits */
};

/* True for the thread that has to reply; false if the answer is not needed any more, or invalid. */
bool pmfs_call_take(struct pmfs_call *c);

/*
 * Appends what a call is about, `name` (of a lookup, or NULL) in the node `ino`: the path if it is
 * known without building anything, else the inode number.
 */
void pmfs_call_name(fuse_ino_t ino, const char *name, struct pm_text *out);

/* Replies with the error `code`; logs errors whose cause the client cannot see. */
void pmfs_call_fail(struct pmfs_call *c, int code, const struct pm_error *err);

/*
 * NULL if there is no memory or thread. With `single` one job runs at a time, and never on the
 * thread that reads requests. `stuck` is called if work has not ended a second after the session;
 * it does not return.
 */
struct pmfs_jobs *pmfs_jobs_start(
	struct fuse_session *se, bool single, void (*stuck)(void *context), void *context);

/* How many threads may be kept from reading requests. */
unsigned pmfs_jobs_hosted(const struct pmfs_jobs *jobs);

/* Answers the call, immediately or later; `c` is copied. */
void pmfs_jobs_serve(struct pmfs_jobs *jobs, struct pmfs_call *c);

/* A running job: the first call that requested it, and its progress. */
struct pmfs_running {
	fuse_ino_t ino;
	const char *name; /* of a lookup in `ino`, or NULL */
	uint64_t done, total, ms;
};

/* Calls `take` for the running jobs in order of arrival; `take` must not wait. */
void pmfs_jobs_each(struct pmfs_jobs *jobs,
	void (*take)(void *context, const struct pmfs_running *running), void *context);

/* How much is going on. */
struct pmfs_load {
	unsigned jobs, running, threads; /* jobs: also those that wait for a processor */
	unsigned readers;                /* requests that wait for them */
	uint64_t idle_ms;                /* since the last request */
};
void pmfs_jobs_load(struct pmfs_jobs *jobs, struct pmfs_load *ret);

/*
 * Calls idle(context) after each `ms` without a request; it must not wait for one. 0: never. Once,
 * at the beginning.
 */
void pmfs_jobs_when_idle(
	struct pmfs_jobs *jobs, uint64_t ms, void (*idle)(void *context), void *context);

/* Ends all work, and answers waiting requests with ECONNABORTED. Accepts NULL. */
void pmfs_jobs_stop(struct pmfs_jobs *jobs);

#endif
