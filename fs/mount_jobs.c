/*
 * Calls on their way to an answer:
 *
 *     a call → tried at once → answered
 *                            ↘ parked on its job → run → answered, and tried again if parked
 */
#include "fs/mount_jobs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/thread.h"
#include "formats/common/work.h"
#include "fs/builders.h"
#include "fs/log.h"
#include "fs/memory.h"
#include "fs/mount_follow.h"

struct job {
	struct pm_work work;
	uint64_t key;
	struct pmfs_call *calls;          /* the call that is answered first */
	uint64_t started_ms, deserted_ms; /* 0: not */
	bool running;
	struct job *next, *next_ready;
};

struct pmfs_jobs {
	struct fuse_session *se;
	void (*stuck)(void *context);
	void *stuck_context;
	unsigned cores, most_hosted;
	unsigned at_once;     /* number of jobs that run regardless of idle processors */
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t ready_moved, watch_moved, ended;
	struct job *all;                 /* in order of arrival */
	struct job *ready, **ready_last; /* running, but not yet taken by a thread */
	unsigned n_running, n_hosted, n_threads, n_idle, n_ready;
	bool watch_sleeps, stop, stopped;
	uint64_t stop_ms; /* when the watch noticed that it has to stop */
	uint64_t last_ms; /* atomic: of the last request */
	uint64_t idle_ms; /* of -o idle, or 0 */
	void (*idle)(void *context);
	void *idle_context;
	pthread_t watch;
};

/* ---- calls ---- */

enum { MOST_MESSAGES = 1000 }; /* a grep over a broken source must not fill the log */

static void note_interrupt(fuse_req_t req, void *data)
{
	struct pmfs_call *c = data;
	(void)req;
	__atomic_store_n(&c->interrupted, true, __ATOMIC_RELAXED);
}

/*
 * Takes the right to reply: its owner may use the request, and interrupts are no longer delivered.
 */
static bool call_claim(struct pmfs_call *c)
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
	return call_claim(c);
}

/* Whether it has been taken. */
static bool call_is_taken(const struct pmfs_call *c)
{
	return __atomic_load_n(&c->taken, __ATOMIC_ACQUIRE);
}

/* Answers from existing data; false if something would have to be built first. */
static bool call_try_at_once(struct pmfs_call *c)
{
	struct pm_work work = {.at_once = true};
	pm_work_enter(&work);
	c->answer(c);
	pm_work_enter(NULL);
	return call_is_taken(c);
}

static void call_free(struct pmfs_call *c)
{
	pmfs_mount_unpin(c->m);
	free((char *)(uintptr_t)c->name);
	free(c);
}

/*
 * A copy on the heap that is independent of its thread and receives interrupts. NULL if out of
 * memory.
 */
static struct pmfs_call *call_park(const struct pmfs_call *c)
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

/* The folders at the root, with a slash; NULL for any other node. */
static const char *folder_of(pm_node node)
{
	switch (pmfs_node_kind_of(node)) {
	case PMFS_ROOT: return "";
	case PMFS_EXPORT: return "export/";
	case PMFS_CONTEXTS: return "contexts/";
	case PMFS_BY_ID: return "by-id/";
	case PMFS_FUNCTIONS: return "functions/";
	case PMFS_THREADS: return pmfs_node_a(node) == 0 ? "threads/" : NULL;
	default: return NULL;
	}
}

/* The name of a document at the root or in export/; NULL if it depends on the metrics. */
static const char *document_of(pm_node node)
{
	uint32_t n, b = pmfs_node_b(node), place = b >> 20, view = b >> 12 & (PMFS_VIEW_MOST - 1);
	if (pmfs_node_kind_of(node) != PMFS_VIEW ||
		(place != PMFS_PLACE_ROOT && place != PMFS_PLACE_EXPORT))
		return NULL;
	const struct pmfs_view *views = pmfs_views(place, &n);
	return view < n && !views[view].each_metric ? views[view].name : NULL;
}

void pmfs_call_name(fuse_ino_t ino, const char *name, struct pm_text *out)
{
	pm_node node = pmfs_mount_node(ino);
	const char *folder = folder_of(node), *document = document_of(node);
	if (document)
		pm_text_printf(out, "%s%s",
			pmfs_node_b(node) >> 20 == PMFS_PLACE_EXPORT ? "export/" : "", document);
	else if (folder)
		pm_text_str(out, *folder || name ? folder : "(root)");
	else
		pm_text_printf(out, "inode %llu", (unsigned long long)ino);
	if (name && !folder)
		pm_text_char(out, '/');
	if (name)
		pm_text_str(out, name);
}

static void log_failure(struct pmfs_call *c, const struct pm_error *err)
{
	unsigned n = __atomic_fetch_add(&c->m->messages, 1, __ATOMIC_RELAXED);
	if (n < MOST_MESSAGES && err->code) {
		struct pm_text what = {.p = NULL};
		pmfs_call_name(c->ino, c->name, &what);
		pm_text_char(&what, '\0');
		pmfs_log_error(what.failed ? NULL : what.p, err);
		pm_text_done(&what);
	}
	if (n == MOST_MESSAGES)
		pmfs_log("further errors are not logged");
}

void pmfs_call_fail(struct pmfs_call *c, int code, const struct pm_error *err)
{
	static const int plain[] = {-ENOENT, -ENOTDIR, -EISDIR, -ENOMEM, -ESTALE};
	if (!pmfs_call_take(c))
		return;
	if (pm_is_passing(code) && pmfs_memory_limited())
		log_failure(c, err);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (code == plain[i] && !(code == -ENOENT && err->code)) {
			fuse_reply_err(c->req, -code);
			return;
		}
	log_failure(c, err);
	fuse_reply_err(c->req, EIO);
}

/*
 * ---- the pool ----
 *
 * The jobs of a mount and the threads that run them. All functions that take a pool require its
 * lock to be held.
 *
 * Jobs start while fewer than two per processor are running; the second one lets quick jobs
 * through during long builds. Jobs that only wait, for a slow disk or for another job, must not
 * block others: beyond that number, jobs start while processors are idle, as determined by the
 * watch from the states of all building threads (pmfs_builders_running).
 */

enum {
	MOST_THREADS = 256, /* more jobs than this only wait for each other */
	KEPT_THREADS = 2,   /* for the next job */
};

/* A clock for the times above; never 0. */
static uint64_t pool_now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

/* ---- threads ---- */

/* Runs a job, and frees it; called without the lock. */
static void run_job(struct pmfs_jobs *jobs, struct job *j);

static void *run_ready(void *context)
{
	struct pmfs_jobs *jobs = context;
	pmfs_builder_begin();
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

static void start_thread(struct pmfs_jobs *jobs)
{
	pthread_t thread;
	if (!pm_thread_start(&thread, run_ready, jobs))
		return;
	pthread_detach(thread);
	jobs->n_threads++;
}

/* Marks a job as running, on the caller's thread or on one of the pool's own. */
static void pool_run_here(struct pmfs_jobs *jobs, struct job *j)
{
	j->running = true;
	j->started_ms = pool_now_ms();
	jobs->n_running++;
}

/* Run by the next free thread, or by a new one. */
static void pool_run_elsewhere(struct pmfs_jobs *jobs, struct job *j)
{
	pool_run_here(jobs, j);
	j->next_ready = NULL;
	*jobs->ready_last = j;
	jobs->ready_last = &j->next_ready;
	jobs->n_ready++;
	if (jobs->n_ready > jobs->n_idle)
		start_thread(jobs);
	pthread_cond_signal(&jobs->ready_moved);
}

/* ---- what may start ---- */

/* Whether one more job may start regardless of idle processors. */
static bool pool_has_room(const struct pmfs_jobs *jobs)
{
	return jobs->n_running < jobs->at_once && !jobs->stop;
}

static struct job *first_waiting(const struct pmfs_jobs *jobs)
{
	struct job *j = jobs->all;
	while (j && j->running)
		j = j->next;
	return j;
}

/* Whether a job waits that can start only on an idle processor. */
static bool pool_is_full(const struct pmfs_jobs *jobs)
{
	return !pool_has_room(jobs) && jobs->n_threads < MOST_THREADS && !jobs->stop &&
		first_waiting(jobs);
}

/* Starts waiting jobs within the limit, then up to `idle` more, the number of idle processors. */
static void pool_start_others(struct pmfs_jobs *jobs, unsigned idle)
{
	struct job *j = first_waiting(jobs);
	for (; j && !jobs->stop && jobs->n_threads < MOST_THREADS; j = j->next) {
		if (j->running)
			continue;
		if (!pool_has_room(jobs) && idle-- == 0)
			break;
		pool_run_elsewhere(jobs, j);
	}
	if (jobs->ready && jobs->n_threads == 0)
		start_thread(jobs); /* which failed before */
}

/* ---- jobs ---- */

/* The job with this key that has not been cancelled, or NULL. */
static struct job *pool_find(struct pmfs_jobs *jobs, uint64_t key)
{
	for (struct job *j = jobs->all; j; j = j->next)
		if (j->key == key && pm_work_want(&j->work))
			return j;
	return NULL;
}

static void pool_add_call(struct job *j, struct pmfs_call *c)
{
	struct pmfs_call **last = &j->calls;
	while (*last)
		last = &(*last)->next;
	c->next = NULL;
	*last = c;
	j->deserted_ms = 0;
}

/* A new job for the call, last in order, not running; NULL if out of memory. */
static struct job *pool_add(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	struct job *j = calloc(1, sizeof(*j));
	struct job **last = &jobs->all;
	if (!j)
		return NULL;
	while (*last)
		last = &(*last)->next;
	*last = j;
	j->key = c->key;
	pool_add_call(j, c);
	if (jobs->watch_sleeps)
		pthread_cond_signal(&jobs->watch_moved);
	jobs->watch_sleeps = false;
	return j;
}

/* The caller owns the job afterwards. */
static void pool_remove(struct pmfs_jobs *jobs, struct job *j)
{
	struct job **place = &jobs->all;
	while (*place != j)
		place = &(*place)->next;
	*place = j->next;
	jobs->n_running -= j->running;
	if (!jobs->all)
		pthread_cond_broadcast(&jobs->ended);
}

/* ---- signals of a thread that waits for us ---- */

#define BIT(number) ((uint64_t)1 << ((number)-1))

/* All other signals end a process unless it handles them. */
static const uint64_t harmless = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) |
	BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);
static const uint64_t requests = BIT(SIGINT) | BIT(SIGTERM) | BIT(SIGHUP) | BIT(SIGQUIT);

/* A set of signals, as a line of /proc/…/status. */
static bool find_set(const char *status, const char *name, uint64_t *ret)
{
	const char *line = strstr(status, name);
	if (line)
		*ret = strtoull(line + strlen(name), NULL, 16);
	return line;
}

static bool read_status(pid_t tid, char *status, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, status, size - 1);
	if (fd >= 0)
		close(fd);
	status[n > 0 ? n : 0] = 0;
	return n > 0;
}

/*
 * Whether the thread should stop waiting. True if it has a pending signal that ends it or asks it
 * to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT), and if this cannot be determined; false for other
 * signals that it handles, ignores or blocks, since a timer or a child must not make a system call
 * fail.
 */
static bool wants_out(pid_t tid)
{
	char status[4096];
	uint64_t own, shared, blocked, ignored, caught;
	/* 0: a process outside of our namespace. */
	if (tid <= 0 || !read_status(tid, status, sizeof(status)) ||
		!find_set(status, "\nSigPnd:", &own) || !find_set(status, "\nShdPnd:", &shared) ||
		!find_set(status, "\nSigBlk:", &blocked) ||
		!find_set(status, "\nSigIgn:", &ignored) || !find_set(status, "\nSigCgt:", &caught))
		return true;
	uint64_t pending = (own | shared) & ~blocked & ~ignored;
	return (pending & requests) || (pending & ~caught & ~harmless);
}

/*
 * ---- the watch ----
 *
 * The watch: a thread that checks all jobs every few milliseconds while there are any. It
 * answers requests that were interrupted or need not wait, cancels jobs that no request waits
 * for, starts jobs while processors are idle, and ends all jobs with the session.
 */

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
	return wants_out(c->tid);
}

static void reply_to_one(
	struct pmfs_jobs *jobs, const struct job *j, struct pmfs_call *c, uint64_t now)
{
	bool interrupted = gives_up(c, now);
	bool early = c->answer_early && (!j->running || now - j->started_ms >= TICK_MS);
	if (!jobs->stop && !interrupted && !early)
		return;
	if (!call_claim(c))
		return;
	if (early && !jobs->stop)
		c->answer_early(c);
	else
		fuse_reply_err(c->req, jobs->stop ? ECONNABORTED : EINTR);
}

/* Replies if that cannot wait. Returns whether any request still waits for the job. */
static bool reply_early(struct pmfs_jobs *jobs, struct job *j, uint64_t now)
{
	bool wanted = false;
	for (struct pmfs_call **place = &j->calls, *c; (c = *place);) {
		reply_to_one(jobs, j, c, now);
		if (!call_is_taken(c)) {
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
		pool_remove(jobs, j);
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
	if (!pool_is_full(jobs)) {
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
	uint64_t now = pool_now_ms(), since = now > last ? now - last : 0;
	if (!jobs->idle_ms) {
		pthread_cond_wait(&jobs->watch_moved, &jobs->lock);
	} else if (since < jobs->idle_ms) {
		wait_ms(jobs, jobs->idle_ms - since);
	} else {
		jobs->idle(jobs->idle_context);
		/* In use: for another while. */
		__atomic_store_n(&jobs->last_ms, pool_now_ms(), __ATOMIC_RELAXED);
	}
}

static void *watch(void *context)
{
	struct pmfs_jobs *jobs = context;
	unsigned quiet = 0, idle_before = 0;
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->stopped) {
		see_whether_to_stop(jobs, pool_now_ms());
		quiet = jobs->all ? 0 : quiet + 1;
		for (struct job *j = jobs->all, *next; j; j = next) {
			next = j->next;
			look_at(jobs, j, pool_now_ms());
		}
		pool_start_others(jobs, idle_processors(jobs, &idle_before));
		jobs->watch_sleeps = quiet >= QUIET_TICKS && !jobs->all;
		if (jobs->watch_sleeps)
			sleep_long(jobs);
		else
			wait_ms(jobs, TICK_MS);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* ---- jobs ---- */

enum { MOST_CORES = 8 };

/* ---- running ---- */

static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host);

/* Answers the calls that wait for the result; the first one has been answered already. */
static void try_again(struct pmfs_jobs *jobs, struct pmfs_call *calls)
{
	while (calls) {
		struct pmfs_call *c = calls;
		calls = c->next;
		if (call_is_taken(c) || call_try_at_once(c))
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
	pool_remove(jobs, j);
	pool_start_others(jobs, 0);
	pthread_mutex_unlock(&jobs->lock);
	free(j);
	try_again(jobs, calls);
}

/* Adds a parked call to the job with its key, or to a new one. */
static void submit(struct pmfs_jobs *jobs, struct pmfs_call *c, bool may_host)
{
	pthread_mutex_lock(&jobs->lock);
	bool stop = jobs->stop, host = false;
	struct job *j = stop ? NULL : pool_find(jobs, c->key);
	if (j) {
		pool_add_call(j, c);
	} else if (!stop && (j = pool_add(jobs, c)) && pool_has_room(jobs)) {
		host = may_host && jobs->n_hosted < jobs->most_hosted;
		if (host)
			pool_run_here(jobs, j);
		else
			pool_run_elsewhere(jobs, j);
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
		if (call_claim(c))
			fuse_reply_err(c->req, stop ? ECONNABORTED : ENOMEM);
		call_free(c);
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
	for (const struct job *j = jobs->all; j; j = j->next) {
		ret->jobs++;
		for (const struct pmfs_call *c = j->calls; c; c = c->next)
			ret->readers += !call_is_taken(c);
	}
	ret->running = jobs->n_running;
	ret->threads = jobs->n_threads;
	pthread_mutex_unlock(&jobs->lock);
	ret->idle_ms = pool_now_ms() - __atomic_load_n(&jobs->last_ms, __ATOMIC_RELAXED);
}

void pmfs_jobs_serve(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	__atomic_store_n(&jobs->last_ms, pool_now_ms(), __ATOMIC_RELAXED);
	struct pmfs_call *parked = call_try_at_once(c) ? NULL : call_park(c);
	if (parked) {
		submit(jobs, parked, true);
		return;
	}
	if (call_claim(c))
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
		/* The first call stays in the list as long as its job. */
		struct pmfs_running running = {.ino = j->calls->ino,
			.name = j->calls->name,
			.ms = pool_now_ms() - j->started_ms};
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
	jobs->last_ms = pool_now_ms();
	jobs->stuck = stuck;
	jobs->stuck_context = context;
	jobs->cores = single || cores < 1 ? 1 : cores > MOST_CORES ? MOST_CORES : (unsigned)cores;
	jobs->most_hosted = single ? 0 : jobs->cores;
	jobs->at_once = single ? 1 : 2 * jobs->cores;
	jobs->ready_last = &jobs->ready;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->ready_moved, NULL);
	pthread_cond_init(&jobs->watch_moved, &attributes);
	pthread_cond_init(&jobs->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pm_thread_start(&jobs->watch, watch, jobs)) /* which ends once jobs->stopped is set */
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
