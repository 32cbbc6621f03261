/* Tests formats/common/pipeline.c: results come in order, and few exist at a time. */
#include "tests/unittest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "formats/common/pipeline.h"

enum { N = 300 };

struct counting {
	pthread_mutex_t lock;
	uint64_t weight, greatest; /* of results that exist */
	uint32_t taken, dropped;
	uint32_t fails; /* that one; UINT32_MAX = none */
};

struct result {
	uint32_t i, made;
};

static uint64_t weigh(void *context, uint32_t i)
{
	(void)context;
	return i % 50 == 49 ? 1000 : 10;
}

static int make(void *context, uint32_t i, void *result)
{
	struct counting *c = context;
	pthread_mutex_lock(&c->lock);
	c->weight += weigh(c, i);
	c->greatest = c->weight > c->greatest ? c->weight : c->greatest;
	pthread_mutex_unlock(&c->lock);
	sched_yield();
	*(struct result *)result = (struct result){i, 1};
	return i == c->fails ? -EIO : 0;
}

static int take(void *context, uint32_t i, void *result)
{
	struct counting *c = context;
	const struct result *r = result;
	assert_int_equal(i, c->taken);
	assert_int_equal(r->i, i);
	c->taken++;
	pthread_mutex_lock(&c->lock);
	c->weight -= weigh(c, i);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

static void run(struct counting *c, uint64_t most, int expected)
{
	struct pm_pipeline p = {.n = N,
		.size = sizeof(struct result),
		.make = make,
		.take = take,
		.weigh = most ? weigh : NULL,
		.most = most,
		.context = c};
	assert_int_equal(pm_pipeline_run(&p), expected);
}

static void test_results_come_in_order(void **state)
{
	struct counting c = {.lock = PTHREAD_MUTEX_INITIALIZER, .fails = UINT32_MAX};
	run(&c, 0, 0);
	assert_int_equal(c.taken, N);
}

static void test_results_weigh_no_more_than_they_may(void **state)
{
	struct counting c = {.lock = PTHREAD_MUTEX_INITIALIZER, .fails = UINT32_MAX};
	run(&c, 40, 0);
	assert_int_equal(c.taken, N);
	/* One that weighs more by itself is made when it is the next. */
	assert_true(c.greatest <= 1000);
}

static void test_the_first_failure_ends_it(void **state)
{
	struct counting c = {.lock = PTHREAD_MUTEX_INITIALIZER, .fails = 120};
	run(&c, 40, -EIO);
	assert_int_equal(c.taken, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_come_in_order),
		cmocka_unit_test(test_results_weigh_no_more_than_they_may),
		cmocka_unit_test(test_the_first_failure_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
