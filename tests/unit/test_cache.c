/*
 * formats/common/cache.c: the byte limit, one build for all waiting threads, failures, cancelled
 * builds.
 */
#include "tests/unittest.h"

#include <stdlib.h>

#include <pthread.h>
#include <unistd.h>

#include "formats/common/cache.h"
#include "formats/common/work.h"

struct thing {
	struct pm_cached cached;
	uint64_t value;
};

struct order {
	uint64_t value, bytes;
	int result; /* of the build */
	unsigned wait_us;
	int builds; /* atomic */
};

static int n_freed;

static void thing_free(struct pm_cached *c)
{
	n_freed++;
	free(c);
}

static int build(void *context, struct pm_cached **ret, struct pm_error *err)
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

static uint64_t get(struct pm_cache *cache, uint64_t key, struct order *o)
{
	struct pm_cached *c;
	assert_int_equal(pm_cache_get(cache, key, build, o, &c, NULL), 0);
	uint64_t value = ((struct thing *)c)->value;
	pm_cache_release(cache, c);
	return value;
}

/* What the cache's own bookkeeping of a thing counts. */
static uint64_t bookkeeping(void)
{
	struct pm_cache *cache = pm_cache_new(10000);
	struct order o = {.bytes = 0};
	get(cache, 1, &o);
	uint64_t bytes = pm_cache_bytes(cache);
	pm_cache_free(cache);
	assert_true(bytes >= 64);
	return bytes;
}

static void test_a_thing_is_built_once_while_it_is_kept(void **state)
{
	struct pm_cache *cache = pm_cache_new(10000);
	struct order o = {.value = 7, .bytes = 10};
	assert_null(pm_cache_peek(cache, 1));
	assert_int_equal(get(cache, 1, &o), 7);
	assert_int_equal(get(cache, 1, &o), 7);
	assert_int_equal(o.builds, 1);
	struct pm_cached *c = pm_cache_peek(cache, 1);
	assert_non_null(c);
	pm_cache_release(cache, c);
	pm_cache_free(cache);
}

static void test_the_least_recently_used_goes_first(void **state)
{
	uint64_t each = 10 + bookkeeping();
	struct pm_cache *cache = pm_cache_new(2 * each + 5);
	struct order a = {.value = 1, .bytes = 10}, b = {.value = 2, .bytes = 10};
	struct order c = {.value = 3, .bytes = 10};
	get(cache, 1, &a);
	get(cache, 2, &b);
	get(cache, 1, &a);
	get(cache, 3, &c); /* 2 has to go */
	assert_int_equal(pm_cache_bytes(cache), 2 * each);
	get(cache, 1, &a);
	get(cache, 3, &c);
	get(cache, 2, &b);
	assert_int_equal(a.builds, 1);
	assert_int_equal(c.builds, 1);
	assert_int_equal(b.builds, 2);
	pm_cache_free(cache);
}

static void test_what_is_in_use_stays_even_beyond_the_limit(void **state)
{
	struct pm_cache *cache = pm_cache_new(5);
	struct order big = {.value = 1, .bytes = 100}, small = {.value = 2, .bytes = 1};
	struct pm_cached *held;
	n_freed = 0;
	assert_int_equal(pm_cache_get(cache, 1, build, &big, &held, NULL), 0);
	get(cache, 2, &small);
	assert_int_equal(((struct thing *)held)->value, 1);
	assert_true(pm_cache_bytes(cache) >= 100);
	pm_cache_release(cache, held);
	assert_true(pm_cache_bytes(cache) <= 5);
	assert_true(n_freed >= 1);
	pm_cache_free(cache);
}

static void test_what_somebody_is_in_the_middle_of_stays(void **state)
{
	struct pm_cache *cache = pm_cache_new(5);
	struct order big = {.value = 1, .bytes = 100}, small = {.value = 2, .bytes = 1};
	struct pm_cached *held;
	assert_int_equal(pm_cache_get(cache, 1, build, &big, &held, NULL), 0);
	pm_cache_keep(held, true);
	pm_cache_release(cache, held);
	get(cache, 2, &small);
	get(cache, 1, &big);
	assert_int_equal(big.builds, 1);
	assert_int_equal(pm_cache_get(cache, 1, build, &big, &held, NULL), 0);
	pm_cache_keep(held, false);
	pm_cache_release(cache, held);
	assert_int_equal(pm_cache_bytes(cache), 0);
	pm_cache_free(cache);
}

static void test_things_used_last_are_spared(void **state)
{
	uint64_t extra = bookkeeping();
	struct pm_cache *cache = pm_cache_new(5);
	struct order a = {.value = 1, .bytes = 100}, b = {.value = 2, .bytes = 100};
	struct order c = {.value = 3, .bytes = 100}, big = {.value = 4, .bytes = 1000};
	pm_cache_spare(cache, 2, 2 * (100 + extra));
	for (int i = 0; i < 3; i++) {
		get(cache, 1, &a);
		get(cache, 2, &b);
	}
	assert_int_equal(a.builds, 1);
	assert_int_equal(b.builds, 1);
	get(cache, 3, &c); /* a third one is too many */
	assert_null(pm_cache_peek(cache, 1));
	assert_int_equal(pm_cache_bytes(cache), 2 * (100 + extra));
	get(cache, 4, &big); /* and with a large one a second one is */
	get(cache, 4, &big);
	assert_int_equal(big.builds, 1);
	assert_int_equal(pm_cache_bytes(cache), 1000 + extra);
	get(cache, 1, &a);
	assert_int_equal(pm_cache_bytes(cache), 100 + extra);
	pm_cache_free(cache);
}

static void test_a_dropped_thing_is_freed_unless_it_is_used(void **state)
{
	struct pm_cache *cache = pm_cache_new(10000);
	struct order o = {.value = 7, .bytes = 10};
	get(cache, 1, &o);
	struct pm_cached *used = pm_cache_peek(cache, 1);
	int freed = n_freed;
	pm_cache_drop(cache, 1);
	pm_cache_drop(cache, 2);
	assert_int_equal(n_freed, freed);
	pm_cache_release(cache, used);
	pm_cache_drop(cache, 1);
	assert_int_equal(n_freed, freed + 1);
	assert_int_equal(pm_cache_bytes(cache), 0);
	assert_int_equal(get(cache, 1, &o), 7);
	assert_int_equal(o.builds, 2);
	pm_cache_free(cache);
}

static void test_what_is_being_built_counts(void **state)
{
	struct pm_cache *cache = pm_cache_new(1000);
	struct order o = {.value = 1, .bytes = 100};
	get(cache, 1, &o);
	pm_cache_reserve(cache, 950);
	assert_null(pm_cache_peek(cache, 1));
	pm_cache_reserve(cache, -950);
	assert_int_equal(pm_cache_bytes(cache), 0);
	pm_cache_free(cache);
}

static void test_a_cancelled_build_is_taken_over(void **state)
{
	struct pm_cache *cache = pm_cache_new(1000);
	struct order o = {.result = -ENOMEM, .bytes = 1};
	struct pm_work work = {.cancelled = true};
	struct pm_cached *c;
	pm_work_enter(&work);
	assert_true(pm_work_cancelled());
	assert_int_equal(pm_cache_get(cache, 1, build, &o, &c, NULL), -ENOMEM);
	/* Also what seems to have been made: parts of it may be missing. */
	o.result = 0;
	n_freed = 0;
	assert_int_equal(pm_cache_get(cache, 1, build, &o, &c, NULL), -ENOMEM);
	assert_int_equal(n_freed, 1);
	pm_work_enter(NULL);
	assert_int_equal(get(cache, 1, &o), 0);
	pm_cache_free(cache);
}

static void test_nothing_is_built_at_once(void **state)
{
	struct pm_cache *cache = pm_cache_new(1000);
	struct order o = {.value = 3, .bytes = 1};
	struct pm_work work = {.at_once = true};
	struct pm_cached *c;
	pm_work_enter(&work);
	assert_int_equal(pm_cache_get(cache, 1, build, &o, &c, NULL), -ENOMEM);
	assert_true(work.refused);
	assert_int_equal(o.builds, 0);
	pm_work_enter(NULL);
	get(cache, 1, &o);
	work.refused = false;
	pm_work_enter(&work);
	assert_int_equal(get(cache, 1, &o), 3);
	assert_false(work.refused);
	pm_work_enter(NULL);
	pm_cache_free(cache);
}

static void test_a_failure_is_told_and_tried_again(void **state)
{
	struct pm_cache *cache = pm_cache_new(10000);
	struct order o = {.result = -EIO, .bytes = 1};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_cached *c;
	assert_int_equal(pm_cache_get(cache, 1, build, &o, &c, &err), -EIO);
	assert_string_equal(err.text, "as ordered");
	o.result = 0;
	assert_int_equal(get(cache, 1, &o), 0);
	assert_int_equal(o.builds, 2);
	pm_cache_free(cache);
}

struct waiter {
	struct pm_cache *cache;
	struct order *order;
	int result;
	pthread_t thread;
};

static void *wait_for_thing(void *context)
{
	struct waiter *w = context;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_cached *c;
	w->result = pm_cache_get(w->cache, 9, build, w->order, &c, &err);
	if (w->result == 0)
		pm_cache_release(w->cache, c);
	else if (!err.code)
		w->result = 1; /* a failure without a reason */
	return NULL;
}

static void wait_together(struct order *o, int want)
{
	enum { N = 8 };
	struct pm_cache *cache = pm_cache_new(10000);
	struct waiter waiters[N];
	for (int i = 0; i < N; i++) {
		waiters[i] = (struct waiter){.cache = cache, .order = o};
		pthread_create(&waiters[i].thread, NULL, wait_for_thing, &waiters[i]);
	}
	for (int i = 0; i < N; i++) {
		pthread_join(waiters[i].thread, NULL);
		assert_int_equal(waiters[i].result, want);
	}
	pm_cache_free(cache);
}

static void test_waiters_share_one_build(void **state)
{
	struct order o = {.value = 1, .bytes = 1, .wait_us = 50000};
	wait_together(&o, 0);
	assert_int_equal(o.builds, 1);
}

static void test_waiters_share_a_failure(void **state)
{
	struct order o = {.result = -EINVAL, .wait_us = 50000};
	wait_together(&o, -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thing_is_built_once_while_it_is_kept),
		cmocka_unit_test(test_the_least_recently_used_goes_first),
		cmocka_unit_test(test_what_is_in_use_stays_even_beyond_the_limit),
		cmocka_unit_test(test_what_somebody_is_in_the_middle_of_stays),
		cmocka_unit_test(test_things_used_last_are_spared),
		cmocka_unit_test(test_a_dropped_thing_is_freed_unless_it_is_used),
		cmocka_unit_test(test_what_is_being_built_counts),
		cmocka_unit_test(test_a_cancelled_build_is_taken_over),
		cmocka_unit_test(test_nothing_is_built_at_once),
		cmocka_unit_test(test_a_failure_is_told_and_tried_again),
		cmocka_unit_test(test_waiters_share_one_build),
		cmocka_unit_test(test_waiters_share_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
