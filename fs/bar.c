#include "fs/bar.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/thread.h"

enum { WIDTH = 40, FIRST_MS = 1000, PERIOD_MS = 200 };

/* A process runs one command, on one terminal. */
static struct {
	const struct pm_work *work;
	uint64_t files; /* atomic */
	pthread_t thread;
	bool started;
	bool shown; /* under the lock of stderr */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool stop; /* under the lock */
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static void show(unsigned seconds)
{
	static const char full[] = "########################################";
	uint64_t done, total, files = __atomic_load_n(&bar.files, __ATOMIC_RELAXED);
	pm_work_how_far(bar.work, &done, &total);
	flockfile(stderr);
	bar.shown = true;
	fprintf(stderr, "\r\033[K%u s", seconds);
	if (files > 0)
		fprintf(stderr, ", %llu files", (unsigned long long)files);
	if (total > 0) {
		double part = (double)done / (double)total;
		int filled = (int)(part * WIDTH);
		fprintf(stderr, " [%.*s%*s] %d%%", filled, full, WIDTH - filled, "",
			(int)(part * 100));
	}
	fflush(stderr);
	funlockfile(stderr);
}

static void *run(void *context)
{
	unsigned ms = 0, step = FIRST_MS;
	(void)context;
	pthread_mutex_lock(&bar.lock);
	while (!bar.stop) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += step % 1000 * 1000000L;
		until.tv_sec += step / 1000 + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&bar.moved, &bar.lock, &until) == 0)
			continue;
		pthread_mutex_unlock(&bar.lock);
		ms += step;
		step = PERIOD_MS;
		show(ms / 1000);
		pthread_mutex_lock(&bar.lock);
	}
	pthread_mutex_unlock(&bar.lock);
	return NULL;
}

void pmfs_bar_start(const struct pm_work *work)
{
	if (!isatty(STDERR_FILENO))
		return;
	bar.work = work;
	bar.stop = false;
	bar.started = pm_thread_start(&bar.thread, run, NULL);
}

void pmfs_bar_end(void)
{
	if (!bar.started)
		return;
	pthread_mutex_lock(&bar.lock);
	bar.stop = true;
	pthread_cond_signal(&bar.moved);
	pthread_mutex_unlock(&bar.lock);
	pthread_join(bar.thread, NULL);
	bar.started = false;
	pmfs_bar_hide();
	pmfs_bar_go_on();
}

void pmfs_bar_give_way(int fd)
{
	if (bar.started && isatty(fd))
		pmfs_bar_end();
}

void pmfs_bar_count(uint64_t files)
{
	__atomic_store_n(&bar.files, files, __ATOMIC_RELAXED);
}

void pmfs_bar_hide(void)
{
	flockfile(stderr);
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}

void pmfs_bar_go_on(void)
{
	fflush(stderr);
	funlockfile(stderr);
}
