/* formats/common/percentiles: against a sorted list of all calls. And buckets. */
#include "formats/common/percentiles.h"

#include "tests/unittest.h"

#include <errno.h>
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

/* The smallest duration that at least `percent` of the calls do not exceed, as quantile_disc. */
static uint64_t quantile(const uint64_t *sorted, size_t n, unsigned percent)
{
	size_t i = 0;
	while ((i + 1) * 100 < n * percent)
		i++;
	return sorted[i];
}

static void expect_times(const struct pm_call_times *got, uint64_t *durations, size_t n)
{
	qsort(durations, n, sizeof(*durations), by_value);
	assert_true(got->known);
	assert_int_equal(got->p50_ns, quantile(durations, n, 50));
	assert_int_equal(got->p90_ns, quantile(durations, n, 90));
	assert_int_equal(got->p95_ns, quantile(durations, n, 95));
	assert_int_equal(got->p99_ns, quantile(durations, n, 99));
	assert_int_equal(got->max_ns, durations[n - 1]);
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

/* ---- percentiles ---- */

/* Few calls and many, of few durations and of many; two halves are joined under other numbers. */
static void test_percentiles_are_those_of_a_sorted_list(void **state)
{
	static const uint32_t other[FUNCTIONS] = {3, 0, 6, 1, 5, 2, 4};
	static uint64_t durations[FUNCTIONS][CALLS];
	size_t n[FUNCTIONS] = {0};
	struct pm_durations l = {.n = 0}, more = {.n = 0};
	struct pm_call_times times[FUNCTIONS + 1];
	struct pm_duration timed[CALLS];
	uint64_t random = 20;
	for (size_t i = 0; i < CALLS; i++) {
		uint32_t of = (uint32_t)(next(&random) % FUNCTIONS);
		of = of * (uint32_t)(next(&random) % 7) / 6;
		uint64_t duration = next(&random) % (of % 2 ? 10 : UINT64_MAX) << of * 4;
		durations[of][n[of]++] = duration;
		timed[i] = (struct pm_duration){duration, i % 2 ? other[of] : of};
		if (i % 2)
			assert_int_equal(pm_durations_add(&more, other[of], duration, 1), 0);
		else
			assert_int_equal(pm_durations_add_all(&l, &timed[i], 1), 0);
	}
	uint32_t back[FUNCTIONS];
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		back[other[i]] = i;
	assert_int_equal(pm_durations_join(&l, &more, back), 0);
	assert_int_equal(pm_percentiles(&l, times, FUNCTIONS + 1, NULL, NULL), 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		expect_times(&times[i], durations[i], n[i]);
	assert_false(times[FUNCTIONS].known);
	pm_durations_done(&l);
	pm_durations_done(&more);
}

/* With counters for brief calls, for all that want one or not; in one table, or both. */
static void test_whole_ticks_are_counted_as_others(void **state)
{
	enum { BITS = 4 };
	static const uint32_t other[FUNCTIONS] = {3, 0, 6, 1, 5, 2, 4};
	static const size_t most[] = {CALLS, 1 << 20};
	for (size_t k = 0; k < 4; k++) {
		static uint64_t durations[FUNCTIONS][CALLS];
		size_t n[FUNCTIONS] = {0};
		struct pm_durations l = {.most = most[k / 2], .tick_bits = k % 2 ? BITS : 0};
		struct pm_durations more = {.most = most[k / 2], .tick_bits = BITS};
		struct pm_call_times times[FUNCTIONS];
		uint64_t random = k;
		uint32_t back[FUNCTIONS];
		for (size_t i = 0; i < CALLS; i++) {
			uint32_t of = (uint32_t)(next(&random) % FUNCTIONS);
			uint64_t ticks = next(&random) % (10u << of * 2);
			struct pm_duration call = {ticks << BITS, i % 2 ? other[of] : of};
			durations[of][n[of]++] = call.ns;
			assert_int_equal(pm_durations_add_all(i % 2 ? &more : &l, &call, 1), 0);
		}
		assert_true(more.n_ticks > 1000 && more.n_ticks <= 2 * more.most);
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			back[other[i]] = i;
		assert_int_equal(pm_durations_join(&l, &more, back), 0);
		assert_int_equal(pm_percentiles(&l, times, FUNCTIONS, NULL, NULL), 0);
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			expect_times(&times[i], durations[i], n[i]);
		pm_durations_done(&l);
		pm_durations_done(&more);
	}
}

/* As many calls of one tick as of two, and one less. */
static void test_more_calls_than_a_counter_has(void **state)
{
	for (uint64_t k = 0; k < 2; k++) {
		struct pm_durations l = {.tick_bits = 4}, to = {.tick_bits = 4};
		const struct pm_duration calls[] = {{16, 0}, {16, 0}, {16, 0}};
		struct pm_call_times times;
		assert_int_equal(pm_durations_add_all(&l, calls, 1), 0);
		assert_int_equal(pm_durations_add_all(&to, calls, 1), 0);
		l.ticks[l.brief[0].first + 1] = UINT32_MAX - 1;
		to.ticks[to.brief[0].first + 1] = UINT32_MAX - 1;
		assert_int_equal(pm_durations_add_all(&l, calls, 3), 0);
		uint64_t of_a_tick = 2 * (uint64_t)UINT32_MAX + 3;
		assert_int_equal(pm_durations_add(&l, 0, 32, of_a_tick + k), 0);
		assert_int_equal(pm_durations_join(&to, &l, NULL), 0);
		assert_int_equal(pm_percentiles(&to, &times, 1, NULL, NULL), 0);
		assert_int_equal(times.p50_ns, k ? 32 : 16);
		pm_durations_done(&l);
		pm_durations_done(&to);
	}
}

static void test_a_few_calls(void **state)
{
	for (uint64_t n = 1; n <= 210; n++) {
		static uint64_t durations[210];
		struct pm_durations l = {.n = 0};
		struct pm_duration timed[210];
		struct pm_call_times times;
		for (uint64_t i = 0; i < n; i++)
			timed[i].ns = durations[i] = (i * 37 + 5) % n, timed[i].of = 0;
		assert_int_equal(pm_durations_add_all(&l, timed, n), 0);
		assert_int_equal(pm_percentiles(&l, &times, 1, NULL, NULL), 0);
		expect_times(&times, durations, n);
		pm_durations_done(&l);
	}
}

static void test_more_calls_of_a_duration_than_32_bits_count(void **state)
{
	const uint64_t many = (uint64_t)3 << 32;
	struct pm_durations l = {.n = 0}, to = {.n = 0};
	struct pm_call_times times;
	assert_int_equal(pm_durations_add(&l, 0, 5, many), 0);
	assert_int_equal(pm_durations_add(&l, 0, 7, many - 1), 0);
	assert_int_equal(pm_durations_add(&l, 0, 5, 3), 0);
	assert_int_equal(pm_durations_add(&l, 0, 7, 4), 0); /* 7: one call more than 5 */
	assert_int_equal(pm_durations_join(&to, &l, NULL), 0);
	assert_int_equal(pm_percentiles(&to, &times, 1, NULL, NULL), 0);
	assert_int_equal(times.p50_ns, 5);
	assert_int_equal(times.p90_ns, 7);
	assert_int_equal(pm_durations_add(&l, 0, 7, 1), 0);
	assert_int_equal(pm_percentiles(&l, &times, 1, NULL, NULL), 0);
	assert_int_equal(times.p50_ns, 7);
	pm_durations_done(&l);
	pm_durations_done(&to);
}

/* Wherever the two items of a duration are: one may be at the end of the table, the other in front.
 */
static void test_durations_of_two_items_are_kept_when_the_table_grows(void **state)
{
	enum { TABLES = 100, DURATIONS = 300 };
	const uint64_t each = (uint64_t)INT32_MAX + 1;
	for (uint32_t k = 0; k < TABLES; k++) {
		struct pm_durations l = {.n = 0};
		uint64_t calls = 0;
		size_t n = 0;
		for (uint64_t i = 0; i < DURATIONS; i++)
			assert_int_equal(pm_durations_add(&l, k, i, each), 0);
		for (size_t i = 0; i < l.room; i++) {
			calls += l.items[i].calls;
			n += l.items[i].calls > 0;
		}
		assert_int_equal(n, 2 * DURATIONS);
		assert_int_equal(l.n, n);
		assert_int_equal(calls, DURATIONS * each);
		pm_durations_done(&l);
	}
}

/* A call of unknown duration could be anywhere among the others. */
static void test_unknown_duration_makes_its_function_unknown(void **state)
{
	struct pm_durations l = {.n = 0};
	struct pm_call_times times[2];
	assert_int_equal(pm_durations_add(&l, 0, 5, 9), 0);
	assert_int_equal(pm_durations_add(&l, 0, PM_NO_TIME, 1), 0);
	assert_int_equal(pm_durations_add(&l, 1, 5, 9), 0);
	assert_int_equal(pm_percentiles(&l, times, 2, NULL, NULL), 0);
	assert_false(times[0].known);
	assert_true(times[1].known);
	pm_durations_done(&l);
}

/* ---- more durations than are counted exactly ---- */

/* Calls that can be read again, half of them by each of two tables. */
struct source {
	const struct pm_duration *calls;
	size_t n, passes, counted; /* the last one: in passes */
};

static int read_again(void *context, struct pm_durations *ret)
{
	struct source *s = context;
	struct pm_durations half = {.only = ret->only};
	uint32_t nowhere[FUNCTIONS] = {0};
	s->passes++;
	for (size_t i = 0; i < s->n; i++) {
		const struct pm_duration *call = &s->calls[i];
		bool wanted = pm_durations_want(ret, call->of, call->ns);
		s->counted += wanted;
		assert_int_equal(i % 2 ? pm_durations_add_all(&half, call, 1)
				       : pm_durations_add(ret, call->of, call->ns, 1),
			0);
	}
	assert_int_equal(pm_durations_join(ret, &half, nowhere), 0);
	pm_durations_done(&half);
	return 0;
}

static void fill(struct pm_duration *calls, unsigned bits)
{
	uint64_t random = 5;
	for (size_t i = 0; i < CALLS; i++) {
		uint32_t of = (uint32_t)(next(&random) % FUNCTIONS);
		uint64_t ns = (next(&random) << 33 | next(&random) << 2) >> (next(&random) % bits);
		calls[i] = (struct pm_duration){of == 2 ? ns % 7 : of == 3 ? ~ns - 1 : ns, of};
		if (of == 4 && i % 100 == 0)
			calls[i].ns = PM_NO_TIME;
	}
}

/* Exact however little is counted at once: by one table or two, with a few functions or one. */
static void test_few_durations_are_counted_at_once(void **state)
{
	static struct pm_duration calls[CALLS];
	static uint64_t durations[CALLS];
	const size_t saved = pm_durations_most;
	for (unsigned bits = 1; bits < 64; bits += 31)
		for (size_t most = 1; most <= CALLS; most *= 4) {
			struct source source = {.calls = calls, .n = CALLS};
			struct pm_durations d = {.n = 0}, other = {.most = 2 * most};
			struct pm_call_times times[FUNCTIONS];
			pm_durations_most = most;
			fill(calls, bits);
			assert_int_equal(pm_durations_add_all(&d, calls, CALLS / 2), 0);
			for (size_t i = CALLS / 2; i < CALLS; i++)
				assert_int_equal(
					pm_durations_add(&other, calls[i].of, calls[i].ns, 1), 0);
			assert_int_equal(pm_durations_join(&d, &other, NULL), 0);
			assert_true(d.n <= (most < FUNCTIONS ? FUNCTIONS : 2 * most + 64));
			assert_int_equal(
				pm_percentiles(&d, times, FUNCTIONS, read_again, &source), 0);
			assert_true(!d.items && source.passes > 0);
			for (uint32_t of = 0; of < FUNCTIONS; of++) {
				size_t n = 0;
				for (size_t i = 0; i < CALLS; i++)
					if (calls[i].of == of)
						durations[n++] = calls[i].ns;
				if (of == 4)
					assert_false(times[of].known);
				else
					expect_times(&times[of], durations, n);
			}
			pm_durations_done(&other);
		}
	pm_durations_most = saved;
}

/* One pass is enough where all calls that took about as long fit, and it counts few of them. */
static void test_a_pass_counts_few_calls(void **state)
{
	enum { MANY = 1 << 17 };
	struct pm_duration *calls = malloc(MANY * sizeof(*calls));
	struct source source = {.calls = calls, .n = MANY};
	struct pm_durations d = {.most = MANY / 8};
	struct pm_call_times times;
	assert_non_null(calls);
	for (uint32_t i = 0; i < MANY; i++)
		calls[i] = (struct pm_duration){1000 + i * 7919u % MANY, 0};
	assert_int_equal(pm_durations_add_all(&d, calls, MANY), 0);
	assert_int_equal(pm_percentiles(&d, &times, 1, read_again, &source), 0);
	assert_int_equal(source.passes, 1);
	assert_true(source.counted > 0 && source.counted < MANY / 100);
	assert_int_equal(times.p50_ns, 1000 + MANY / 2 - 1);
	assert_int_equal(times.max_ns, 1000 + MANY - 1);
	free(calls);
}

/* What changes between passes is an error, not a wrong number. */
static void test_a_pass_that_has_fewer_calls(void **state)
{
	static struct pm_duration calls[CALLS];
	struct source source = {.calls = calls, .n = 1};
	struct pm_durations d = {.most = 16};
	struct pm_call_times times[FUNCTIONS];
	fill(calls, 1);
	assert_int_equal(pm_durations_add_all(&d, calls, CALLS), 0);
	assert_int_equal(pm_percentiles(&d, times, FUNCTIONS, read_again, &source), -EIO);
	assert_null(d.items);
}

/* As many durations as may be counted are still exact. */
static void test_the_limit_needs_no_pass(void **state)
{
	struct pm_durations d = {.n = 0}, more = {.n = 0};
	struct pm_call_times times;
	for (uint64_t i = 0; i < PM_LIMIT_COUNTED; i++)
		assert_int_equal(pm_durations_add(&d, 0, i, 1), 0);
	assert_int_equal(pm_durations_add(&more, 0, 5, 3), 0);
	assert_int_equal(d.room, 2 * PM_LIMIT_COUNTED);
	assert_int_equal(d.coarse, 0);
	assert_int_equal(pm_percentiles(&d, &times, 1, NULL, NULL), 0);
	assert_int_equal(times.p50_ns, PM_LIMIT_COUNTED / 2 - 1);
	assert_int_equal(times.max_ns, PM_LIMIT_COUNTED - 1);
	pm_durations_done(&more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_percentiles_are_those_of_a_sorted_list),
		cmocka_unit_test(test_whole_ticks_are_counted_as_others),
		cmocka_unit_test(test_more_calls_than_a_counter_has),
		cmocka_unit_test(test_a_few_calls),
		cmocka_unit_test(test_more_calls_of_a_duration_than_32_bits_count),
		cmocka_unit_test(test_durations_of_two_items_are_kept_when_the_table_grows),
		cmocka_unit_test(test_unknown_duration_makes_its_function_unknown),
		cmocka_unit_test(test_few_durations_are_counted_at_once),
		cmocka_unit_test(test_a_pass_counts_few_calls),
		cmocka_unit_test(test_a_pass_that_has_fewer_calls),
		cmocka_unit_test(test_the_limit_needs_no_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
