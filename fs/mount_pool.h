/*
 * The jobs of a mount and the threads that run them; shared by fs/mount_jobs.c and
 * fs/mount_watch.c. All functions that take a pool require its lock to be held.
 *
 * Jobs start while fewer than two per processor are running; the second one lets quick jobs through
 * during long builds. Jobs that only wait, for a slow disk or for another job, must not block
 * others: beyond that number, jobs start while processors are idle, as determined by the watch from
 * the states of all building threads (pmfs_builders_running).
 */
#ifndef PROFMOUNT_FS_MOUNT_POOL_H
#define PROFMOUNT_FS_MOUNT_POOL_H

#include <pthread.h>

#include "formats/common/work.h"
#include "fs/mount_call.h"

struct pmfs_job {
	struct pm_work work;
	uint64_t key;
	struct pmfs_call *calls;          /* the call that is answered first */
	uint64_t started_ms, deserted_ms; /* 0: not */
	bool running;
	struct pmfs_job *next, *next_ready;
};

struct pmfs_jobs {
	struct fuse_session *se;
	void (*stuck)(void *context);
	void *stuck_context;
	/* Runs a job, and frees it; called without the lock. */
	void (*run)(struct pmfs_jobs *jobs, struct pmfs_job *j);
	unsigned cores, most_hosted;
	unsigned at_once;     /* number of jobs that run regardless of idle processors */
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t ready_moved, watch_moved, ended;
	struct pmfs_job *all;                 /* in order of arrival */
	struct pmfs_job *ready, **ready_last; /* running, but not yet taken by a thread */
	unsigned n_running, n_hosted, n_threads, n_idle, n_ready;
	bool watch_sleeps, stop, stopped;
	uint64_t stop_ms; /* when the watch noticed that it has to stop */
	uint64_t last_ms; /* atomic: of the last request */
	uint64_t idle_ms; /* of -o idle, or 0 */
	void (*idle)(void *context);
	void *idle_context;
	pthread_t watch;
};

/* A clock for the times above; never 0. */
uint64_t pmfs_pool_now_ms(void);

/* The job with this key that has not been cancelled, or NULL. */
struct pmfs_job *pmfs_pool_find(struct pmfs_jobs *jobs, uint64_t key);

/* A new job for the call, last in order, not running; NULL if out of memory. */
struct pmfs_job *pmfs_pool_add(struct pmfs_jobs *jobs, struct pmfs_call *c);
void pmfs_pool_add_call(struct pmfs_job *j, struct pmfs_call *c);

/* The caller owns the job afterwards. */
void pmfs_pool_remove(struct pmfs_jobs *jobs, struct pmfs_job *j);

/* Whether one more job may start regardless of idle processors. */
bool pmfs_pool_has_room(const struct pmfs_jobs *jobs);

/* Marks a job as running, on the caller's thread or on one of the pool's own. */
void pmfs_pool_run_here(struct pmfs_jobs *jobs, struct pmfs_job *j);
void pmfs_pool_run_elsewhere(struct pmfs_jobs *jobs, struct pmfs_job *j);

/* Starts waiting jobs within the limit, then up to `idle` more, the number of idle processors. */
void pmfs_pool_start_others(struct pmfs_jobs *jobs, unsigned idle);

/* Whether a job waits that can start only on an idle processor. */
bool pmfs_pool_is_full(const struct pmfs_jobs *jobs);

#endif
