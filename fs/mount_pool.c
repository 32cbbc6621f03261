#include "fs/mount_pool.h"

#include <stdlib.h>
#include <time.h>

#include "formats/common/thread.h"
#include "fs/builders.h"

enum {
	MOST_THREADS = 256, /* more jobs than this only wait for each other */
	KEPT_THREADS = 2,   /* for the next job */
};

uint64_t pmfs_pool_now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

/* ---- threads ---- */

static void *run_ready(void *context)
{
	struct pmfs_jobs *jobs = context;
	pmfs_builder_begin();
	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		struct pmfs_job *j = jobs->ready;
		if (j) {
			jobs->ready = j->next_ready;
			if (!jobs->ready)
				jobs->ready_last = &jobs->ready;
			jobs->n_ready--;
			pthread_mutex_unlock(&jobs->lock);
			jobs->run(jobs, j);
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

void pmfs_pool_run_here(struct pmfs_jobs *jobs, struct pmfs_job *j)
{
	j->running = true;
	j->started_ms = pmfs_pool_now_ms();
	jobs->n_running++;
}

/* Run by the next free thread, or by a new one. */
void pmfs_pool_run_elsewhere(struct pmfs_jobs *jobs, struct pmfs_job *j)
{
	pmfs_pool_run_here(jobs, j);
	j->next_ready = NULL;
	*jobs->ready_last = j;
	jobs->ready_last = &j->next_ready;
	jobs->n_ready++;
	if (jobs->n_ready > jobs->n_idle)
		start_thread(jobs);
	pthread_cond_signal(&jobs->ready_moved);
}

/* ---- what may start ---- */

bool pmfs_pool_has_room(const struct pmfs_jobs *jobs)
{
	return jobs->n_running < jobs->at_once && !jobs->stop;
}

static struct pmfs_job *first_waiting(const struct pmfs_jobs *jobs)
{
	struct pmfs_job *j = jobs->all;
	while (j && j->running)
		j = j->next;
	return j;
}

bool pmfs_pool_is_full(const struct pmfs_jobs *jobs)
{
	return !pmfs_pool_has_room(jobs) && jobs->n_threads < MOST_THREADS && !jobs->stop &&
		first_waiting(jobs);
}

void pmfs_pool_start_others(struct pmfs_jobs *jobs, unsigned idle)
{
	struct pmfs_job *j = first_waiting(jobs);
	for (; j && !jobs->stop && jobs->n_threads < MOST_THREADS; j = j->next) {
		if (j->running)
			continue;
		if (!pmfs_pool_has_room(jobs) && idle-- == 0)
			break;
		pmfs_pool_run_elsewhere(jobs, j);
	}
	if (jobs->ready && jobs->n_threads == 0)
		start_thread(jobs); /* which failed before */
}

/* ---- jobs ---- */

struct pmfs_job *pmfs_pool_find(struct pmfs_jobs *jobs, uint64_t key)
{
	for (struct pmfs_job *j = jobs->all; j; j = j->next)
		if (j->key == key && pm_work_want(&j->work))
			return j;
	return NULL;
}

void pmfs_pool_add_call(struct pmfs_job *j, struct pmfs_call *c)
{
	struct pmfs_call **last = &j->calls;
	while (*last)
		last = &(*last)->next;
	c->next = NULL;
	*last = c;
	j->deserted_ms = 0;
}

struct pmfs_job *pmfs_pool_add(struct pmfs_jobs *jobs, struct pmfs_call *c)
{
	struct pmfs_job *j = calloc(1, sizeof(*j));
	struct pmfs_job **last = &jobs->all;
	if (!j)
		return NULL;
	while (*last)
		last = &(*last)->next;
	*last = j;
	j->key = c->key;
	pmfs_pool_add_call(j, c);
	if (jobs->watch_sleeps)
		pthread_cond_signal(&jobs->watch_moved);
	jobs->watch_sleeps = false;
	return j;
}

void pmfs_pool_remove(struct pmfs_jobs *jobs, struct pmfs_job *j)
{
	struct pmfs_job **place = &jobs->all;
	while (*place != j)
		place = &(*place)->next;
	*place = j->next;
	jobs->n_running -= j->running;
	if (!jobs->all)
		pthread_cond_broadcast(&jobs->ended);
}
