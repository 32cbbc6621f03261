/*
 * Helper and pass agree on nothing but positions: if the pass is the faster one, it fetches what
 * the helper has not reached, and the helper goes on further ahead.
 */
#include "formats/common/fetcher.h"

#include "formats/common/cursor.h"

/* What may be evicted again before the pass reads it is not fetched. */
#define FURTHEST ((uint64_t)64 << 20)
#define SMALLEST ((uint64_t)4 << 20)

/* The next block to fetch after `from`; false at the end. */
static bool next(struct pm_fetcher *f, uint64_t from, uint64_t *ret)
{
	pthread_mutex_lock(&f->lock);
	while (!f->ends && from > f->passed + FURTHEST)
		pthread_cond_wait(&f->moved, &f->lock);
	uint64_t ahead = (f->passed / PM_WATCH_BLOCK + 2) * PM_WATCH_BLOCK;
	bool ends = f->ends;
	pthread_mutex_unlock(&f->lock);
	*ret = from < ahead ? ahead : from;
	return !ends;
}

static void *help(void *context)
{
	struct pm_fetcher *f = context;
	for (uint64_t at = 0; next(f, at, &at); at += PM_WATCH_BLOCK) {
		uint64_t left = at < f->bytes.len ? f->bytes.len - at : 0;
		if (left == 0 || pm_work_cancelled())
			break;
		pm_watch_use(f->watch, f->bytes, at, left < PM_WATCH_BLOCK ? left : PM_WATCH_BLOCK);
	}
	return NULL;
}

void pm_fetcher_start(struct pm_fetcher *f, struct pm_watch *watch, struct pm_bytes bytes)
{
	*f = (struct pm_fetcher){.watch = watch,
		.bytes = bytes,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER};
	if (watch && bytes.len >= SMALLEST && pm_crew_width() > 1)
		pm_crew_start(&f->crew, 1, help, f);
}

void pm_fetcher_pass(struct pm_fetcher *f, uint64_t upto)
{
	if (!f->crew.n)
		return;
	pthread_mutex_lock(&f->lock);
	f->passed = upto;
	pthread_cond_signal(&f->moved);
	pthread_mutex_unlock(&f->lock);
}

void pm_fetcher_end(struct pm_fetcher *f)
{
	pthread_mutex_lock(&f->lock);
	f->ends = true;
	pthread_cond_signal(&f->moved);
	pthread_mutex_unlock(&f->lock);
	pm_crew_join(&f->crew);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
}
