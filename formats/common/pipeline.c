/*
 * Workers produce results ahead of the caller, which takes them in order, by at most a window: a
 * ring of slots. The results do not depend on the number of workers.
 */
#include "formats/common/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/crew.h"
#include "profmount/error.h"

enum { WINDOW = 4 * PM_CREW_MOST };

struct run {
	const struct pm_pipeline *pipeline;
	pthread_mutex_t lock;
	pthread_cond_t moved; /* next, taken, made or stop have changed */
	uint32_t next, taken;
	uint64_t weight; /* results that exist or are being made */
	bool made[WINDOW];
	int code[WINDOW];
	char *results; /* WINDOW of them */
	bool stop;
};

static void *result_of(const struct run *r, uint32_t i)
{
	return r->results + (i % WINDOW) * r->pipeline->size;
}

struct making {
	const struct run *run;
	uint32_t i;
	struct pm_arena arena;
};

static void build(void *context)
{
	struct making *m = context;
	const struct pm_pipeline *p = m->run->pipeline;
	p->build(&m->arena, p->context, m->i, result_of(m->run, m->i));
}

static int make(const struct run *r, uint32_t i)
{
	struct making m = {.run = r, .i = i};
	memset(result_of(r, i), 0, r->pipeline->size);
	if (pm_work_cancelled())
		return PM_CANCELLED;
	if (r->pipeline->make)
		return r->pipeline->make(r->pipeline->context, i, result_of(r, i));
	int code = pm_build(&m.arena, build, &m);
	pm_arena_done(&m.arena);
	return code;
}

static int take(const struct run *r, uint32_t i, int code)
{
	if (code == 0 && pm_work_cancelled())
		code = PM_CANCELLED;
	if (code == 0)
		code = r->pipeline->take(r->pipeline->context, i, result_of(r, i));
	if (r->pipeline->drop)
		r->pipeline->drop(result_of(r, i));
	return code;
}

static uint64_t weight_of(const struct run *r, uint32_t i)
{
	return r->pipeline->weigh ? r->pipeline->weigh(r->pipeline->context, i) : 0;
}

/* With the lock held: is there room for the next result? */
static bool has_room(const struct run *r)
{
	uint64_t most = r->pipeline->weigh ? r->pipeline->most : UINT64_MAX, sum;
	if (r->next == r->taken)
		return true;
	return r->next < r->taken + WINDOW &&
		!__builtin_add_overflow(r->weight, weight_of(r, r->next), &sum) && sum <= most;
}

static void *work(void *self)
{
	struct run *r = self;
	pthread_mutex_lock(&r->lock);
	while (!r->stop && r->next < r->pipeline->n) {
		if (!has_room(r)) {
			pthread_cond_wait(&r->moved, &r->lock);
			continue;
		}
		uint32_t i = r->next++;
		r->weight += weight_of(r, i);
		pthread_mutex_unlock(&r->lock);
		int code = make(r, i);
		pthread_mutex_lock(&r->lock);
		r->code[i % WINDOW] = code;
		r->made[i % WINDOW] = true;
		pthread_cond_broadcast(&r->moved);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static int take_all(struct run *r)
{
	int code = 0;
	for (uint32_t i = 0; i < r->pipeline->n && code == 0; i++) {
		bool *made = &r->made[i % WINDOW];
		pm_work_progress(i, r->pipeline->n);
		pthread_mutex_lock(&r->lock);
		while (!*made)
			pthread_cond_wait(&r->moved, &r->lock);
		pthread_mutex_unlock(&r->lock);
		code = take(r, i, r->code[i % WINDOW]);
		pthread_mutex_lock(&r->lock);
		*made = false;
		r->taken++;
		r->weight -= weight_of(r, i);
		r->stop = code != 0;
		pthread_cond_broadcast(&r->moved);
		pthread_mutex_unlock(&r->lock);
	}
	return code;
}

static int run_alone(struct run *r)
{
	int code = 0;
	for (uint32_t i = 0; i < r->pipeline->n && code == 0; i++) {
		pm_work_progress(i, r->pipeline->n);
		code = take(r, i, make(r, i));
	}
	return code;
}

static int run_together(struct run *r, unsigned n)
{
	struct pm_crew crew;
	if (pm_crew_start(&crew, n, work, r) == 0)
		return run_alone(r);
	int code = take_all(r);
	pm_crew_join(&crew);
	for (size_t i = 0; i < WINDOW; i++)
		if (r->made[i] && r->pipeline->drop)
			r->pipeline->drop(r->results + i * r->pipeline->size);
	return code;
}

int pm_pipeline_run(const struct pm_pipeline *p)
{
	struct run r = {.pipeline = p,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER};
	unsigned n = pm_crew_width();
	r.results = calloc(WINDOW, p->size);
	if (!r.results)
		return -ENOMEM;
	int code = p->n < 2 || n < 2 ? run_alone(&r) : run_together(&r, n);
	free(r.results);
	pthread_cond_destroy(&r.moved);
	pthread_mutex_destroy(&r.lock);
	return code;
}
