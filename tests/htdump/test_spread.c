/* formats/htdump/spread: ranges of durations against a sorted list of all calls. */
#include "formats/htdump/spread.h"

#include "tests/unittest.h"

#include <stdlib.h>

enum { LABELS = 8, CALLS = 1500, MAPPED = 3, THREADS = 5, OF_A_LABEL = 100 };

/* The durations of a label's calls. */
struct durations {
	uint64_t ns[CALLS];
	size_t n;
};

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 32;
}

static uint64_t next_of_all_magnitudes(uint64_t *random)
{
	uint64_t ns = next(random) << 32 | next(random);
	return ns >> next(random) % 64;
}

/* Of a label: each has durations of another kind. */
static uint64_t next_duration(uint64_t *random, uint32_t label)
{
	switch (label % LABELS) {
	case 0: return next(random) % 60 * 100; /* ticks */
	case 1: return 12345;
	case 2: return 1000000 + next(random) % 3000000;
	case 3: return next_of_all_magnitudes(random);
	case 4: return ((uint64_t)1 << 50) + 77;             /* the lower half is not enough */
	case 5: return next(random) % 40 << 32 | UINT32_MAX; /* the lower half means HTD_MIXED */
	case 6: return next(random) % 4 ? 700 : next_duration(random, 2);
	default: return next_duration(random, (uint32_t)next(random) % 7);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void sort(struct durations *d)
{
	qsort(d->ns, d->n, sizeof(*d->ns), by_value);
}

static struct htd_spreads spreads(struct htd_spread_budget *budget, uint32_t n_mapped)
{
	return (struct htd_spreads){.budget = budget, .n_mapped = n_mapped};
}

static void add(struct htd_spreads *s, uint32_t label, uint64_t ns)
{
	htd_spreads_prefetch(s, label, ns);
	assert_int_equal(htd_spreads_add(s, label, ns), 0);
}

/* Whether the lower half tells the duration of calls that all took equally long. */
static bool is_told_by_half(uint64_t ns)
{
	return ns < 16 ||
		(ns < (uint64_t)1 << (32 + HTD_ROW_BITS + 1) && (uint32_t)ns != HTD_MIXED);
}

static bool is_found(const struct htd_spreads *s, uint32_t label, uint64_t calls, uint64_t rank)
{
	struct htd_spread_range range;
	return htd_spreads_find(s, label, calls, rank, &range);
}

/* `d` is sorted. */
static void expect_rank(
	const struct htd_spreads *s, uint32_t label, const struct durations *d, uint64_t rank)
{
	struct htd_spread_range range;
	uint64_t before = 0, calls = 0;
	assert_true(htd_spreads_find(s, label, d->n, rank, &range));
	assert_true(range.low <= d->ns[rank] && d->ns[rank] <= range.high);
	for (size_t i = 0; i < d->n; i++) {
		before += d->ns[i] < range.low;
		calls += d->ns[i] >= range.low && d->ns[i] <= range.high;
	}
	assert_int_equal(range.before, before);
	assert_int_equal(range.calls, calls);
	assert_true(before <= rank && rank < before + calls);
	assert_int_equal(htd_spread_part_of(range.low), htd_spread_part_of(range.high));
	if (d->ns[before] == d->ns[before + calls - 1] && is_told_by_half(d->ns[before]))
		assert_true(range.low == range.high);
}

static void expect_label(const struct htd_spreads *s, uint32_t label, struct durations *d)
{
	sort(d);
	for (uint64_t rank = 0; rank < d->n; rank++)
		expect_rank(s, label, d, rank);
	assert_false(is_found(s, label, d->n + 1, 0));
	assert_false(d->n > 1 && is_found(s, label, d->n - 1, 0));
	assert_false(is_found(s, label, d->n + ((uint64_t)1 << 32), 0));
}

/* ---- counting ---- */

static void test_parts(void **state)
{
	for (uint64_t ns = 0; ns < 16; ns++)
		assert_int_equal(htd_spread_part_of(ns), ns);
	for (uint32_t bits = 4, part = 16; bits < 64; bits++) {
		uint64_t width = (uint64_t)1 << (bits - 3);
		for (uint64_t k = 8; k < 16; k++, part++) {
			assert_int_equal(htd_spread_part_of(k * width), part);
			assert_int_equal(htd_spread_part_of(k * width + (width - 1)), part);
		}
	}
}

static void expect_single(uint64_t ns)
{
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	struct htd_spreads s = spreads(&budget, 0);
	struct htd_spread_range range;
	add(&s, 0, ns);
	assert_true(htd_spreads_find(&s, 0, 1, 0, &range));
	assert_true(range.low <= ns && ns <= range.high);
	assert_int_equal(htd_spread_part_of(range.low), htd_spread_part_of(ns));
	assert_int_equal(htd_spread_part_of(range.high), htd_spread_part_of(ns));
	if (is_told_by_half(ns))
		assert_true(range.low == ns && range.high == ns);
	assert_int_equal(range.calls, 1);
	assert_int_equal(range.before, 0);
	htd_spreads_done(&s);
	assert_int_equal(budget.left, HTD_SPREAD_BYTES);
}

static void test_single_calls(void **state)
{
	uint64_t random = 3;
	for (uint32_t bits = 0; bits < 64; bits++) {
		for (uint64_t off = 0; off < 20; off++) {
			expect_single(((uint64_t)1 << bits) + off);
			expect_single(((uint64_t)1 << bits) - off); /* below 0: the longest ones */
			expect_single(off << bits | UINT32_MAX);
		}
	}
	expect_single(0);
	expect_single(UINT64_MAX);
	for (int i = 0; i < 10000; i++)
		expect_single(next_of_all_magnitudes(&random));
}

/* ---- finding ---- */

static void test_ranks_are_those_of_a_sorted_list(void **state)
{
	static struct durations d[LABELS];
	uint64_t random = 11;
	for (uint64_t n = 1; n <= CALLS; n = n * 5 + 1) {
		struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
		struct htd_spreads s = spreads(&budget, n % 2 ? 0 : LABELS);
		for (uint32_t i = 0; i < LABELS; i++)
			d[i].n = 0;
		for (uint64_t i = 0; i < n * LABELS; i++) {
			uint32_t label = (uint32_t)next(&random) % LABELS;
			struct durations *of = &d[label];
			if (of->n == CALLS)
				continue;
			of->ns[of->n] = next_duration(&random, label);
			add(&s, label * 3, of->ns[of->n++]);
		}
		assert_false(budget.spent);
		assert_int_equal(budget.left + s.bytes, HTD_SPREAD_BYTES);
		for (uint32_t i = 0; i < LABELS; i++) {
			if (d[i].n > 0)
				expect_label(&s, i * 3, &d[i]);
			assert_false(is_found(&s, i * 3 + 1, 1, 0));
		}
		assert_false(is_found(&s, 1000, 1, 0));
		assert_false(is_found(&s, UINT32_MAX, 1, 0));
		htd_spreads_done(&s);
		assert_int_equal(budget.left, HTD_SPREAD_BYTES);
	}
}

static void test_empty_spreads(void **state)
{
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	struct htd_spreads zeroed = {.n = 0}, s = spreads(&budget, 5);
	assert_false(is_found(&s, 0, 1, 0));
	assert_false(is_found(&s, 7, 1, 0));
	htd_spreads_done(&zeroed);
	htd_spreads_done(&s);
	assert_int_equal(budget.left, HTD_SPREAD_BYTES);
}

/* ---- joining ---- */

static void expect_same(
	const struct htd_spreads *a, const struct htd_spreads *b, uint32_t label, uint64_t calls)
{
	for (uint64_t rank = 0; rank < calls; rank++) {
		struct htd_spread_range x, y;
		assert_true(htd_spreads_find(a, label, calls, rank, &x));
		assert_true(htd_spreads_find(b, label, calls, rank, &y));
		assert_true(x.low == y.low && x.high == y.high);
		assert_true(x.calls == y.calls && x.before == y.before);
	}
}

/* One thread has no calls. Labels from MAPPED on have other numbers in each thread. */
static void test_joined_threads_equal_one(void **state)
{
	static struct durations d[LABELS];
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	const uint64_t n = LABELS * CALLS / 2;
	struct htd_spreads all = spreads(&budget, MAPPED), joined = all, threads[THREADS];
	uint64_t random = 5;
	for (uint32_t t = 0; t < THREADS; t++)
		threads[t] = spreads(&budget, MAPPED);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t label = (uint32_t)next(&random) % LABELS, own = label;
		uint32_t t = (uint32_t)next(&random) % (THREADS - 1);
		struct durations *of = &d[label];
		if (of->n == CALLS)
			continue;
		if (label >= MAPPED)
			own = MAPPED + (label - MAPPED + t) % (LABELS - MAPPED);
		of->ns[of->n] = next_duration(&random, label);
		add(&all, label, of->ns[of->n]);
		add(&threads[t], own, of->ns[of->n++]);
	}
	for (uint32_t t = THREADS; t-- > 0;) {
		uint32_t labels[LABELS - MAPPED];
		for (uint32_t k = 0; k < LABELS - MAPPED; k++)
			labels[(k + t) % (LABELS - MAPPED)] = MAPPED + k;
		assert_int_equal(htd_spreads_join(&joined, &threads[t], labels), 0);
		htd_spreads_done(&threads[t]); /* what was joined does not need it any more */
	}
	for (uint32_t i = 0; i < LABELS; i++) {
		expect_label(&joined, i, &d[i]);
		expect_same(&joined, &all, i, d[i].n);
	}
	htd_spreads_done(&all);
	htd_spreads_done(&joined);
	assert_int_equal(budget.left, HTD_SPREAD_BYTES);
}

/* A part without calls between others says nothing about the duration of calls there. */
static void test_calls_in_gaps_are_still_exact(void **state)
{
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	struct htd_spreads a = spreads(&budget, 1), b = spreads(&budget, 1);
	struct durations d = {.n = 0};
	for (uint64_t ns = 1000; ns < 9000; ns += 1000) {
		add(ns % 2000 ? &a : &b, 0, ns);
		d.ns[d.n++] = ns;
	}
	assert_int_equal(htd_spreads_join(&a, &b, NULL), 0);
	expect_label(&a, 0, &d);
	htd_spreads_done(&a);
	htd_spreads_done(&b);
}

/* ---- many calls ---- */

/* Two spreads are joined with each other in turn, until one part has more than it can count. */
static void test_more_calls_of_a_part_than_32_bits_count(void **state)
{
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	struct htd_spreads s[2] = {spreads(&budget, 1), spreads(&budget, 1)};
	uint64_t n[2] = {1, 1}; /* calls of 5 ns, and as many of 100000 ns */
	bool many = false;
	for (int i = 0; i < 2; i++) {
		add(&s[i], 0, 5);
		add(&s[i], 0, 100000);
	}
	for (int i = 0; n[0] < (uint64_t)1 << 36; i = !i) {
		struct htd_spread_range range;
		assert_int_equal(htd_spreads_join(&s[i], &s[!i], NULL), 0);
		n[i] += n[!i];
		if (n[i] > UINT32_MAX) {
			assert_false(is_found(&s[i], 0, n[i] * 2, 0));
			assert_false(is_found(&s[i], 0, n[i] * 2, n[i]));
			assert_false(is_found(&s[i], 0, (uint64_t)(uint32_t)n[i] * 2, 0));
			continue;
		}
		many |= n[i] * 2 > UINT32_MAX;
		assert_true(htd_spreads_find(&s[i], 0, n[i] * 2, n[i] - 1, &range));
		assert_true(range.low == 5 && range.high == 5);
		assert_true(range.before == 0 && range.calls == n[i]);
		assert_true(htd_spreads_find(&s[i], 0, n[i] * 2, n[i], &range));
		assert_true(range.low == 100000 && range.high == 100000);
		assert_true(range.before == n[i] && range.calls == n[i]);
	}
	assert_true(many); /* in both parts together, but not in one of them */
	htd_spreads_done(&s[0]);
	htd_spreads_done(&s[1]);
	assert_int_equal(budget.left, HTD_SPREAD_BYTES);
}

static void test_the_most_calls_of_a_part(void **state)
{
	const struct htd_spread_part most = {UINT32_MAX - 1, 700}, one = {1, 700};
	const uint32_t part = htd_spread_part_of(700);
	struct htd_spread_budget budget = {.left = HTD_SPREAD_BYTES, .tables = UINT64_MAX};
	struct htd_spreads s = spreads(&budget, 1);
	struct htd_spread_range range;
	assert_int_equal(htd_spreads_begin(&s, 0, part, most), 0);
	assert_true(htd_spreads_find(&s, 0, UINT32_MAX - 1, UINT32_MAX - 2, &range));
	assert_true(range.low == 700 && range.high == 700);
	assert_true(range.before == 0 && range.calls == UINT32_MAX - 1);
	for (uint64_t n = UINT32_MAX; n < (uint64_t)UINT32_MAX + 5; n++) {
		if (n % 2)
			assert_int_equal(htd_spreads_begin(&s, 0, part, one), 0);
		else
			add(&s, 0, 700);
		/* UINT32_MAX itself may be found or not. */
		assert_false(n > UINT32_MAX && is_found(&s, 0, n, 0));
		assert_false(n > UINT32_MAX && is_found(&s, 0, (uint32_t)n, 0));
		assert_false(is_found(&s, 0, UINT32_MAX - 1, 0) || is_found(&s, 0, 5, 0));
	}
	htd_spreads_done(&s);
}

/* ---- the budget ---- */

/* Of the spread and one that it is joined with: each drops its calls when it notices. */
static void expect_dropped(struct htd_spreads *s, struct htd_spreads *other)
{
	const struct htd_spreads none = spreads(s->budget, LABELS);
	assert_int_equal(htd_spreads_join(s, &none, NULL), 0);
	assert_int_equal(htd_spreads_join(other, s, NULL), 0);
	for (uint32_t label = 0; label < LABELS; label++) {
		for (uint64_t calls = 1; calls <= 3 * OF_A_LABEL; calls++) {
			assert_false(is_found(s, label, calls, 0));
			assert_false(is_found(other, label, calls, 0));
		}
	}
	assert_int_equal(s->bytes + other->bytes, 0);
}

static void count_calls(struct htd_spreads *s, struct durations d[LABELS], uint64_t *random)
{
	for (uint32_t label = 0; label < LABELS; label++) {
		struct durations *of = &d[label];
		for (of->n = 0; of->n < OF_A_LABEL; of->n++) {
			of->ns[of->n] = next_duration(random, label);
			add(s, label, of->ns[of->n]);
		}
	}
}

/* Returns whether it was enough for three threads and what they are joined to. */
static bool try_budget(uint64_t bytes)
{
	static struct durations d[3][LABELS];
	struct htd_spread_budget budget = {.left = bytes, .tables = UINT64_MAX};
	struct htd_spreads s[3], joined = spreads(&budget, LABELS);
	uint64_t random = 17;
	for (uint32_t t = 0; t < 3; t++) {
		s[t] = spreads(&budget, LABELS);
		count_calls(&s[t], d[t], &random);
	}
	for (uint32_t t = 0; t < 3; t++)
		assert_int_equal(htd_spreads_join(&joined, &s[t], NULL), 0);
	bool spent = budget.spent;
	for (uint32_t label = 0; label < LABELS; label++) {
		assert_true(is_found(&joined, label, 3 * OF_A_LABEL, 50) == !spent);
		for (uint32_t t = 0; t < 3; t++) {
			/* A thread that has counted everything may not have noticed. */
			if (!spent || is_found(&s[t], label, OF_A_LABEL, 50))
				expect_label(&s[t], label, &d[t][label]);
		}
	}
	for (uint32_t t = 0; t < 3 && spent; t++)
		expect_dropped(&s[t], &joined);
	assert_true(budget.spent == spent && budget.left <= bytes);
	for (uint32_t t = 0; t < 3; t++)
		htd_spreads_done(&s[t]);
	htd_spreads_done(&joined);
	assert_int_equal(budget.left, bytes);
	return !spent;
}

static void test_budgets(void **state)
{
	uint64_t bytes = 0;
	assert_false(try_budget(0));
	assert_true(try_budget(HTD_SPREAD_BYTES));
	/* Each small one is exceeded somewhere else: in the first thread, later, while joining. */
	for (int enough = 0; enough < 5; bytes += bytes / 16 + 1)
		enough += try_budget(bytes);
	assert_true(bytes < 4 << 20);
}

/* What was counted before is not found any more, nor what is counted after. */
static void test_one_thread_spends_the_budget_of_all(void **state)
{
	struct htd_spread_budget budget = {.left = 100000, .tables = UINT64_MAX};
	struct htd_spreads a = spreads(&budget, 0), b = spreads(&budget, 0);
	add(&a, 0, 5);
	assert_true(is_found(&a, 0, 1, 0));
	for (uint32_t i = 0; i < 10000; i++)
		add(&b, i, (uint64_t)1 << i % 64);
	assert_true(budget.spent);
	assert_false(is_found(&b, 0, 1, 0));
	add(&a, 0, 5);
	add(&a, 1, 5); /* notices that it is spent: needs memory */
	assert_false(is_found(&a, 0, 1, 0) || is_found(&a, 0, 2, 0) || is_found(&a, 1, 1, 0));
	htd_spreads_done(&b);
	htd_spreads_done(&a);
	assert_int_equal(budget.left, 100000);
}

/*
 * One quiet thread may have a table of all labels; many of them, whose calls do not deserve tables,
 * spend the budget.
 */
static void test_many_threads_make_no_tables_of_many_labels(void **state)
{
	enum { N_MAPPED = 100000, LABEL = N_MAPPED - 10, THREADS_MOST = 100 };
	struct htd_spread_budget budget = htd_spread_budget(THREADS_MOST);
	struct htd_spreads s[THREADS_MOST];
	uint64_t bytes = 0;
	uint32_t n = 0;
	budget.tables += N_MAPPED * sizeof(struct htd_spread);
	for (; n < THREADS_MOST && !budget.spent; n++) {
		s[n] = spreads(&budget, N_MAPPED);
		add(&s[n], LABEL, 5);
		bytes += s[n].bytes;
		assert_true(is_found(&s[n], LABEL, 1, 0) == !budget.spent);
	}
	assert_in_range(n, 2, 3);
	assert_true(budget.spent && bytes < 4 << 20);
	while (n > 0)
		htd_spreads_done(&s[--n]);
	assert_int_equal(budget.left, HTD_SPREAD_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_single_calls),
		cmocka_unit_test(test_ranks_are_those_of_a_sorted_list),
		cmocka_unit_test(test_empty_spreads),
		cmocka_unit_test(test_joined_threads_equal_one),
		cmocka_unit_test(test_calls_in_gaps_are_still_exact),
		cmocka_unit_test(test_more_calls_of_a_part_than_32_bits_count),
		cmocka_unit_test(test_the_most_calls_of_a_part),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_one_thread_spends_the_budget_of_all),
		cmocka_unit_test(test_many_threads_make_no_tables_of_many_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
