/* formats/common/lengths: percentiles and histograms against a sorted list of all calls. */
#include "formats/common/lengths.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/common/buckets.h"
#include "profmount/limits.h"

enum { FUNCTIONS = 7, CALLS = 3000 };

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The smallest length that at least `percent` of the calls do not exceed, as quantile_disc. */
static uint64_t quantile(const uint64_t *sorted, size_t n, unsigned percent)
{
	size_t i = 0;
	while ((i + 1) * 100 < n * percent)
		i++;
	return sorted[i];
}

static void expect_times(const struct pm_call_times *got, uint64_t *lengths, size_t n)
{
	qsort(lengths, n, sizeof(*lengths), by_value);
	assert_true(got->known);
	assert_int_equal(got->p50_ns, quantile(lengths, n, 50));
	assert_int_equal(got->p90_ns, quantile(lengths, n, 90));
	assert_int_equal(got->p99_ns, quantile(lengths, n, 99));
	assert_int_equal(got->max_ns, lengths[n - 1]);
}

/* ---- histograms ---- */

static void test_buckets(void **state)
{
	static const uint64_t starts[] = {0, 1, 2, 2, 3, 4, 6, 8, 12, 16, 23, 32};
	for (uint32_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		assert_int_equal(pm_bucket_start(i), starts[i]);
	for (uint32_t i = 1; i + 1 < PM_BUCKETS; i++) {
		uint64_t start = pm_bucket_start(i), end = pm_bucket_start(i + 1);
		if (start == end)
			continue;
		assert_int_equal(pm_bucket_of(start), i);
		assert_int_equal(pm_bucket_of(end - 1), i);
	}
	assert_int_equal(pm_bucket_of(0), 0);
	assert_int_equal(pm_bucket_of(UINT64_MAX), PM_BUCKETS - 1);
	assert_int_equal(pm_bucket_of(pm_bucket_start(PM_BUCKETS - 1)), PM_BUCKETS - 1);
}

static void expect_histogram(const struct pm_call_times *got, const uint64_t *lengths, size_t n)
{
	const struct pm_call_bucket *buckets = got->buckets;
	for (uint32_t i = 0; i < got->n_buckets; i++) {
		unsigned __int128 ns = buckets[i].ns;
		uint64_t calls = buckets[i].calls;
		assert_true(calls > 0 && (i == 0 || buckets[i].index > buckets[i - 1].index));
		for (size_t k = 0; k < n; k++) {
			if (pm_bucket_of(lengths[k]) != buckets[i].index)
				continue;
			ns -= lengths[k];
			calls--;
		}
		assert_true(ns == 0);
		assert_int_equal(calls, 0);
	}
	for (size_t k = 0; k < n; k++) {
		uint32_t i = 0;
		while (i < got->n_buckets && buckets[i].index != pm_bucket_of(lengths[k]))
			i++;
		assert_true(i < got->n_buckets);
	}
}

static void test_histograms(void **state)
{
	static uint64_t lengths[CALLS];
	struct pm_arena arena = {.block = NULL};
	uint64_t random = 7;
	for (size_t n = 1; n <= CALLS; n = n * 2 + 1) {
		struct pm_lengths l = {.n = 0};
		struct pm_call_times times;
		for (size_t i = 0; i < n; i++) {
			unsigned bits = (unsigned)next(&random) % 63;
			lengths[i] = (next(&random) << 32 | next(&random)) >> bits;
			assert_int_equal(pm_lengths_add(&l, 0, lengths[i], 1), 0);
		}
		assert_int_equal(pm_lengths_histogram(&l, &arena, &times), 0);
		expect_times(&times, lengths, n);
		expect_histogram(&times, lengths, n);
		pm_lengths_done(&l);
	}
	pm_arena_done(&arena);
}

/* No calls, calls of unknown length, and more of one length than 64 bits of time can hold. */
static void test_histograms_of_unusual_calls(void **state)
{
	const uint64_t longest = (uint64_t)1 << 62;
	struct pm_arena arena = {.block = NULL};
	struct pm_lengths none = {.n = 0}, unknown = {.n = 0}, l = {.n = 0};
	struct pm_call_times times;
	assert_int_equal(pm_lengths_histogram(&none, &arena, &times), 0);
	assert_false(times.known || times.n_buckets);
	assert_int_equal(pm_lengths_add(&unknown, 0, 5, 1), 0);
	assert_int_equal(pm_lengths_add(&unknown, 0, PM_NO_TIME, 1), 0);
	assert_int_equal(pm_lengths_histogram(&unknown, &arena, &times), 0);
	assert_false(times.known || times.n_buckets);
	assert_int_equal(pm_lengths_add(&l, 0, longest, UINT32_MAX), 0);
	assert_int_equal(pm_lengths_add(&l, 0, longest, 5), 0);
	assert_int_equal(pm_lengths_histogram(&l, &arena, &times), 0);
	assert_int_equal(times.n_buckets, 1);
	assert_int_equal(times.buckets[0].calls, (uint64_t)UINT32_MAX + 5);
	assert_true(times.buckets[0].ns == (unsigned __int128)longest * times.buckets[0].calls);
	pm_lengths_done(&unknown);
	pm_lengths_done(&l);
	pm_arena_done(&arena);
}

/* ---- percentiles ---- */

/* Few calls and many, of few lengths and of many; two halves are joined under other numbers. */
static void test_percentiles_are_those_of_a_sorted_list(void **state)
{
	static const uint32_t other[FUNCTIONS] = {3, 0, 6, 1, 5, 2, 4};
	static uint64_t lengths[FUNCTIONS][CALLS];
	size_t n[FUNCTIONS] = {0};
	struct pm_lengths l = {.n = 0}, more = {.n = 0};
	struct pm_call_times times[FUNCTIONS + 1];
	struct pm_timed timed[CALLS];
	uint64_t random = 20;
	for (size_t i = 0; i < CALLS; i++) {
		uint32_t of = (uint32_t)(next(&random) % FUNCTIONS);
		of = of * (uint32_t)(next(&random) % 7) / 6;
		uint64_t length = next(&random) % (of % 2 ? 10 : UINT64_MAX) << of * 4;
		lengths[of][n[of]++] = length;
		timed[i] = (struct pm_timed){length, i % 2 ? other[of] : of};
		if (i % 2)
			assert_int_equal(pm_lengths_add(&more, other[of], length, 1), 0);
		else
			assert_int_equal(pm_lengths_add_all(&l, &timed[i], 1), 0);
	}
	uint32_t back[FUNCTIONS];
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		back[other[i]] = i;
	assert_int_equal(pm_lengths_join(&l, &more, back), 0);
	assert_int_equal(pm_lengths_times(&l, times, FUNCTIONS + 1), 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		expect_times(&times[i], lengths[i], n[i]);
	assert_false(times[FUNCTIONS].known);
	pm_lengths_done(&l);
	pm_lengths_done(&more);
}

static void test_a_few_calls(void **state)
{
	for (uint64_t n = 1; n <= 210; n++) {
		static uint64_t lengths[210];
		struct pm_lengths l = {.n = 0};
		struct pm_timed timed[210];
		struct pm_call_times times;
		for (uint64_t i = 0; i < n; i++)
			timed[i].length = lengths[i] = (i * 37 + 5) % n, timed[i].of = 0;
		assert_int_equal(pm_lengths_add_all(&l, timed, n), 0);
		assert_int_equal(pm_lengths_times(&l, &times, 1), 0);
		expect_times(&times, lengths, n);
		pm_lengths_done(&l);
	}
}

static void test_more_calls_of_a_length_than_32_bits_count(void **state)
{
	const uint64_t many = (uint64_t)3 << 32;
	struct pm_lengths l = {.n = 0}, to = {.n = 0};
	struct pm_call_times times;
	assert_int_equal(pm_lengths_add(&l, 0, 5, many), 0);
	assert_int_equal(pm_lengths_add(&l, 0, 7, many - 1), 0);
	assert_int_equal(pm_lengths_add(&l, 0, 5, 3), 0);
	assert_int_equal(pm_lengths_add(&l, 0, 7, 4), 0); /* 7: one call more than 5 */
	assert_int_equal(pm_lengths_join(&to, &l, NULL), 0);
	assert_int_equal(pm_lengths_times(&to, &times, 1), 0);
	assert_int_equal(times.p50_ns, 5);
	assert_int_equal(times.p90_ns, 7);
	assert_int_equal(pm_lengths_add(&l, 0, 7, 1), 0);
	assert_int_equal(pm_lengths_times(&l, &times, 1), 0);
	assert_int_equal(times.p50_ns, 7);
	pm_lengths_done(&l);
	pm_lengths_done(&to);
}

/* Wherever the two items of a length are: one may be at the end of the table, the other in front.
 */
static void test_lengths_of_two_items_are_kept_when_the_table_grows(void **state)
{
	enum { TABLES = 100, LENGTHS = 300 };
	const uint64_t each = (uint64_t)UINT32_MAX + 1;
	for (uint32_t k = 0; k < TABLES; k++) {
		struct pm_lengths l = {.n = 0};
		uint64_t calls = 0;
		size_t n = 0;
		for (uint64_t i = 0; i < LENGTHS; i++)
			assert_int_equal(pm_lengths_add(&l, k, i, each), 0);
		for (size_t i = 0; i < l.room; i++) {
			calls += l.items[i].calls;
			n += l.items[i].calls > 0;
		}
		assert_int_equal(n, 2 * LENGTHS);
		assert_int_equal(l.n, n);
		assert_int_equal(calls, LENGTHS * each);
		pm_lengths_done(&l);
	}
}

/* A call of unknown length could be anywhere among the others. */
static void test_unknown_length_makes_its_function_unknown(void **state)
{
	struct pm_lengths l = {.n = 0};
	struct pm_call_times times[2];
	assert_int_equal(pm_lengths_add(&l, 0, 5, 9), 0);
	assert_int_equal(pm_lengths_add(&l, 0, PM_NO_TIME, 1), 0);
	assert_int_equal(pm_lengths_add(&l, 1, 5, 9), 0);
	assert_int_equal(pm_lengths_times(&l, times, 2), 0);
	assert_false(times[0].known);
	assert_true(times[1].known);
	pm_lengths_done(&l);
}

/* Nothing is known where not everything is, whoever counted too much. */
static void test_too_many_lengths(void **state)
{
	struct pm_lengths l = {.n = 0}, more = {.n = 0};
	struct pm_call_times times[2];
	for (uint64_t i = 0; i < PM_LIMIT_LENGTHS; i++)
		assert_int_equal(pm_lengths_add(&l, 1, i, 1), 0);
	assert_false(l.full);
	assert_int_equal(pm_lengths_add(&more, 1, 5, 3), 0);
	assert_int_equal(pm_lengths_join(&l, &more, NULL), 0);
	assert_false(l.full);
	assert_int_equal(l.room, 2 * PM_LIMIT_LENGTHS); /* it does not grow to be dropped */
	assert_int_equal(pm_lengths_times(&l, times, 2), 0);
	assert_true(times[1].known);
	assert_int_equal(times[1].max_ns, PM_LIMIT_LENGTHS - 1);
	assert_int_equal(pm_lengths_add(&more, 0, 5, 1), 0);
	assert_int_equal(pm_lengths_join(&l, &more, NULL), 0);
	assert_int_equal(pm_lengths_times(&l, times, 2), 0);
	assert_false(times[0].known || times[1].known);
	more.full = true;
	assert_int_equal(pm_lengths_join(&l, &more, NULL), 0);
	assert_true(l.full && !l.items && !l.joined);
	assert_int_equal(pm_lengths_times(&l, times, 2), 0);
	assert_false(times[0].known || times[1].known);
	pm_lengths_done(&l);
	pm_lengths_done(&more);
}

/* Tables that share their lengths are not too many together, however many there are. */
static void test_joined_tables_that_share_lengths(void **state)
{
	struct pm_lengths l = {.n = 0}, to = {.n = 0}, more = {.n = 0};
	struct pm_call_times times[1];
	for (uint64_t i = 0; i < PM_LIMIT_LENGTHS; i++)
		assert_int_equal(pm_lengths_add(&l, 0, i, 1), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pm_lengths_join(&to, &l, NULL), 0);
		assert_true(to.n_joined <= 2 * PM_LIMIT_LENGTHS);
	}
	assert_int_equal(pm_lengths_times(&to, times, 1), 0);
	assert_true(times[0].known);
	assert_int_equal(times[0].p50_ns, PM_LIMIT_LENGTHS / 2 - 1);
	assert_int_equal(times[0].max_ns, PM_LIMIT_LENGTHS - 1);
	for (uint64_t i = 0; i < PM_LIMIT_LENGTHS; i++)
		assert_int_equal(pm_lengths_add(&more, 0, i + 1, 1), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pm_lengths_join(&to, &more, NULL), 0);
	assert_true(to.full && !to.joined);
	pm_lengths_done(&l);
	pm_lengths_done(&to);
	pm_lengths_done(&more);
}

/* What one thread cannot count makes the tables of the others useless: they are freed. */
static void test_one_full_table_frees_those_it_is_joined_with(void **state)
{
	bool any_full = false;
	struct pm_lengths l = {.any_full = &any_full}, other = {.any_full = &any_full};
	struct pm_lengths third = {.any_full = &any_full};
	const struct pm_timed call = {.length = 6};
	assert_int_equal(pm_lengths_add(&other, 0, 5, 1), 0);
	assert_int_equal(pm_lengths_add(&third, 0, 5, 1), 0);
	for (uint64_t i = 0; i < PM_LIMIT_LENGTHS; i++)
		assert_int_equal(pm_lengths_add(&l, 1, i, 1), 0);
	assert_false(any_full);
	assert_int_equal(pm_lengths_add(&l, 0, 5, 1), 0);
	assert_true(any_full && l.full && !l.items);
	assert_int_equal(pm_lengths_add(&other, 0, 6, 1), 0);
	assert_true(other.full && !other.items);
	assert_int_equal(pm_lengths_add_all(&third, &call, 1), 0);
	assert_true(third.full && !third.items);
	pm_lengths_done(&l);
	pm_lengths_done(&other);
	pm_lengths_done(&third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_histograms),
		cmocka_unit_test(test_histograms_of_unusual_calls),
		cmocka_unit_test(test_percentiles_are_those_of_a_sorted_list),
		cmocka_unit_test(test_a_few_calls),
		cmocka_unit_test(test_more_calls_of_a_length_than_32_bits_count),
		cmocka_unit_test(test_lengths_of_two_items_are_kept_when_the_table_grows),
		cmocka_unit_test(test_unknown_length_makes_its_function_unknown),
		cmocka_unit_test(test_too_many_lengths),
		cmocka_unit_test(test_joined_tables_that_share_lengths),
		cmocka_unit_test(test_one_full_table_frees_those_it_is_joined_with),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
