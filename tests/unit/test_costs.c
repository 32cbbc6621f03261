/* Tests formats/common/costs.c. */
#include "tests/unittest.h"

#include "formats/common/costs.h"

#define N_THREADS  5
#define N_CONTEXTS 40
#define N_METRICS  6

struct one {
	uint32_t thread, context, metric;
	double value;
};

/* Costs of those values, in an arena. */
static struct pm_costs costs_of(struct pm_arena *a, const struct one *ones, size_t n,
	uint32_t n_threads, uint32_t n_contexts)
{
	struct pm_costs c = pm_costs_in(a, n_threads, n_contexts);
	for (size_t i = 0; i < n; i++)
		pm_costs_expect(&c, ones[i].context);
	pm_costs_place(&c);
	for (size_t i = 0; i < n; i++)
		pm_costs_add(&c, ones[i].thread, ones[i].context, ones[i].metric, ones[i].value);
	pm_costs_freeze(&c);
	return c;
}

static void assert_value(const struct pm_value *v, const struct one *one)
{
	assert_int_equal(v->context, one->context + 1);
	assert_int_equal(v->thread, one->thread);
	assert_int_equal(v->metric, one->metric);
	assert_false(v->whole);
	assert_true(v->f == one->value);
}

static const struct one shuffled[] = {
	{1, 2, 7, 1.0},
	{0, 2, 7, 2.0},
	{1, 0, 9, 3.0},
	{1, 2, 3, 4.0},
	{1, 2, 7, 5.0}, /* the same as the first */
	{0, 3, 3, 6.0},
};

static void test_thread_has_its_values_by_context_then_metric(void **state)
{
	static const struct one expected[] = {{1, 0, 9, 3.0}, {1, 2, 3, 4.0}, {1, 2, 7, 6.0}};
	struct pm_arena arena = {NULL};
	struct pm_costs c = costs_of(&arena, shuffled, 6, 3, 4);
	struct pm_value got[8];
	assert_int_equal(c.n, 5);
	assert_int_equal(pm_costs_of_thread(&c, 1, 0, got, 8), 3);
	for (size_t i = 0; i < 3; i++)
		assert_value(&got[i], &expected[i]);
	assert_int_equal(pm_costs_of_thread(&c, 1, 1, got, 1), 1); /* a window */
	assert_value(&got[0], &expected[1]);
	assert_int_equal(pm_costs_of_thread(&c, 1, 3, got, 8), 0);
	assert_int_equal(pm_costs_of_thread(&c, 1, UINT64_MAX, got, 8), 0);
	assert_int_equal(pm_costs_of_thread(&c, 2, 0, got, 8), 0); /* has none */
	assert_int_equal(pm_costs_of_thread(&c, 3, 0, got, 8), 0); /* there is none */
	pm_arena_done(&arena);
}

static void test_context_has_its_values_by_thread_then_metric(void **state)
{
	static const struct one expected[] = {{0, 2, 7, 2.0}, {1, 2, 3, 4.0}, {1, 2, 7, 6.0}};
	struct pm_arena arena = {NULL};
	struct pm_costs c = costs_of(&arena, shuffled, 6, 3, 4);
	struct pm_value got[8];
	assert_int_equal(pm_costs_of_context(&c, 2, 0, got, 8), 3);
	for (size_t i = 0; i < 3; i++)
		assert_value(&got[i], &expected[i]);
	assert_int_equal(pm_costs_of_context(&c, 2, 2, got, 8), 1);
	assert_value(&got[0], &expected[2]);
	assert_int_equal(pm_costs_of_context(&c, 1, 0, got, 8), 0);
	assert_int_equal(pm_costs_of_context(&c, 4, 0, got, 8), 0);
	pm_arena_done(&arena);
}

static void test_no_values_are_no_costs(void **state)
{
	struct pm_arena arena = {NULL};
	struct pm_costs c = costs_of(&arena, NULL, 0, 1, 1);
	struct pm_value got[1];
	assert_int_equal(pm_costs_of_thread(&c, 0, 0, got, 1), 0);
	assert_int_equal(pm_costs_of_context(&c, 0, 0, got, 1), 0);
	costs_of(&arena, NULL, 0, 0, 0);
	pm_arena_done(&arena);
}

/* Against a plain table of sums; values are small integers, so that sums are exact. */
static void test_both_orders_agree_with_a_plain_table(void **state)
{
	static double table[N_THREADS][N_CONTEXTS][N_METRICS];
	static struct one ones[3000];
	struct pm_value got[N_CONTEXTS * N_METRICS];
	uint32_t random = 1, filled = 0;
	for (int i = 0; i < 3000; i++) {
		random = random * 1103515245 + 12345;
		uint32_t r = random >> 8;
		uint32_t t = r % N_THREADS, x = r / 7 % N_CONTEXTS, m = r / 401 % N_METRICS;
		table[t][x][m] += 1 + r % 9;
		ones[i] = (struct one){t, x, m, 1 + r % 9};
	}
	struct pm_arena arena = {NULL};
	struct pm_costs c = costs_of(&arena, ones, 3000, N_THREADS, N_CONTEXTS);
	for (uint32_t t = 0; t < N_THREADS; t++) {
		int64_t n = pm_costs_of_thread(&c, t, 0, got, N_CONTEXTS * N_METRICS);
		for (int64_t i = 0; i < n; i++)
			assert_true(got[i].f == table[t][got[i].context - 1][got[i].metric]);
		filled += (uint32_t)n;
	}
	assert_int_equal(filled, c.n);
	for (uint32_t x = 0; x < N_CONTEXTS; x++) {
		int64_t n = pm_costs_of_context(&c, x, 0, got, N_CONTEXTS * N_METRICS);
		for (int64_t i = 0; i < n; i++)
			assert_true(got[i].f == table[got[i].thread][x][got[i].metric]);
		filled -= (uint32_t)n;
	}
	assert_int_equal(filled, 0);
	pm_arena_done(&arena);
}

/* Few contexts of many, with others' between them, and contexts without costs on all sides. */
static void test_a_thread_may_have_contexts_that_are_far_apart(void **state)
{
	static const uint32_t far[] = {1, 2, 40, 52, 97};
	struct one ones[100];
	struct pm_value got[5];
	size_t n = 0;
	for (uint32_t x = 1; x < 98; x += x % 4 == 2 ? 3 : 1)
		ones[n++] = (struct one){1, x, 0, x};
	for (size_t i = 0; i < 5; i++)
		ones[n++] = (struct one){0, far[i], 0, 1000 + far[i]};
	struct pm_arena arena = {NULL};
	struct pm_costs c = costs_of(&arena, ones, n, 2, 100);
	assert_int_equal(pm_costs_of_thread(&c, 0, 0, got, 5), 5);
	for (size_t i = 0; i < 5; i++)
		assert_value(&got[i], &(struct one){0, far[i], 0, 1000 + far[i]});
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(pm_costs_of_thread(&c, 0, i, got, 1), 1);
		assert_value(&got[0], &(struct one){0, far[i], 0, 1000 + far[i]});
	}
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_has_its_values_by_context_then_metric),
		cmocka_unit_test(test_context_has_its_values_by_thread_then_metric),
		cmocka_unit_test(test_no_values_are_no_costs),
		cmocka_unit_test(test_both_orders_agree_with_a_plain_table),
		cmocka_unit_test(test_a_thread_may_have_contexts_that_are_far_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
