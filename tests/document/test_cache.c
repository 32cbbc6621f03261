/* fs/document/cache.c: the byte limit, one build for all who wait, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "fs/document/cache.h"

struct thing {
	struct pmfs_cached cached;
	uint64_t value;
};

struct order {
	uint64_t value, bytes;
	int result; /* of the build */
	unsigned wait_us;
	int builds; /* atomic */
};

static int n_freed;

static void thing_free(struct pmfs_cached *c)
{
	n_freed++;
	free(c);
}

static int build(void *context, struct pmfs_cached **ret, struct pm_error *err)
{
	struct order *o = context;
	__atomic_fetch_add(&o->builds, 1, __ATOMIC_SEQ_CST);
	usleep(o->wait_us);
	if (o->result < 0)
		return pm_error_set(err, o->result, NULL, PM_NO_OFFSET, "as ordered");
	struct thing *t = calloc(1, sizeof(*t));
	t->cached.bytes = o->bytes;
	t->cached.free = thing_free;
	t->value = o->value;
	*ret = &t->cached;
	return 0;
}

static uint64_t get(struct pmfs_cache *cache, uint64_t key, struct order *o)
{
	struct pmfs_cached *c;
	assert_int_equal(pmfs_cache_get(cache, key, build, o, &c, NULL), 0);
	uint64_t value = ((struct thing *)c)->value;
	pmfs_cache_release(cache, c);
	return value;
}

static void test_a_thing_is_built_once_while_it_is_kept(void **state)
{
	(void)state;
	struct pmfs_cache *cache = pmfs_cache_new(100);
	struct order o = {.value = 7, .bytes = 10};
	assert_null(pmfs_cache_peek(cache, 1));
	assert_int_equal(get(cache, 1, &o), 7);
	assert_int_equal(get(cache, 1, &o), 7);
	assert_int_equal(o.builds, 1);
	struct pmfs_cached *c = pmfs_cache_peek(cache, 1);
	assert_non_null(c);
	pmfs_cache_release(cache, c);
	pmfs_cache_free(cache);
}

static void test_the_least_recently_used_goes_first(void **state)
{
	(void)state;
	struct pmfs_cache *cache = pmfs_cache_new(25);
	struct order a = {.value = 1, .bytes = 10}, b = {.value = 2, .bytes = 10};
	struct order c = {.value = 3, .bytes = 10};
	get(cache, 1, &a);
	get(cache, 2, &b);
	get(cache, 1, &a);
	get(cache, 3, &c); /* 2 has to go */
	assert_int_equal(pmfs_cache_bytes(cache), 20);
	get(cache, 1, &a);
	get(cache, 3, &c);
	get(cache, 2, &b);
	assert_int_equal(a.builds, 1);
	assert_int_equal(c.builds, 1);
	assert_int_equal(b.builds, 2);
	pmfs_cache_free(cache);
}

static void test_what_is_in_use_stays_even_beyond_the_limit(void **state)
{
	(void)state;
	struct pmfs_cache *cache = pmfs_cache_new(5);
	struct order big = {.value = 1, .bytes = 100}, small = {.value = 2, .bytes = 1};
	struct pmfs_cached *held;
	n_freed = 0;
	assert_int_equal(pmfs_cache_get(cache, 1, build, &big, &held, NULL), 0);
	get(cache, 2, &small);
	assert_int_equal(((struct thing *)held)->value, 1);
	assert_true(pmfs_cache_bytes(cache) >= 100);
	pmfs_cache_release(cache, held);
	assert_true(pmfs_cache_bytes(cache) <= 5);
	assert_true(n_freed >= 1);
	pmfs_cache_free(cache);
}

static void test_a_failure_is_told_and_tried_again(void **state)
{
	(void)state;
	struct pmfs_cache *cache = pmfs_cache_new(100);
	struct order o = {.result = -EIO, .bytes = 1};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_cached *c;
	assert_int_equal(pmfs_cache_get(cache, 1, build, &o, &c, &err), -EIO);
	assert_string_equal(err.text, "as ordered");
	o.result = 0;
	assert_int_equal(get(cache, 1, &o), 0);
	assert_int_equal(o.builds, 2);
	pmfs_cache_free(cache);
}

struct waiter {
	struct pmfs_cache *cache;
	struct order *order;
	int result;
	pthread_t thread;
};

static void *wait_for_thing(void *context)
{
	struct waiter *w = context;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_cached *c;
	w->result = pmfs_cache_get(w->cache, 9, build, w->order, &c, &err);
	if (w->result == 0)
		pmfs_cache_release(w->cache, c);
	else if (!err.code)
		w->result = 1; /* a failure without a reason */
	return NULL;
}

static void wait_together(struct order *o, int want)
{
	enum { N = 8 };
	struct pmfs_cache *cache = pmfs_cache_new(100);
	struct waiter waiters[N];
	for (int i = 0; i < N; i++) {
		waiters[i] = (struct waiter){.cache = cache, .order = o};
		pthread_create(&waiters[i].thread, NULL, wait_for_thing, &waiters[i]);
	}
	for (int i = 0; i < N; i++) {
		pthread_join(waiters[i].thread, NULL);
		assert_int_equal(waiters[i].result, want);
	}
	pmfs_cache_free(cache);
}

static void test_waiters_share_one_build(void **state)
{
	(void)state;
	struct order o = {.value = 1, .bytes = 1, .wait_us = 50000};
	wait_together(&o, 0);
	assert_int_equal(o.builds, 1);
}

static void test_waiters_share_a_failure(void **state)
{
	(void)state;
	struct order o = {.result = -EINVAL, .wait_us = 50000};
	wait_together(&o, -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thing_is_built_once_while_it_is_kept),
		cmocka_unit_test(test_the_least_recently_used_goes_first),
		cmocka_unit_test(test_what_is_in_use_stays_even_beyond_the_limit),
		cmocka_unit_test(test_a_failure_is_told_and_tried_again),
		cmocka_unit_test(test_waiters_share_one_build),
		cmocka_unit_test(test_waiters_share_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
