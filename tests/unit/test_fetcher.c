/* formats/common/fetcher.c: whatever the pace of the pass, and wherever it ends. */
#include "tests/unittest.h"

#include <stdlib.h>
#include <unistd.h>

#include "formats/common/fetcher.h"

enum { SIZE = (9 << 20) + 5, STEP = 100000 };

static struct pm_bytes bytes_new(void)
{
	uint8_t *p = malloc(SIZE);
	assert_non_null(p);
	for (size_t i = 0; i < SIZE; i++)
		p[i] = (uint8_t)(i * 7 % 251);
	return (struct pm_bytes){p, SIZE};
}

static struct pm_watch watch_new(void)
{
	const struct pm_stamp was = {.size = SIZE};
	struct pm_watch w;
	assert_int_equal(pm_watch_init(&w, &was, true), 0);
	return w;
}

/* A pass up to `end`, which sleeps now and then. */
static void pass(struct pm_bytes bytes, uint64_t end, unsigned pause_us)
{
	struct pm_watch watch = watch_new();
	struct pm_fetcher f;
	pm_fetcher_start(&f, &watch, bytes);
	for (uint64_t at = 0; at + STEP <= end; at += STEP) {
		pm_fetcher_pass(&f, at + STEP);
		assert_true(pm_watch_use(&watch, bytes, at, STEP));
		if (pause_us && at % (20 * STEP) == 0)
			usleep(pause_us);
	}
	pm_fetcher_end(&f);
	assert_false(pm_watch_spoilt(&watch));
	pm_watch_done(&watch);
}

static void test_a_pass_may_be_slow_or_fast_and_end_anywhere(void **state)
{
	struct pm_bytes bytes = bytes_new();
	for (uint64_t end = 0; end <= SIZE; end += SIZE / 5) {
		pass(bytes, end, 0);
		pass(bytes, end, 1000);
	}
	free((void *)(uintptr_t)bytes.p);
}

static void test_what_was_fetched_is_used(void **state)
{
	struct pm_bytes bytes = bytes_new();
	struct pm_watch watch = watch_new();
	struct pm_fetcher f;
	pm_fetcher_start(&f, &watch, bytes);
	pm_fetcher_pass(&f, SIZE);
	pm_fetcher_end(&f);
	assert_true(pm_watch_use(&watch, bytes, 0, SIZE));
	assert_false(pm_watch_spoilt(&watch));
	pm_watch_done(&watch);
	free((void *)(uintptr_t)bytes.p);
}

static void test_a_cancelled_helper_ends(void **state)
{
	struct pm_bytes bytes = bytes_new();
	struct pm_watch watch = watch_new();
	struct pm_work work = {.done = 0}, *before = pm_work_enter(&work);
	struct pm_fetcher f;
	pm_work_cancel(&work);
	pm_fetcher_start(&f, &watch, bytes);
	pm_fetcher_end(&f);
	pm_work_enter(before);
	assert_false(pm_watch_spoilt(&watch));
	pm_watch_done(&watch);
	free((void *)(uintptr_t)bytes.p);
}

static void test_none_is_started_without_a_watch(void **state)
{
	struct pm_fetcher f;
	pm_fetcher_start(&f, NULL, (struct pm_bytes){NULL, 0});
	pm_fetcher_pass(&f, 5);
	pm_fetcher_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pass_may_be_slow_or_fast_and_end_anywhere),
		cmocka_unit_test(test_what_was_fetched_is_used),
		cmocka_unit_test(test_a_cancelled_helper_ends),
		cmocka_unit_test(test_none_is_started_without_a_watch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
