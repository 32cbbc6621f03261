#include "fs/mount_warm.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "formats/common/thread.h"
#include "formats/common/work.h"

/* Requests that waited for the mount come first. */
enum { PAUSE_MS = 200, STUCK_MS = 1000 };

struct pmfs_warm {
	const struct pm_profile *profile;
	struct pm_work work;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct timespec started;
	bool stop, runs, ended;
};

static struct timespec after_ms(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Failures are ignored: the request that needs the data tries again and reports them. */
static void *run(void *context)
{
	struct pmfs_warm *w = context;
	struct timespec until = after_ms(PAUSE_MS);
	pthread_mutex_lock(&w->lock);
	while (!w->stop && pthread_cond_timedwait(&w->moved, &w->lock, &until) == 0)
		;
	bool stop = w->stop;
	w->runs = !stop;
	clock_gettime(CLOCK_MONOTONIC, &w->started);
	pthread_mutex_unlock(&w->lock);
	if (!stop) {
		pm_work_enter(&w->work);
		w->profile->ops->warm(w->profile);
		pm_work_enter(NULL);
	}
	pthread_mutex_lock(&w->lock);
	w->runs = false;
	w->ended = true;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct pmfs_warm *pmfs_warm_start(const struct pm_profile *p)
{
	struct pmfs_warm *w = p->ops->warm ? calloc(1, sizeof(*w)) : NULL;
	if (!w)
		return NULL;
	w->profile = p;
	w->work.background = true;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->moved, NULL);
	if (pm_thread_start(&w->thread, run, w))
		return w;
	free(w);
	return NULL;
}

bool pmfs_warm_runs(struct pmfs_warm *w, uint64_t *ret_done, uint64_t *ret_total, uint64_t *ret_ms)
{
	struct timespec now;
	if (!w)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&w->lock);
	bool runs = w->runs;
	int64_t ms = (now.tv_sec - w->started.tv_sec) * 1000 +
		(now.tv_nsec - w->started.tv_nsec) / 1000000;
	pthread_mutex_unlock(&w->lock);
	*ret_ms = ms > 0 ? (uint64_t)ms : 0;
	pm_work_how_far(&w->work, ret_done, ret_total);
	return runs;
}

bool pmfs_warm_stop(struct pmfs_warm *w)
{
	if (!w)
		return true;
	struct timespec until = after_ms(STUCK_MS);
	pm_work_cancel(&w->work);
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->moved);
	while (!w->ended && pthread_cond_timedwait(&w->moved, &w->lock, &until) == 0)
		;
	bool ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended)
		return false;
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->moved);
	free(w);
	return true;
}
