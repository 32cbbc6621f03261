/*
 * The jobs of a mount and the threads that run them: what fs/mount_jobs.c and fs/mount_watch.c
 * share. Everything that takes a pool wants its lock to be held.
 *
 * A job starts as long as fewer than two for each processor run: the second one lets what is quick
 * through beside long builds. Those that only wait, for a slow disk or for what another one builds,
 * must not keep others from starting: beyond that number jobs start while processors are idle, as
 * the watch sees from the states of all threads that build (pmfs_builders_running).
 */
#ifndef PROFMOUNT_FS_MOUNT_POOL_H
#define PROFMOUNT_FS_MOUNT_POOL_H

#include <pthread.h>

#include "formats/common/work.h"
#include "fs/mount_call.h"

struct job {
	struct pm_work work;
	uint64_t key;
	struct pmfs_call *calls;          /* the one that is being answered first */
	uint64_t started_ms, deserted_ms; /* 0: not */
	bool running;
	struct job *next, *next_ready;
};

struct pmfs_jobs {
	struct fuse_session *se;
	void (*stuck)(void *context);
	void *stuck_context;
	/* Runs a job, and frees it; called without the lock. */
	void (*run)(struct pmfs_jobs *jobs, struct job *j);
	unsigned cores, most_hosted;
	unsigned at_once;     /* so many jobs run without a look at what processors do */
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t ready_moved, watch_moved, ended;
	struct job *all;                 /* in order of arrival */
	struct job *ready, **ready_last; /* running, but no thread has taken them yet */
	unsigned n_running, n_hosted, n_threads, n_idle, n_ready;
	bool watch_sleeps, stop, stopped;
	uint64_t stop_ms; /* when the watch saw that it is to stop */
	pthread_t watch;
};

/* A clock for the times above; never 0. */
uint64_t pmfs_pool_now_ms(void);

/* The job of that key that still can be wanted, or NULL. */
struct job *pmfs_pool_find(struct pmfs_jobs *jobs, uint64_t key);

/* A new one for the call, the last in order, not running; NULL without memory. */
struct job *pmfs_pool_add(struct pmfs_jobs *jobs, struct pmfs_call *c);
void pmfs_pool_add_call(struct job *j, struct pmfs_call *c);

/* The job is the caller's then. */
void pmfs_pool_remove(struct pmfs_jobs *jobs, struct job *j);

/* May one more job start without a look at what processors do? */
bool pmfs_pool_has_room(const struct pmfs_jobs *jobs);

/* Marks a job as running, on the caller's thread or on one of the pool's own. */
void pmfs_pool_run_here(struct pmfs_jobs *jobs, struct job *j);
void pmfs_pool_run_elsewhere(struct pmfs_jobs *jobs, struct job *j);

/* Starts the jobs that wait for room, then up to `idle` more: so many processors have no work. */
void pmfs_pool_start_others(struct pmfs_jobs *jobs, unsigned idle);

/* Does a job wait that only idle processors let start? */
bool pmfs_pool_is_full(const struct pmfs_jobs *jobs);

#endif
