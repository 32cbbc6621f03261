/*
 * A ring of blocks between one thread that makes them and one that takes them:
 *
 *	blocks  [ made | being taken | free | being made ]      taken <= made <= taken + N_BLOCKS
 *
 * The contents of a block belong to the thread that works on it; only the two counts are under the
 * lock.
 */
#include "formats/common/ahead.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "formats/common/thread.h"

enum { N_BLOCKS = 8 };

struct block {
	_Alignas(max_align_t) uint8_t bytes[PM_AHEAD_BLOCK];
	struct pm_ahead_step step;
};

struct pm_ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved; /* made, taken or stop have changed */
	uint64_t made, taken;
	bool stop;
	struct pm_ahead_step (*make)(void *source, uint8_t *room, size_t n);
	void *source;
	size_t at;     /* bytes already taken from the block being taken */
	bool is_taken; /* it was handed out as a whole */
	struct block blocks[N_BLOCKS];
};

static void move_on(struct pm_ahead *a, uint64_t *count)
{
	pthread_mutex_lock(&a->lock);
	++*count;
	pthread_cond_signal(&a->moved);
	pthread_mutex_unlock(&a->lock);
}

/* The next block to fill, or NULL if it is not needed any more. */
static struct block *wait_for_room(struct pm_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->stop && a->made == a->taken + N_BLOCKS)
		pthread_cond_wait(&a->moved, &a->lock);
	struct block *b = a->stop ? NULL : &a->blocks[a->made % N_BLOCKS];
	pthread_mutex_unlock(&a->lock);
	return b;
}

static const struct block *wait_for_block(struct pm_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	while (a->made == a->taken)
		pthread_cond_wait(&a->moved, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return &a->blocks[a->taken % N_BLOCKS];
}

static void *make_blocks(void *self)
{
	struct pm_ahead *a = self;
	enum pm_inflate_state state = PM_INFLATE_MORE;
	struct block *b;
	while (state == PM_INFLATE_MORE && (b = wait_for_room(a))) {
		b->step = a->make(a->source, b->bytes, PM_AHEAD_BLOCK);
		state = b->step.state;
		move_on(a, &a->made);
	}
	return NULL;
}

struct pm_ahead *pm_ahead_new(
	struct pm_ahead_step (*make)(void *source, uint8_t *room, size_t n), void *source)
{
	struct pm_ahead *a = malloc(sizeof(*a));
	if (!a)
		return NULL;
	a->made = a->taken = a->at = 0;
	a->stop = a->is_taken = false;
	a->make = make;
	a->source = source;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->moved, NULL);
	if (pm_thread_start(&a->thread, make_blocks, a))
		return a;
	free(a);
	return NULL;
}

struct pm_ahead_step pm_ahead_take(struct pm_ahead *a, uint8_t *room, size_t n)
{
	struct pm_ahead_step got = {.n = 0, .state = PM_INFLATE_MORE};
	while (got.n < n && got.state == PM_INFLATE_MORE) {
		const struct block *b = wait_for_block(a);
		size_t left = b->step.n - a->at, part = left < n - got.n ? left : n - got.n;
		memcpy(room + got.n, b->bytes + a->at, part);
		got.n += part;
		got.in = b->step.in;
		a->at += part;
		if (part < left)
			break;
		got.state = b->step.state;
		got.why = b->step.why;
		a->at = 0;
		move_on(a, &a->taken);
	}
	return got;
}

const uint8_t *pm_ahead_block(struct pm_ahead *a, struct pm_ahead_step *ret)
{
	if (a->is_taken)
		move_on(a, &a->taken);
	const struct block *b = wait_for_block(a);
	/* The last one stays. */
	a->is_taken = b->step.state == PM_INFLATE_MORE;
	*ret = b->step;
	return b->bytes;
}

struct pm_ahead *pm_ahead_free(struct pm_ahead *a)
{
	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->moved);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->moved);
	pthread_mutex_destroy(&a->lock);
	free(a);
	return NULL;
}
