/* formats/common/callcosts: values and sums against a table of all costs. */
#include "formats/common/callcosts.h"

#include "tests/unittest.h"

#include <string.h>

enum { THREADS = 7, MOST = 600 };

/* All costs, by rank; `index` tells the contexts of ranks, `rank` the reverse. */
struct table {
	bool any[THREADS][MOST];
	struct pm_callcost costs[THREADS][MOST];
	uint32_t index[MOST], rank[MOST];
	uint32_t n_ranks;
	size_t n;
	uint64_t random;
};

struct values {
	struct pm_value items[3 * MOST];
	uint64_t n;
};

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

static uint32_t roll(struct table *t, uint32_t sides)
{
	return (uint32_t)next(&t->random) % sides;
}

/* Around the places where a number of fewer bits ends, or of any size. */
static pm_sum roll_sum(struct table *t, bool wide)
{
	static const unsigned ends[] = {0, 16, 31, 32, 46, 47, 48, 62, 63, 64, 65, 80, 100};
	uint32_t n = wide ? sizeof(ends) / sizeof(*ends) : 5;
	if (roll(t, 3) == 0)
		return (pm_sum)(next(&t->random) << 31 | next(&t->random)) >> (roll(t, 44) + 18);
	return ((pm_sum)1 << ends[roll(t, n)]) + roll(t, 5) - 1;
}

static struct pm_callcost roll_cost(struct table *t, uint32_t thread, uint32_t rank, bool wide)
{
	struct pm_callcost c = {.thread = thread, .context = rank};
	c.incl = roll(t, 8) ? roll_sum(t, wide) : 0;
	c.excl = roll(t, 8) ? roll_sum(t, wide) : 0;
	if (roll(t, 3) == 0)
		c.excl = -c.excl;
	c.calls = roll(t, 1000);
	if (wide && roll(t, 3) == 0) /* the sum of all threads still has 64 bits */
		c.calls = ((uint64_t)1 << (14 + 2 * roll(t, 24))) + roll(t, 3) - 1;
	return c;
}

static void shuffle(struct table *t, uint32_t *ret)
{
	for (uint32_t i = 0; i < t->n_ranks; i++) {
		uint32_t k = roll(t, i + 1);
		ret[i] = ret[k];
		ret[k] = i;
	}
}

/* The first thread, the last one and one between have no costs; a few contexts have none at all. */
static void make(struct table *t, uint32_t n_ranks, bool wide, struct pm_callcosts *ret)
{
	memset(t, 0, sizeof(*t));
	t->n_ranks = n_ranks;
	t->random = n_ranks + wide;
	shuffle(t, t->index);
	for (uint32_t i = 0; i < n_ranks; i++)
		t->rank[t->index[i]] = i;
	for (uint32_t thread = 1; thread < THREADS - 1; thread++) {
		uint32_t order[MOST];
		shuffle(t, order);
		for (uint32_t i = 0; thread != 3 && i < n_ranks; i++) {
			uint32_t rank = order[i];
			if (rank % 8 == 5 || (n_ranks > 1 && roll(t, 3) == 0))
				continue;
			t->any[thread][rank] = true;
			t->costs[thread][rank] = roll_cost(t, thread, rank, wide);
			pm_callcosts_add(ret, &t->costs[thread][rank]);
			t->n++;
		}
	}
	assert_int_equal(ret->n, t->n);
}

/* ---- what is expected ---- */

static struct pm_value value_of(pm_sum sum)
{
	if (sum >= 0 && sum <= UINT64_MAX)
		return (struct pm_value){.whole = true, .u = (uint64_t)sum};
	if (sum < 0 && sum >= INT64_MIN)
		return (struct pm_value){.whole = true, .negative = true, .i = (int64_t)sum};
	return (struct pm_value){.f = (double)sum};
}

/* The three values of a cost. */
static void append(
	struct values *v, const struct pm_callcost *cost, uint32_t context, uint32_t thread)
{
	const pm_sum sums[PM_CALLS_N_METRICS] = {
		[PM_CALLS_INCL] = cost->incl,
		[PM_CALLS_EXCL] = cost->excl,
		[PM_CALLS_CALLS] = cost->calls,
	};
	for (uint32_t i = 0; i < PM_CALLS_N_METRICS; i++) {
		struct pm_value *item = &v->items[v->n++];
		*item = value_of(sums[i]);
		item->metric = i;
		item->context = (uint64_t)context + 1; /* its number */
		item->thread = thread;
	}
}

static void values_of_thread(const struct table *t, uint32_t thread, struct values *ret)
{
	ret->n = 0;
	for (uint32_t context = 0; context < t->n_ranks; context++) {
		uint32_t rank = t->rank[context];
		if (t->any[thread][rank])
			append(ret, &t->costs[thread][rank], context, thread);
	}
}

static void values_of_context(const struct table *t, uint32_t context, struct values *ret)
{
	uint32_t rank = t->rank[context];
	ret->n = 0;
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		if (t->any[thread][rank])
			append(ret, &t->costs[thread][rank], context, thread);
	}
}

static struct pm_callcost sum_of_context(const struct table *t, uint32_t context)
{
	struct pm_callcost sum = {.context = context};
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		const struct pm_callcost *cost = &t->costs[thread][t->rank[context]];
		sum.incl += cost->incl;
		sum.excl += cost->excl;
		sum.calls += cost->calls;
	}
	return sum;
}

static void expect_values(const struct pm_value *got, const struct pm_value *expected, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const struct pm_value *x = &got[i], *y = &expected[i];
		assert_true(x->context == y->context && x->thread == y->thread);
		assert_int_equal(x->metric, y->metric);
		assert_true(x->whole == y->whole && x->negative == y->negative);
		assert_true(y->whole ? x->u == y->u : x->f == y->f);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nothing behind `room` values is written. */
static void expect_pages(
	const struct pm_callcosts *c, struct pm_values_of of, const struct values *expected)
{
	static struct pm_value got[3 * MOST + 10];
	const uint64_t n = expected->n;
	const uint64_t firsts[] = {0, 1, 2, 3, 7, n / 2, n - (n > 0), n, n + 1, n + 300};
	const uint64_t rooms[] = {0, 1, 2, 3, 4, 5, 16, n, n + 2};
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		for (size_t k = 0; k < sizeof(rooms) / sizeof(*rooms); k++) {
			uint64_t first = firsts[i], room = rooms[k];
			uint64_t left = least(n - least(n, first), room);
			got[left].context = UINT64_MAX;
			assert_int_equal(pm_callcosts_values(c, of, first, got, room), left);
			expect_values(got, expected->items + (left ? first : 0), left);
			assert_int_equal(got[left].context, UINT64_MAX);
		}
	}
}

/* Page by page: what a reader of all values does. */
static void expect_all(
	const struct pm_callcosts *c, struct pm_values_of of, const struct values *expected)
{
	struct pm_value got[4];
	uint64_t first = 0;
	for (;;) {
		int64_t n = pm_callcosts_values(c, of, first, got, 4);
		assert_true(n >= 0);
		if (n == 0)
			break;
		assert_true(first + (uint64_t)n <= expected->n);
		expect_values(got, expected->items + first, (uint64_t)n);
		first += (uint64_t)n;
	}
	assert_int_equal(first, expected->n);
}

static void expect_run(const struct pm_callcosts *c, const struct table *t, uint32_t context)
{
	struct pm_callcost sum = sum_of_context(t, context);
	struct pm_callcost got = pm_callcosts_sum(c, context);
	struct values expected = {.n = 0};
	assert_true(got.incl == sum.incl && got.excl == sum.excl && got.calls == sum.calls);
	append(&expected, &sum, context, PM_NONE);
	for (size_t room = 0; room <= 5; room++) {
		struct pm_value values[6];
		uint64_t n = least(room, expected.n);
		values[n].context = UINT64_MAX;
		assert_int_equal(pm_callcosts_of_run(c, context, values, room), n);
		expect_values(values, expected.items, n);
		assert_int_equal(values[n].context, UINT64_MAX);
	}
}

/* ---- tests ---- */

static void expect_table(const struct pm_callcosts *c, const struct table *t)
{
	static struct values expected;
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		struct pm_values_of of = {PM_OF_THREAD, thread, thread % 2};
		values_of_thread(t, thread, &expected);
		expect_pages(c, of, &expected);
		expect_all(c, of, &expected);
	}
	for (uint32_t context = 0; context < t->n_ranks; context++) {
		struct pm_values_of of = {PM_OF_CONTEXT, context, context % 2};
		values_of_context(t, context, &expected);
		expect_pages(c, of, &expected);
		expect_all(c, of, &expected);
		expect_run(c, t, context);
	}
}

static void test_costs_are_those_of_a_table(void **state)
{
	static const uint32_t n_ranks[] = {1, 2, 3, 10, 64, 65, MOST};
	static struct table t;
	for (size_t i = 0; i < 2 * sizeof(n_ranks) / sizeof(*n_ranks); i++) {
		struct pm_arena arena = {NULL};
		struct pm_callcosts c = {.arena = &arena};
		make(&t, n_ranks[i / 2], i % 2, &c);
		pm_callcosts_freeze(&c, t.index, THREADS, t.n_ranks);
		assert_int_equal(c.n, t.n);
		expect_table(&c, &t);
		pm_arena_done(&arena);
	}
}

/* Weights are rounded after each addition, in whatever order. */
static void test_weights_are_added(void **state)
{
	static struct table t;
	for (int wide = 0; wide < 2; wide++) {
		struct pm_arena arena = {NULL};
		struct pm_callcosts c = {.arena = &arena};
		double weight[MOST];
		make(&t, MOST, wide, &c);
		for (uint32_t rank = 0; rank < MOST; rank++)
			weight[rank] = 1000 + rank;
		pm_callcosts_weigh(&c, weight);
		for (uint32_t rank = 0; rank < MOST; rank++) {
			double expected = 1000 + rank;
			for (uint32_t thread = 0; thread < THREADS; thread++)
				expected += (double)t.costs[thread][rank].incl;
			double off = weight[rank] - expected;
			assert_true(off <= expected * 1e-14 && -off <= expected * 1e-14);
		}
		/* It changes nothing. */
		pm_callcosts_freeze(&c, t.index, THREADS, MOST);
		assert_int_equal(c.n, t.n);
		expect_run(&c, &t, 0);
		pm_arena_done(&arena);
	}
}

/* One cost has the most calls that 64 bits hold, and times that no 64 bits hold. */
static void test_largest_cost(void **state)
{
	const uint32_t index[] = {1, 0};
	const pm_sum large = (pm_sum)1 << 120;
	const struct pm_callcost costs[] = {
		{0, 0, UINT64_MAX, large + 1, -large - 3}, {0, 1, 1, 2, -3}};
	struct pm_arena arena = {NULL};
	struct pm_callcosts c = {.arena = &arena};
	pm_callcosts_add(&c, &costs[0]);
	pm_callcosts_add(&c, &costs[1]);
	pm_callcosts_freeze(&c, index, 1, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct pm_callcost got = pm_callcosts_sum(&c, index[i]);
		struct values expected = {.n = 0};
		assert_true(got.calls == costs[i].calls);
		assert_true(got.incl == costs[i].incl && got.excl == costs[i].excl);
		append(&expected, &costs[i], index[i], 0);
		expect_pages(&c, (struct pm_values_of){PM_OF_CONTEXT, index[i], false}, &expected);
	}
	pm_arena_done(&arena);
}

static void test_no_costs(void **state)
{
	const uint32_t index[] = {2, 0, 1};
	const struct values none = {.n = 0};
	struct pm_arena arena = {NULL};
	struct pm_callcosts zeroed = {.n = 0}, c = {.arena = &arena}, nothing = {.arena = &arena};
	double weight[] = {7, 8, 9};
	struct pm_callcost sum;
	pm_callcosts_done(&zeroed);
	pm_callcosts_weigh(&c, weight);
	assert_true(weight[0] == 7 && weight[1] == 8 && weight[2] == 9);
	pm_callcosts_freeze(&c, index, 4, 3);
	pm_callcosts_freeze(&nothing, NULL, 0, 0);
	for (uint32_t i = 0; i < 4; i++)
		expect_pages(&c, (struct pm_values_of){PM_OF_THREAD, i, false}, &none);
	for (uint32_t i = 0; i < 3; i++) {
		expect_pages(&c, (struct pm_values_of){PM_OF_CONTEXT, i, false}, &none);
		sum = pm_callcosts_sum(&c, i);
		assert_true(sum.calls == 0 && sum.incl == 0 && sum.excl == 0);
	}
	pm_callcosts_done(&c);
	assert_int_equal(c.n, 0);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs_are_those_of_a_table),
		cmocka_unit_test(test_weights_are_added),
		cmocka_unit_test(test_largest_cost),
		cmocka_unit_test(test_no_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
