/*
 * Calls on their way to an answer:
 *
 *     a call → tried at once → answered
 *                            ↘ parked on its job → run → answered, and tried again if parked
 */
#include "fs/mount_jobs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/builders.h"
#include "fs/mount_follow.h"
#include "fs/mount_watch.h"

enum { MOST_CORES = 8 };

/* ---- running ---- */

static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host);

/* Answers the calls that wait for the result; the first one has been answered already. */
static void try_again(struct pmfs_jobs *jobs, struct pmfs_call *calls)
{
	while (calls) {
		struct pmfs_call *c = calls;
		calls = c->next;
		if (pmfs_call_is_taken(c) || pmfs_call_try_at_once(c))
			pmfs_call_free(c);
		else
			submit(jobs, c, false);
	}
}

static void run_job(struct pmfs_jobs *jobs, struct pmfs_job *j)
{
	pm_work_enter(&j->work);
	j->calls->answer(j->calls);
	pm_work_enter(NULL);
	pthread_mutex_lock(&jobs->lock);
	struct pmfs_call *calls = j->calls;
	pmfs_pool_remove(jobs, j);
	pmfs_pool_start_others(jobs, 0);
	pthread_mutex_unlock(&jobs->lock);
	free(j);
	try_again(jobs, calls);
}

/* Adds a parked call to the job with its key, or to a new one. */
static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host)
{
	pthread_mutex_lock(&jobs->lock);
	bool stop = jobs->stop, host = false;
	struct pmfs_job *j = stop ? NULL : pmfs_pool_find(jobs, c->key);
	if (j) {
		pmfs_pool_add_call(j, c);
	} else if (!stop && (j = pmfs_pool_add(jobs, c)) && pmfs_pool_has_room(jobs)) {
		host = may_host && jobs->n_hosted < jobs->most_hosted;
		if (host)
			pmfs_pool_run_here(jobs, j);
		else
			pmfs_pool_run_elsewhere(jobs, j);
		jobs->n_hosted += host;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (host) {
		pmfs_builder_begin();
		run_job(jobs, j);
		pmfs_builder_end();
		pthread_mutex_lock(&jobs->lock);
		jobs->n_hosted--;
		pthread_mutex_unlock(&jobs->lock);
	} else if (!j) {
		if (pmfs_call_claim(c))
			fuse_reply_err(c->req, stop ? ECONNABORTED : ENOMEM);
		pmfs_call_free(c);
	}
}

void pmfs_jobs_when_idle(
	struct pmfs_jobs *jobs, uint64_t ms, void (*idle)(void *context), void *context)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->idle_ms = ms;
	jobs->idle = idle;
	jobs->idle_context = context;
	pthread_cond_signal(&jobs->watch_moved);
	pthread_mutex_unlock(&jobs->lock);
}

void pmfs_jobs_load(struct pmfs_jobs *jobs, struct pmfs_load *ret)
{
	*ret = (struct pmfs_load){.jobs = 0};
	pthread_mutex_lock(&jobs->lock);
	for (const struct pmfs_job *j = jobs->all; j; j = j->next) {
		ret->jobs++;
		for (const struct pmfs_call *c = j->calls; c; c = c->next)
			ret->readers += !pmfs_call_is_taken(c);
	}
	ret->running = jobs->n_running;
	ret->threads = jobs->n_threads;
	pthread_mutex_unlock(&jobs->lock);
	ret->idle_ms = pmfs_pool_now_ms() - __atomic_load_n(&jobs->last_ms, __ATOMIC_RELAXED);
}

void pmfs_jobs_serve(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	__atomic_store_n(&jobs->last_ms, pmfs_pool_now_ms(), __ATOMIC_RELAXED);
	struct pmfs_call *parked = pmfs_call_try_at_once(c) ? NULL : pmfs_call_park(c);
	if (parked) {
		submit(jobs, parked, true);
		return;
	}
	if (pmfs_call_claim(c))
		fuse_reply_err(c->req, ENOMEM);
	pmfs_mount_unpin(c->m);
}

void pmfs_jobs_each(struct pmfs_jobs *jobs,
	void (*take)(void *context, const struct pmfs_running *running), void *context)
{
	pthread_mutex_lock(&jobs->lock);
	for (const struct pmfs_job *j = jobs->all; j; j = j->next) {
		if (!j->running)
			continue;
		/* The first call stays in the list as long as its job. */
		struct pmfs_running running = {.ino = j->calls->ino,
			.name = j->calls->name,
			.ms = pmfs_pool_now_ms() - j->started_ms};
		pm_work_how_far(&j->work, &running.done, &running.total);
		take(context, &running);
	}
	pthread_mutex_unlock(&jobs->lock);
}

/* ---- life ---- */

struct pmfs_jobs *pmfs_jobs_start(
	struct fuse_session *se, bool single, void (*stuck)(void *context), void *context)
{
	struct pmfs_jobs *jobs = calloc(1, sizeof(*jobs));
	pthread_condattr_t attributes;
	if (!jobs)
		return NULL;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	jobs->se = se;
	jobs->last_ms = pmfs_pool_now_ms();
	jobs->stuck = stuck;
	jobs->stuck_context = context;
	jobs->cores = single || cores < 1 ? 1 : cores > MOST_CORES ? MOST_CORES : (unsigned)cores;
	jobs->most_hosted = single ? 0 : jobs->cores;
	jobs->at_once = single ? 1 : 2 * jobs->cores;
	jobs->run = run_job;
	jobs->ready_last = &jobs->ready;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->ready_moved, NULL);
	pthread_cond_init(&jobs->watch_moved, &attributes);
	pthread_cond_init(&jobs->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pmfs_watch_start(jobs))
		return jobs;
	free(jobs);
	return NULL;
}

unsigned pmfs_jobs_hosted(const struct pmfs_jobs *jobs)
{
	return jobs->most_hosted;
}

void pmfs_jobs_stop(struct pmfs_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->stop = true;
	pthread_cond_signal(&jobs->watch_moved);
	pthread_cond_broadcast(&jobs->ready_moved);
	while (jobs->all || jobs->n_threads > 0)
		pthread_cond_wait(&jobs->ended, &jobs->lock);
	jobs->stopped = true;
	pthread_cond_signal(&jobs->watch_moved);
	pthread_mutex_unlock(&jobs->lock);
	pthread_join(jobs->watch, NULL);
	pthread_cond_destroy(&jobs->ready_moved);
	pthread_cond_destroy(&jobs->watch_moved);
	pthread_cond_destroy(&jobs->ended);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
