/*
 * Jobs, the threads that run them, and the watch, a thread that looks at all of them every few
 * milliseconds while there are any: it answers who was interrupted, ends what nobody waits for,
 * and lets further jobs start.
 *
 *     a call → tried at once → answered
 *                            ↘ parked on its job → run → answered, and tried again if parked
 */
#include "fs/mount_jobs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/thread.h"
#include "formats/common/work.h"
#include "fs/mount_follow.h"
#include "fs/signals.h"

enum {
	MOST_CORES = 8,
	MOST_THREADS = 256, /* more jobs than that wait for each other */
	TICK_MS = 10,       /* of the watch; the longest that a lookup waits for a size */
	YOUNG_MS = 50,      /* until a job no longer keeps others from starting */
	DESERTED_MS = 200,  /* until work that nobody waits for ends */
	ASKED_MS = 100,     /* between two looks at the signals of who waits */
	STUCK_MS = 800,     /* until work that does not end is left behind */
	QUIET_TICKS = 100,  /* until the watch sleeps until it is woken */
	KEPT_THREADS = 2,   /* for the next job */
};

struct job {
	struct pm_work work;
	uint64_t key;
	struct pmfs_call *calls;          /* the one that is being answered first */
	uint64_t started_ms, deserted_ms; /* 0: not */
	bool running, young;
	struct job *next, *next_ready;
};

struct pmfs_jobs {
	struct fuse_session *se;
	void (*stuck)(void *context);
	void *stuck_context;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t ready_moved, watch_moved, ended;
	struct job *all;                 /* in order of arrival */
	struct job *ready, **ready_last; /* running, but no thread has taken them yet */
	unsigned cores, most_hosted;
	unsigned n_young, n_hosted, n_threads, n_idle, n_ready;
	bool watch_sleeps, stop, stopped;
	uint64_t stop_ms; /* when the watch saw that it is to stop */
	pthread_t watch;
};

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

/* ---- calls ---- */

static void note_interrupt(fuse_req_t req, void *data)
{
	struct pmfs_call *c = data;
	(void)req;
	__atomic_store_n(&c->interrupted, true, __ATOMIC_RELAXED);
}

/* The right to reply. Whoever has it may use the request, and nobody is told of it any more. */
static bool claim(struct pmfs_call *c)
{
	if (__atomic_exchange_n(&c->taken, true, __ATOMIC_ACQ_REL))
		return false;
	if (c->parked)
		fuse_req_interrupt_func(c->req, NULL, NULL);
	return true;
}

bool pmfs_call_take(struct pmfs_call *c)
{
	const struct pm_work *w = pm_work_current();
	if (w && (w->refused || __atomic_load_n(&w->gave_up, __ATOMIC_RELAXED)))
		return false;
	return claim(c);
}

static bool is_taken(const struct pmfs_call *c)
{
	return __atomic_load_n(&c->taken, __ATOMIC_ACQUIRE);
}

/* With what is there: false where something would have to be built first. */
static bool try_at_once(struct pmfs_call *c)
{
	struct pm_work work = {.at_once = true};
	pm_work_enter(&work);
	c->answer(c);
	pm_work_enter(NULL);
	return is_taken(c);
}

static void call_free(struct pmfs_call *c)
{
	pmfs_mount_unpin(c->m);
	free((char *)(uintptr_t)c->name);
	free(c);
}

/* On the heap, and told of interrupts. NULL without memory. */
static struct pmfs_call *park(const struct pmfs_call *c)
{
	struct pmfs_call *own = malloc(sizeof(*own));
	char *name = own && c->name ? strdup(c->name) : NULL;
	if (!own || (c->name && !name)) {
		free(own);
		return NULL;
	}
	*own = *c;
	own->name = name;
	own->parked = true;
	own->tid = fuse_req_ctx(own->req)->pid;
	fuse_req_interrupt_func(own->req, note_interrupt, own);
	return own;
}

/* ---- jobs; the lock is held ---- */

static void *run_ready(void *context);

static bool start_thread(struct pmfs_jobs *jobs)
{
	pthread_t thread;
	bool good = pm_thread_start(&thread, run_ready, jobs);
	if (good) {
		pthread_detach(thread);
		jobs->n_threads++;
	}
	return good;
}

static void set_young(struct pmfs_jobs *jobs, struct job *j)
{
	j->running = j->young = true;
	j->started_ms = now_ms();
	jobs->n_young++;
}

static void grow_up(struct pmfs_jobs *jobs, struct job *j)
{
	jobs->n_young -= j->young;
	j->young = false;
}

/* For whichever thread is free next; one more if there is none. */
static void make_ready(struct pmfs_jobs *jobs, struct job *j)
{
	set_young(jobs, j);
	j->next_ready = NULL;
	*jobs->ready_last = j;
	jobs->ready_last = &j->next_ready;
	jobs->n_ready++;
	if (jobs->n_ready > jobs->n_idle)
		start_thread(jobs);
	pthread_cond_signal(&jobs->ready_moved);
}

static bool may_start(const struct pmfs_jobs *jobs)
{
	return jobs->n_young < jobs->cores && jobs->n_threads < MOST_THREADS && !jobs->stop;
}

static void start_others(struct pmfs_jobs *jobs)
{
	for (struct job *j = jobs->all; j && may_start(jobs); j = j->next)
		if (!j->running)
			make_ready(jobs, j);
}

static struct job *find_job(struct pmfs_jobs *jobs, uint64_t key)
{
	for (struct job *j = jobs->all; j; j = j->next)
		if (j->key == key && pm_work_want(&j->work))
			return j;
	return NULL;
}

static void add_call(struct job *j, struct pmfs_call *c)
{
	struct pmfs_call **last = &j->calls;
	while (*last)
		last = &(*last)->next;
	c->next = NULL;
	*last = c;
	j->deserted_ms = 0;
}

static struct job *add_job(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	struct job *j = calloc(1, sizeof(*j));
	struct job **last = &jobs->all;
	if (!j)
		return NULL;
	while (*last)
		last = &(*last)->next;
	*last = j;
	j->key = c->key;
	add_call(j, c);
	if (jobs->watch_sleeps)
		pthread_cond_signal(&jobs->watch_moved);
	jobs->watch_sleeps = false;
	return j;
}

static void remove_job(struct pmfs_jobs *jobs, struct job *j)
{
	struct job **place = &jobs->all;
	while (*place != j)
		place = &(*place)->next;
	*place = j->next;
	grow_up(jobs, j);
	if (!jobs->all)
		pthread_cond_broadcast(&jobs->ended);
}

/* ---- running ---- */

static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host);

/* Those who wait for what was built; the first one of them, which was answered, is done. */
static void try_again(struct pmfs_jobs *jobs, struct pmfs_call *calls)
{
	while (calls) {
		struct pmfs_call *c = calls;
		calls = c->next;
		if (is_taken(c) || try_at_once(c))
			call_free(c);
		else
			submit(jobs, c, false);
	}
}

static void run_job(struct pmfs_jobs *jobs, struct job *j)
{
	pm_work_enter(&j->work);
	j->calls->answer(j->calls);
	pm_work_enter(NULL);
	pthread_mutex_lock(&jobs->lock);
	struct pmfs_call *calls = j->calls;
	remove_job(jobs, j);
	start_others(jobs);
	pthread_mutex_unlock(&jobs->lock);
	free(j);
	try_again(jobs, calls);
}

static void *run_ready(void *context)
{
	struct pmfs_jobs *jobs = context;
	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		struct job *j = jobs->ready;
		if (j) {
			jobs->ready = j->next_ready;
			if (!jobs->ready)
				jobs->ready_last = &jobs->ready;
			jobs->n_ready--;
			pthread_mutex_unlock(&jobs->lock);
			run_job(jobs, j);
			pthread_mutex_lock(&jobs->lock);
			continue;
		}
		if (jobs->stop || jobs->n_idle >= KEPT_THREADS)
			break;
		jobs->n_idle++;
		pthread_cond_wait(&jobs->ready_moved, &jobs->lock);
		jobs->n_idle--;
	}
	jobs->n_threads--;
	pthread_cond_broadcast(&jobs->ended);
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* A parked call to the job of its key, or to one of its own. */
static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host)
{
	pthread_mutex_lock(&jobs->lock);
	bool stop = jobs->stop, host = false;
	struct job *j = stop ? NULL : find_job(jobs, c->key);
	if (j) {
		add_call(j, c);
	} else if (!stop && (j = add_job(jobs, c)) && may_start(jobs)) {
		host = may_host && jobs->n_hosted < jobs->most_hosted;
		if (host)
			set_young(jobs, j);
		else
			make_ready(jobs, j);
		jobs->n_hosted += host;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (host) {
		run_job(jobs, j);
		pthread_mutex_lock(&jobs->lock);
		jobs->n_hosted--;
		pthread_mutex_unlock(&jobs->lock);
	} else if (!j) {
		if (claim(c))
			fuse_reply_err(c->req, stop ? ECONNABORTED : ENOMEM);
		call_free(c);
	}
}

void pmfs_jobs_serve(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	struct pmfs_call *parked = try_at_once(c) ? NULL : park(c);
	if (parked) {
		submit(jobs, parked, true);
		return;
	}
	if (claim(c))
		fuse_reply_err(c->req, ENOMEM);
	pmfs_mount_unpin(c->m);
}

void pmfs_jobs_each(struct pmfs_jobs *jobs,
	void (*take)(void *context, const struct pmfs_running *running), void *context)
{
	pthread_mutex_lock(&jobs->lock);
	for (const struct job *j = jobs->all; j; j = j->next) {
		if (!j->running)
			continue;
		/* The call that is being answered first stays as long as its job. */
		struct pmfs_running running = {.ino = j->calls->ino,
			.name = j->calls->name,
			.ms = now_ms() - j->started_ms};
		pm_work_how_far(&j->work, &running.done, &running.total);
		take(context, &running);
	}
	pthread_mutex_unlock(&jobs->lock);
}

/* ---- the watch; the lock is held ---- */

/* The kernel tells of the first signal alone: once there was one, the others are looked for. */
static bool gives_up(struct pmfs_call *c, uint64_t now)
{
	if (!__atomic_load_n(&c->interrupted, __ATOMIC_RELAXED) || now - c->asked_ms < ASKED_MS)
		return false;
	c->asked_ms = now;
	return pmfs_wants_out(c->tid);
}

static void reply_to_one(
	struct pmfs_jobs *jobs, const struct job *j, struct pmfs_call *c, uint64_t now)
{
	bool interrupted = gives_up(c, now);
	bool early = c->answer_early && (!j->running || now - j->started_ms >= TICK_MS);
	if (!jobs->stop && !interrupted && !early)
		return;
	if (!claim(c))
		return;
	if (early && !jobs->stop)
		c->answer_early(c);
	else
		fuse_reply_err(c->req, jobs->stop ? ECONNABORTED : EINTR);
}

/* Replies where that cannot wait. Does anybody still wait for the job? */
static bool reply_early(struct pmfs_jobs *jobs, struct job *j, uint64_t now)
{
	bool wanted = false;
	for (struct pmfs_call **place = &j->calls, *c; (c = *place);) {
		reply_to_one(jobs, j, c, now);
		if (!is_taken(c)) {
			wanted = true;
			place = &c->next;
		} else if (c == j->calls && j->running) {
			place = &c->next; /* its thread has it */
		} else {
			*place = c->next;
			call_free(c);
		}
	}
	return wanted;
}

static void look_at(struct pmfs_jobs *jobs, struct job *j, uint64_t now)
{
	bool wanted = reply_early(jobs, j, now);
	if (jobs->stop)
		pm_work_cancel(&j->work);
	if (!wanted && !j->running) {
		remove_job(jobs, j);
		free(j);
		return;
	}
	if (wanted)
		j->deserted_ms = 0;
	else if (!j->deserted_ms)
		j->deserted_ms = now;
	else if (now - j->deserted_ms >= DESERTED_MS)
		pm_work_abandon(&j->work);
	if (j->running &&
		(now - j->started_ms >= YOUNG_MS ||
			__atomic_load_n(&j->work.waited, __ATOMIC_RELAXED)))
		grow_up(jobs, j);
}

static void see_whether_to_stop(struct pmfs_jobs *jobs, uint64_t now)
{
	jobs->stop |= fuse_session_exited(jobs->se) != 0;
	if (jobs->stop && !jobs->stop_ms)
		jobs->stop_ms = now;
	if (jobs->stop && jobs->all && now - jobs->stop_ms > STUCK_MS)
		jobs->stuck(jobs->stuck_context);
}

static void wait_a_tick(struct pmfs_jobs *jobs)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&jobs->watch_moved, &jobs->lock, &until);
}

static void *watch(void *context)
{
	struct pmfs_jobs *jobs = context;
	unsigned quiet = 0;
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->stopped) {
		see_whether_to_stop(jobs, now_ms());
		quiet = jobs->all ? 0 : quiet + 1;
		for (struct job *j = jobs->all, *next; j; j = next) {
			next = j->next;
			look_at(jobs, j, now_ms());
		}
		start_others(jobs);
		if (jobs->ready && jobs->n_threads == 0)
			start_thread(jobs); /* which failed before */
		jobs->watch_sleeps = quiet >= QUIET_TICKS;
		if (jobs->watch_sleeps)
			pthread_cond_wait(&jobs->watch_moved, &jobs->lock);
		else
			wait_a_tick(jobs);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* ---- life ---- */

struct pmfs_jobs *pmfs_jobs_start(
	struct fuse_session *se, bool single, void (*stuck)(void *context), void *context)
{
	struct pmfs_jobs *jobs = calloc(1, sizeof(*jobs));
	pthread_condattr_t attributes;
	sigset_t all, before;
	if (!jobs)
		return NULL;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	jobs->se = se;
	jobs->stuck = stuck;
	jobs->stuck_context = context;
	jobs->cores = single || cores < 1 ? 1 : cores > MOST_CORES ? MOST_CORES : (unsigned)cores;
	jobs->most_hosted = single ? 0 : jobs->cores;
	jobs->ready_last = &jobs->ready;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->ready_moved, NULL);
	pthread_cond_init(&jobs->watch_moved, &attributes);
	pthread_cond_init(&jobs->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool good = pthread_create(&jobs->watch, NULL, watch, jobs) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (good)
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
