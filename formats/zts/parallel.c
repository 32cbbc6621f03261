/*
 * Threads that take the next piece until there is none. Where threads cannot be had, the caller
 * does all the work: the result is the same.
 */
#include "formats/zts/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "formats/common/work.h"

enum { MOST_THREADS = 8 };

struct crew {
	struct pm_work *owner;
	size_t n, next;
	int error;
	int (*work)(void *context, size_t i);
	void *context;
};

unsigned zts_parallel_width(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores;
}

static void *take_pieces(void *argument)
{
	struct crew *crew = argument;
	while (__atomic_load_n(&crew->error, __ATOMIC_RELAXED) == 0) {
		size_t i = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);
		if (i >= crew->n)
			break;
		pm_work_progress(i, crew->n);
		int none = 0, r = pm_work_cancelled() ? -ENOMEM : crew->work(crew->context, i);
		if (r < 0)
			__atomic_compare_exchange_n(
				&crew->error, &none, r, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *help(void *argument)
{
	struct crew *crew = argument;
	pm_work_help(crew->owner);
	return take_pieces(crew);
}

int zts_parallel(size_t n, int (*work)(void *context, size_t i), void *context)
{
	struct crew crew = {.owner = pm_work_current(), .n = n, .work = work, .context = context};
	pthread_t threads[MOST_THREADS];
	unsigned started = 0, wanted = n > 1 ? zts_parallel_width() - 1 : 0;
	while (started < wanted && pthread_create(&threads[started], NULL, help, &crew) == 0)
		started++;
	take_pieces(&crew);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return crew.error;
}
