/* formats/common/ahead.c: reading in portions of any size; ends, errors, and stopping early. */
#include "formats/common/ahead.h"

#include "tests/unittest.h"

#include <string.h>

/* Makes the bytes 0, 1, 2 … up to `end`, in steps of odd sizes, some of them empty. */
struct counting {
	size_t at, end, steps;
	enum pm_inflate_state last;
};

static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at ^ at >> 8 ^ at >> 16);
}

static struct pm_ahead_step count(void *self, uint8_t *room, size_t n)
{
	struct counting *c = self;
	size_t most = c->steps++ % 3 * 40009, left = c->end - c->at;
	struct pm_ahead_step step = {.n = n < most ? n : most};
	if (step.n > left)
		step.n = left;
	for (size_t i = 0; i < step.n; i++)
		room[i] = byte_at(c->at++);
	step.in = c->at * 2;
	if (c->at == c->end && step.n == left) {
		step.state = c->last;
		step.why = c->last == PM_INFLATE_BROKEN ? "because" : NULL;
	}
	return step;
}

static void check_taken(size_t end, size_t portion)
{
	static uint8_t room[400000];
	struct counting c = {.end = end, .last = PM_INFLATE_BROKEN};
	struct pm_ahead *a = pm_ahead_new(count, &c);
	struct pm_ahead_step got = {.state = PM_INFLATE_MORE};
	size_t at = 0;
	assert_non_null(a);
	while (got.state == PM_INFLATE_MORE) {
		got = pm_ahead_take(a, room, portion);
		assert_true(got.n == portion || got.state != PM_INFLATE_MORE);
		for (size_t i = 0; i < got.n; i++)
			assert_int_equal(room[i], byte_at(at + i));
		at += got.n;
	}
	assert_int_equal(at, end);
	assert_int_equal(got.in, end * 2);
	assert_string_equal(got.why, "because");
	assert_null(pm_ahead_free(a));
}

static void test_all_bytes_are_taken_in_order_whatever_the_portions(void **state)
{
	static const size_t ends[] = {0, 1, 40009, 120027, 5000000};
	static const size_t portions[] = {77, 4096, 262144, 400000};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		for (size_t k = 0; k < sizeof(portions) / sizeof(*portions); k++)
			check_taken(ends[i], portions[k]);
}

static void test_it_can_be_left_at_any_point(void **state)
{
	uint8_t room[1000];
	for (size_t taken = 0; taken < 20; taken++) {
		struct counting c = {.end = SIZE_MAX, .last = PM_INFLATE_ENDED};
		struct pm_ahead *a = pm_ahead_new(count, &c);
		assert_non_null(a);
		for (size_t i = 0; i < taken * 100; i++)
			assert_int_equal(pm_ahead_take(a, room, sizeof(room)).n, sizeof(room));
		pm_ahead_free(a);
	}
	pm_ahead_free(NULL);
}

static void test_the_maker_waits_where_nobody_takes(void **state)
{
	struct counting c = {.end = 1000000000, .last = PM_INFLATE_ENDED};
	uint8_t room[10];
	struct pm_ahead *a = pm_ahead_new(count, &c);
	assert_non_null(a);
	assert_int_equal(pm_ahead_take(a, room, sizeof(room)).n, sizeof(room));
	pm_ahead_free(a);
	assert_true(c.at < 10000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_bytes_are_taken_in_order_whatever_the_portions),
		cmocka_unit_test(test_it_can_be_left_at_any_point),
		cmocka_unit_test(test_the_maker_waits_where_nobody_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
