#include "fs/mount_watch.h"

#include <stdlib.h>
#include <time.h>

#include "formats/common/thread.h"
#include "fs/builders.h"
#include "fs/signals.h"

enum {
	TICK_MS = 10,      /* of the watch; the longest that a lookup waits for a size */
	DESERTED_MS = 200, /* until work is cancelled if no request waits for it */
	ASKED_MS = 100,    /* between two checks for signals of waiting processes */
	STUCK_MS = 800,    /* until work that does not end is left behind */
	QUIET_TICKS = 100, /* until the watch sleeps until it is woken */
};

/* The kernel reports only the first signal of a request; after that, signals are checked here. */
static bool gives_up(struct pmfs_call *c, uint64_t now)
{
	if (!__atomic_load_n(&c->interrupted, __ATOMIC_RELAXED) || now - c->asked_ms < ASKED_MS)
		return false;
	c->asked_ms = now;
	return pmfs_wants_out(c->tid);
}

static void reply_to_one(
	struct pmfs_jobs *jobs, const struct pmfs_job *j, struct pmfs_call *c, uint64_t now)
{
	bool interrupted = gives_up(c, now);
	bool early = c->answer_early && (!j->running || now - j->started_ms >= TICK_MS);
	if (!jobs->stop && !interrupted && !early)
		return;
	if (!pmfs_call_claim(c))
		return;
	if (early && !jobs->stop)
		c->answer_early(c);
	else
		fuse_reply_err(c->req, jobs->stop ? ECONNABORTED : EINTR);
}

/* Replies if that cannot wait. Returns whether any request still waits for the job. */
static bool reply_early(struct pmfs_jobs *jobs, struct pmfs_job *j, uint64_t now)
{
	bool wanted = false;
	for (struct pmfs_call **place = &j->calls, *c; (c = *place);) {
		reply_to_one(jobs, j, c, now);
		if (!pmfs_call_is_taken(c)) {
			wanted = true;
			place = &c->next;
		} else if (c == j->calls && j->running) {
			place = &c->next; /* its thread has it */
		} else {
			*place = c->next;
			pmfs_call_free(c);
		}
	}
	return wanted;
}

static void look_at(struct pmfs_jobs *jobs, struct pmfs_job *j, uint64_t now)
{
	bool wanted = reply_early(jobs, j, now);
	if (jobs->stop)
		pm_work_cancel(&j->work);
	if (!wanted && !j->running) {
		pmfs_pool_remove(jobs, j);
		free(j);
		return;
	}
	if (wanted)
		j->deserted_ms = 0;
	else if (!j->deserted_ms)
		j->deserted_ms = now;
	else if (now - j->deserted_ms >= DESERTED_MS)
		pm_work_abandon(&j->work);
}

static void see_whether_to_stop(struct pmfs_jobs *jobs, uint64_t now)
{
	jobs->stop |= fuse_session_exited(jobs->se) != 0;
	if (jobs->stop && !jobs->stop_ms)
		jobs->stop_ms = now;
	if (jobs->stop && jobs->all && now - jobs->stop_ms > STUCK_MS)
		jobs->stuck(jobs->stuck_context);
}

static void wait_ms(struct pmfs_jobs *jobs, uint64_t ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&jobs->watch_moved, &jobs->lock, &until);
}

/*
 * The number of idle processors in two consecutive checks, because a building thread may sleep for
 * a moment. The lock is not held while checking.
 */
static unsigned idle_processors(struct pmfs_jobs *jobs, unsigned *before)
{
	if (!pmfs_pool_is_full(jobs)) {
		*before = 0;
		return 0;
	}
	pthread_mutex_unlock(&jobs->lock);
	unsigned running = pmfs_builders_running();
	pthread_mutex_lock(&jobs->lock);
	unsigned idle = running < jobs->cores ? jobs->cores - running : 0;
	unsigned both = idle < *before ? idle : *before;
	*before = both ? 0 : idle; /* those that start now have to show themselves first */
	return both;
}

/* Until it is woken or, with -o idle, it is time to say that nobody has asked for anything. */
static void sleep_long(struct pmfs_jobs *jobs)
{
	uint64_t last = __atomic_load_n(&jobs->last_ms, __ATOMIC_RELAXED);
	uint64_t now = pmfs_pool_now_ms(), since = now > last ? now - last : 0;
	if (!jobs->idle_ms) {
		pthread_cond_wait(&jobs->watch_moved, &jobs->lock);
	} else if (since < jobs->idle_ms) {
		wait_ms(jobs, jobs->idle_ms - since);
	} else {
		jobs->idle(jobs->idle_context);
		/* In use: for another while. */
		__atomic_store_n(&jobs->last_ms, pmfs_pool_now_ms(), __ATOMIC_RELAXED);
	}
}

static void *watch(void *context)
{
	struct pmfs_jobs *jobs = context;
	unsigned quiet = 0, idle_before = 0;
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->stopped) {
		see_whether_to_stop(jobs, pmfs_pool_now_ms());
		quiet = jobs->all ? 0 : quiet + 1;
		for (struct pmfs_job *j = jobs->all, *next; j; j = next) {
			next = j->next;
			look_at(jobs, j, pmfs_pool_now_ms());
		}
		pmfs_pool_start_others(jobs, idle_processors(jobs, &idle_before));
		jobs->watch_sleeps = quiet >= QUIET_TICKS && !jobs->all;
		if (jobs->watch_sleeps)
			sleep_long(jobs);
		else
			wait_ms(jobs, TICK_MS);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

bool pmfs_watch_start(struct pmfs_jobs *jobs)
{
	return pm_thread_start(&jobs->watch, watch, jobs);
}
