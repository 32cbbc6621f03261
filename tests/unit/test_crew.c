/* Tests formats/common/crew.c, thread.c and pipeline.c. */
#include "tests/unittest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "formats/common/crew.h"
#include "formats/common/pipeline.h"

enum { MANY = 1000 };

struct tally {
	unsigned done[MANY];
	size_t fails_at;
	struct pm_work *work;
	bool lost, signalled; /* a piece ran for another work; helpers receive SIGTERM */
	pthread_t caller;
};

static int count_piece(void *context, size_t i)
{
	struct tally *t = context;
	sigset_t masked;
	pthread_sigmask(SIG_SETMASK, NULL, &masked);
	if (pm_work_current() != t->work)
		t->lost = true;
	if (!pthread_equal(pthread_self(), t->caller) && !sigismember(&masked, SIGTERM))
		t->signalled = true;
	__atomic_fetch_add(&t->done[i], 1, __ATOMIC_RELAXED);
	return i == t->fails_at ? -EIO : 0;
}

static struct tally tally_of(struct pm_work *work)
{
	struct tally t = {.fails_at = MANY, .work = work, .caller = pthread_self()};
	return t;
}

static void test_each_piece_once(void **state)
{
	struct pm_work work = {.at_once = false};
	struct tally t = tally_of(&work);
	pm_work_enter(&work);
	assert_int_equal(pm_crew_each(MANY, count_piece, &t), 0);
	pm_work_enter(NULL);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(t.done[i], 1);
	assert_false(t.lost);
	assert_false(t.signalled);
	assert_int_equal(pm_crew_each(0, count_piece, &t), 0);
}

static void test_first_error_ends_it(void **state)
{
	struct tally t = tally_of(NULL);
	t.fails_at = 3;
	assert_int_equal(pm_crew_each(MANY, count_piece, &t), -EIO);
	assert_int_equal(t.done[3], 1);
}

static void test_cancelled_work_ends(void **state)
{
	struct pm_work work = {.cancelled = true};
	struct tally t = tally_of(&work);
	pm_work_enter(&work);
	assert_int_equal(pm_crew_each(MANY, count_piece, &t), -ENOMEM);
	pm_work_enter(NULL);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(t.done[i], 0);
}

static int make_square(void *context, uint32_t i, void *result)
{
	(void)context;
	*(uint64_t *)result = (uint64_t)i * i;
	return 0;
}

struct taken {
	uint32_t n;
	uint32_t fails_at;
};

static int take_square(void *context, uint32_t i, void *result)
{
	struct taken *t = context;
	assert_int_equal(i, t->n);
	assert_int_equal(*(uint64_t *)result, (uint64_t)i * i);
	t->n++;
	return i == t->fails_at ? -EIO : 0;
}

static void test_pipeline_takes_in_order(void **state)
{
	struct taken t = {.fails_at = UINT32_MAX};
	struct pm_pipeline p = {.n = MANY,
		.size = sizeof(uint64_t),
		.make = make_square,
		.take = take_square,
		.context = &t};
	assert_int_equal(pm_pipeline_run(&p), 0);
	assert_int_equal(t.n, MANY);
	t = (struct taken){.fails_at = 7};
	assert_int_equal(pm_pipeline_run(&p), -EIO);
	assert_int_equal(t.n, 8);
}

static void build_square(struct pm_arena *a, void *context, uint32_t i, void *result)
{
	const struct taken *t = context;
	uint64_t *factors = pm_arena_array(a, 2, sizeof(*factors));
	factors[0] = factors[1] = i;
	if (i == t->fails_at)
		pm_build_fail(a, -EINVAL);
	*(uint64_t *)result = factors[0] * factors[1];
}

static void test_results_of_a_pipeline_are_builds(void **state)
{
	struct taken t = {.fails_at = UINT32_MAX};
	struct pm_pipeline p = {.n = MANY,
		.size = sizeof(uint64_t),
		.build = build_square,
		.take = take_square,
		.context = &t};
	assert_int_equal(pm_pipeline_run(&p), 0);
	assert_int_equal(t.n, MANY);
	t = (struct taken){.fails_at = 7};
	assert_int_equal(pm_pipeline_run(&p), -EINVAL);
	assert_int_equal(t.n, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_piece_once),
		cmocka_unit_test(test_first_error_ends_it),
		cmocka_unit_test(test_cancelled_work_ends),
		cmocka_unit_test(test_pipeline_takes_in_order),
		cmocka_unit_test(test_results_of_a_pipeline_are_builds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
