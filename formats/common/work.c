/*
 * Dependencies between works: each work counts the others that need what it builds. An abandoned
 * work is cancelled when that count is 0, which may cancel the one that it was waiting for in turn.
 */
#include "formats/common/work.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER; /* a turn ended, or a work was cancelled */

static _Thread_local struct pm_work *current;
static _Thread_local bool is_helper;

struct pm_work *pm_work_enter(struct pm_work *w)
{
	struct pm_work *before = current;
	current = w;
	return before;
}

void pm_work_help(struct pm_work *w)
{
	current = w;
	is_helper = true;
}

struct pm_work *pm_work_current(void)
{
	return current;
}

bool pm_work_cancelled(void)
{
	if (!current || !__atomic_load_n(&current->cancelled, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&current->gave_up, true, __ATOMIC_RELAXED);
	return true;
}

bool pm_work_may_build(void)
{
	if (!current || !current->at_once)
		return true;
	current->refused = true;
	return false;
}

void pm_work_progress(uint64_t done, uint64_t total)
{
	if (!current)
		return;
	__atomic_store_n(&current->done, done, __ATOMIC_RELAXED);
	__atomic_store_n(&current->total, total, __ATOMIC_RELAXED);
}

/* ---- under the lock ---- */

static void end(struct pm_work *w)
{
	__atomic_store_n(&w->cancelled, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&moved);
}

static void end_if_unneeded(struct pm_work *w)
{
	if (w->abandoned && w->needed == 0 && !w->cancelled)
		end(w);
}

void pm_work_cancel(struct pm_work *w)
{
	pthread_mutex_lock(&lock);
	end(w);
	pthread_mutex_unlock(&lock);
}

void pm_work_abandon(struct pm_work *w)
{
	pthread_mutex_lock(&lock);
	w->abandoned = true;
	end_if_unneeded(w);
	pthread_mutex_unlock(&lock);
}

bool pm_work_want(struct pm_work *w)
{
	pthread_mutex_lock(&lock);
	bool in_time = !w->cancelled;
	if (in_time)
		w->abandoned = false;
	pthread_mutex_unlock(&lock);
	return in_time;
}

/* ---- turns ---- */

void pm_work_how_far(const struct pm_work *w, uint64_t *ret_done, uint64_t *ret_total)
{
	pthread_mutex_lock(&lock);
	while (w->awaited && w->awaited->building && w->awaited->builder)
		w = w->awaited->builder;
	uint64_t done = __atomic_load_n(&w->done, __ATOMIC_RELAXED);
	*ret_total = __atomic_load_n(&w->total, __ATOMIC_RELAXED);
	*ret_done = done < *ret_total ? done : *ret_total;
	pthread_mutex_unlock(&lock);
}

void pm_turn_lock(void)
{
	pthread_mutex_lock(&lock);
}

void pm_turn_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void pm_turn_begin(struct pm_turn *t)
{
	t->builder = current;
	t->building = true;
	t->waiters = 0;
	t->round++;
}

void pm_turn_end(struct pm_turn *t)
{
	t->building = false;
	if (t->builder) {
		t->builder->needed -= t->waiters;
		if (t->builder->background && t->builder->needed == 0)
			t->builder->abandoned =
				false; /* it is needed by nobody because it is done */
		end_if_unneeded(t->builder);
	}
	t->builder = NULL;
	pthread_cond_broadcast(&moved);
}

bool pm_turn_wait(struct pm_turn *t)
{
	unsigned round = t->round;
	if (t->building && current && current->background)
		end(current);
	if (!t->building || pm_work_cancelled())
		return !t->building;
	if (current && !is_helper)
		current->awaited = t;
	t->waiters++;
	if (t->builder) {
		t->builder->needed++;
		t->builder->abandoned |= t->builder->background;
	}
	while (t->building && t->round == round && !pm_work_cancelled())
		pthread_cond_wait(&moved, &lock);
	if (current && !is_helper)
		current->awaited = NULL;
	if (t->building && t->round == round) {
		t->waiters--;
		if (t->builder) {
			t->builder->needed--;
			end_if_unneeded(t->builder);
		}
		return false;
	}
	return true;
}
