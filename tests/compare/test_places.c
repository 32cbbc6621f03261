/* fs/compare/places.c: lines that an edit has moved. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "fs/compare/places.h"
#include "profmount/limits.h"
#include "profmount/tree.h"

enum { NO = -1, END = -2 };

static uint32_t fill(const int *lines, struct pmfs_line_place *places)
{
	uint32_t n = 0;
	for (; lines[n] != END; n++)
		places[n] = (struct pmfs_line_place){.class = 1, .at = lines[n], .tag = n};
	return n;
}

struct lists {
	struct pm_arena arena;
	struct pmfs_line_place *a, *b;
	uint32_t na, nb, *partner;
};

static void build(void *context)
{
	struct lists *l = context;
	pmfs_places_sort(&l->arena, l->a, l->na);
	pmfs_places_sort(&l->arena, l->b, l->nb);
	pmfs_places_match(&l->arena, l->a, l->na, l->b, l->nb, l->partner);
}

static void match(struct pmfs_line_place *a, uint32_t na, struct pmfs_line_place *b, uint32_t nb,
	uint32_t *partner)
{
	struct lists l = {.a = a, .b = b, .na = na, .nb = nb, .partner = partner};
	assert_int_equal(pm_build(&l.arena, build, &l), 0);
	pm_arena_done(&l.arena);
}

static void check(const int *before, const int *after, const int *want)
{
	struct pmfs_line_place a[32], b[32];
	uint32_t partner[32], na = fill(before, a), nb = fill(after, b);
	match(a, na, b, nb, partner);
	for (uint32_t i = 0; i < na; i++)
		assert_int_equal(partner[i] == PM_NONE ? NO : (int)b[partner[i]].at, want[i]);
}

#define CHECK(before, after, want) check((const int[])before, (const int[])after, (const int[])want)
#define LIST(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__, END                                                                   \
	}

static void test_what_has_not_moved(void **state)
{
	CHECK(LIST(2, 4, 5), LIST(2, 4, 5), LIST(2, 4, 5));
	CHECK(LIST(1, 3, 5), LIST(3, 5), LIST(NO, 3, 5));
	CHECK(LIST(3, 5), LIST(1, 3, 5), LIST(3, 5));
}

static void test_an_edit_inside(void **state)
{
	CHECK(LIST(2, 4, 5, 6, 10, 11, 15), LIST(2, 9, 10, 11, 15, 16, 20),
		LIST(2, 9, 10, 11, 15, 16, 20));
	CHECK(LIST(1, 2, 3, 7, 8, 9), LIST(1, 2, 3, 17, 18, 19), LIST(1, 2, 3, 17, 18, 19));
}

static void test_what_is_left_is_paired_in_order(void **state)
{
	struct pmfs_line_place a[] = {{1, 5, 0}, {2, 3, 1}},
			       b[] = {{1, 9, 0}, {2, 1, 1}, {3, 5, 2}};
	uint32_t partner[2];
	match(a, 2, b, 3, partner);
	assert_int_equal(partner[0], 0);
	assert_int_equal(partner[1], 1);
	match(a, 2, b, 0, partner);
	assert_int_equal(partner[0], PM_NONE);
}

/* Too many pairs for all to be looked at. */
static void test_a_long_list(void **state)
{
	enum { N = 1000 };
	struct pmfs_line_place *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b));
	uint32_t *partner = calloc(N, sizeof(*partner));
	assert_true((uint64_t)N * N > PM_LIMIT_PLACE_PAIRS);
	for (uint32_t i = 0; i < N; i++) {
		a[i] = (struct pmfs_line_place){0, 2 * (int64_t)i, i};
		b[i] = (struct pmfs_line_place){0, i == 7 ? 15 : 2 * (int64_t)i, i};
	}
	match(a, N, b, N, partner);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(partner[i], i);
	free(a);
	free(b);
	free(partner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_has_not_moved),
		cmocka_unit_test(test_an_edit_inside),
		cmocka_unit_test(test_what_is_left_is_paired_in_order),
		cmocka_unit_test(test_a_long_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
