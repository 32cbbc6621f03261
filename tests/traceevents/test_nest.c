/* formats/traceevents/nest: order, lanes, and calls of begins and ends. */
#include "formats/traceevents/traceevents.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "profmount/limits.h"

/* Calls are named by the letters of the alphabet, in the order of the file; `-`: no parent. */
static void put_place(void *context, uint32_t call, uint32_t parent, uint32_t lane)
{
	struct pm_text *out = context;
	char name = parent == PM_NONE ? '-' : (char)('a' + parent);
	if (lane == TEV_NO_LANE)
		pm_text_printf(out, "%c! ", (char)('a' + call));
	else
		pm_text_printf(out, "%c%c%u ", (char)('a' + call), name, lane);
}

static void check_calls(struct tev_calls *calls, int64_t tolerance, const char *want)
{
	struct pm_text out = {NULL};
	uint32_t *order = calloc(calls->n + 1, sizeof(*order));
	assert_non_null(order);
	for (uint32_t i = 0; i < calls->n; i++)
		order[i] = i;
	tev_sort(calls, order, calls->n);
	tev_nest(calls, order, calls->n, tolerance, put_place, &out);
	pm_text_char(&out, '\0');
	assert_string_equal(out.p, want);
	pm_text_done(&out);
	free(order);
	pm_arena_done(calls->arena);
}

/* Calls of one event each: start and duration. */
static void check(const int64_t (*spans)[2], size_t n, int64_t tolerance, const char *want)
{
	struct pm_arena arena = {NULL};
	struct tev_calls calls = tev_calls_in(&arena);
	for (uint32_t i = 0; i < n; i++)
		tev_calls_add(&calls, &(struct tev_call){.ts = spans[i][0], .seq = i}, spans[i][1],
			PM_NONE);
	check_calls(&calls, tolerance, want);
}

#define CHECK(tolerance, want, ...)                                                                \
	do {                                                                                       \
		static const int64_t spans[][2] = {__VA_ARGS__};                                   \
		check(spans, sizeof(spans) / sizeof(*spans), tolerance, want);                     \
	} while (0)

static void test_calls_nest_by_time_in_any_order(void **state)
{
	CHECK(0, "b-0 ab0 cb0 ", {1, 2}, {0, 10}, {5, 5});
}

static void test_longer_ones_come_first_then_the_order_of_the_file(void **state)
{
	CHECK(0, "b-0 ab0 ca0 ", {3, 4}, {3, 5}, {3, 4});
}

static void test_what_overlaps_is_on_a_lane_of_its_own(void **state)
{
	CHECK(0, "a-0 b-1 ca0 d-0 e-2 fd0 g-0 ", {0, 10}, {5, 10}, {6, 2}, {12, 20}, {13, 30},
		{13, 1}, {50, 5});
}

static void test_a_call_may_end_a_bit_after_its_parent(void **state)
{
	CHECK(0, "a-0 b-1 ", {0, 10}, {5, 6});
	CHECK(1, "a-0 ba0 c-0 ", {0, 10}, {5, 6}, {10, 3});
	CHECK(1, "a-0 b-1 ", {0, 10}, {5, 7});
	/* It counts as ended with its parent, for what is in it, too. */
	CHECK(1, "a-0 ba0 c-1 ", {0, 10}, {5, 6}, {6, 6});
}

static void test_a_call_may_begin_a_bit_before_the_end_of_the_last(void **state)
{
	CHECK(0, "a-0 b-1 ", {0, 10}, {9, 10});
	CHECK(1, "a-0 b-0 ", {0, 10}, {9, 10});
	CHECK(1, "a-0 ba0 ca0 ", {0, 30}, {5, 6}, {10, 10}); /* both are in the one around them */
	CHECK(1, "a-0 ba0 c-0 ", {0, 10}, {5, 5}, {9, 10});
	CHECK(1, "a-0 b-1 ", {0, 10}, {8, 10});
	CHECK(1, "a-0 ba0 ", {0, 10}, {9, 1}); /* that one contains it */
}

static void test_calls_without_a_length(void **state)
{
	CHECK(0, "a-0 b-0 cb0 ", {0, 10}, {10, 0}, {10, 0}); /* behind the first, twins nest */
	CHECK(0, "a-0 ba0 ", {0, 10}, {0, 0});
}

static void test_long_calls_and_much_below_them(void **state)
{
	struct pm_arena arena = {NULL};
	struct tev_calls calls = tev_calls_in(&arena);
	for (uint32_t i = 0; i < 3; i++)
		tev_calls_add(
			&calls, &(struct tev_call){.seq = i}, i == 0 ? 5000000000 : 7, PM_NONE);
	assert_int_equal(tev_call_dur(&calls, 0), 5000000000);
	tev_call_add_below(&calls, 0, 4999999999);
	assert_int_equal(tev_call_below(&calls, 0), 4999999999);
	tev_call_add_below(&calls, 1, UINT32_MAX);
	tev_call_add_below(&calls, 1, 2);
	assert_int_equal(tev_call_below(&calls, 1), (int64_t)UINT32_MAX + 2);
	assert_int_equal(tev_call_dur(&calls, 1), 7);
	assert_int_equal(tev_call_below(&calls, 2), 0);
	pm_arena_done(&arena);
}

static void test_more_overlapping_calls_than_lanes_are_told(void **state)
{
	struct pm_arena arena = {NULL};
	struct tev_calls calls = tev_calls_in(&arena);
	uint32_t *order = calloc(PM_LIMIT_LANES + 2, sizeof(*order));
	struct pm_text out = {NULL};
	assert_non_null(order);
	for (uint32_t i = 0; i < PM_LIMIT_LANES + 2; i++) {
		tev_calls_add(&calls, &(struct tev_call){.ts = i, .seq = i}, 1000000, PM_NONE);
		order[i] = i;
	}
	tev_nest(&calls, order, PM_LIMIT_LANES + 2, 0, put_place, &out);
	size_t n_left_out = 0;
	for (size_t i = 0; i < out.len; i++)
		n_left_out += out.p[i] == '!' && out.p[i - 1] != ' ';
	assert_true(n_left_out >= 2);
	pm_text_done(&out);
	pm_arena_done(&arena);
	free(order);
}

/* Marks as text: `A0` begins A at 0, `a5` ends it at 5, `.7` ends what is open. */
static void check_marks(
	const char *text, int64_t last, const char *want, uint64_t n_unbegun, uint64_t n_unended)
{
	struct tev_mark marks[64];
	struct pm_arena arena = {NULL};
	struct tev_calls calls = tev_calls_in(&arena);
	struct tev_paired paired = {0};
	struct pm_text out = {NULL};
	size_t n = 0;
	for (char *at = (char *)(uintptr_t)text; *at; n++) {
		char c = *at++;
		marks[n] = (struct tev_mark){.ends = c == '.' || c >= 'a',
			.name = c == '.' ? PM_NONE : (uint32_t)(c | 0x20),
			.function = (uint32_t)(c | 0x20),
			.seq = (uint32_t)n + 1,
			.ts = strtoll(at, &at, 10)};
		at += *at == ' ';
	}
	tev_pair(marks, n, last, &calls, &paired);
	for (uint32_t i = 0; i < calls.n; i++)
		pm_text_printf(&out, "%c%lld+%lld ", (char)calls.items[i].function,
			(long long)calls.items[i].ts, (long long)tev_call_dur(&calls, i));
	pm_text_char(&out, '\0');
	assert_string_equal(out.p, want);
	assert_int_equal(paired.n_unbegun, n_unbegun);
	assert_int_equal(paired.n_unended, n_unended);
	pm_text_done(&out);
	pm_arena_done(&arena);
}

static void test_ends_close_the_innermost_begin_of_their_name(void **state)
{
	check_marks("A0 B2 a8 b10", 10, "a0+8 b2+8 ", 0, 0);
	check_marks("A0 A2 a3 a6", 6, "a2+1 a0+6 ", 0, 0);
	check_marks("A0 B1 .2 .3", 3, "b1+1 a0+3 ", 0, 0);
	check_marks("a3 A0", 3, "a0+3 ", 0, 0); /* by time */
}

static void test_ends_wait_for_begins_of_the_same_time(void **state)
{
	check_marks("q9 Q9", 9, "q9+0 ", 0, 0);
	check_marks("q9 Q10", 12, "q10+2 ", 1, 1);
}

static void test_begins_without_end_last_to_the_last_event(void **state)
{
	check_marks("A0 B5", 7, "b5+2 a0+7 ", 0, 2);
	check_marks("z1", 7, "", 1, 0);
}

/* What was begun and ended keeps the order of its events, whatever its length. */
static void test_begins_at_one_time_nest_in_their_order(void **state)
{
	struct tev_mark marks[] = {{.ts = 7, .name = 1, .seq = 1}, {.ts = 7, .name = 2, .seq = 2},
		{.ts = 7, .name = 2, .seq = 3, .ends = true}, {.ts = 7, .name = 3, .seq = 4},
		{.ts = 9, .name = 3, .seq = 5, .ends = true},
		{.ts = 9, .name = 1, .seq = 6, .ends = true}};
	struct pm_arena arena = {NULL};
	struct tev_calls calls = tev_calls_in(&arena);
	struct tev_paired paired = {0};
	tev_pair(marks, 6, 9, &calls, &paired);
	/* In the order of their ends: a = 2, b = 3, c = 1. */
	check_calls(&calls, 0, "c-0 ac0 bc0 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_nest_by_time_in_any_order),
		cmocka_unit_test(test_longer_ones_come_first_then_the_order_of_the_file),
		cmocka_unit_test(test_what_overlaps_is_on_a_lane_of_its_own),
		cmocka_unit_test(test_a_call_may_end_a_bit_after_its_parent),
		cmocka_unit_test(test_a_call_may_begin_a_bit_before_the_end_of_the_last),
		cmocka_unit_test(test_calls_without_a_length),
		cmocka_unit_test(test_long_calls_and_much_below_them),
		cmocka_unit_test(test_more_overlapping_calls_than_lanes_are_told),
		cmocka_unit_test(test_ends_close_the_innermost_begin_of_their_name),
		cmocka_unit_test(test_ends_wait_for_begins_of_the_same_time),
		cmocka_unit_test(test_begins_without_end_last_to_the_last_event),
		cmocka_unit_test(test_begins_at_one_time_nest_in_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
