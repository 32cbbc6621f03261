/* Tests formats/common/paths.c against a trie with linear search. */
#include "formats/common/paths.h"

#include "tests/unittest.h"

#include <errno.h>

#include "formats/common/map.h"
#include "formats/common/work.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ---- the simple way ---- */

struct simple {
	struct pm_path items[4096];
	uint32_t n;
};

static uint32_t simple_child(struct simple *s, uint32_t parent, uint32_t key)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->items[i].parent == parent && s->items[i].key == key)
			return i;
	assert_true(s->n < sizeof(s->items) / sizeof(*s->items));
	s->items[s->n] = (struct pm_path){parent, key};
	return s->n++;
}

static void expect_equal(const struct pm_paths *p, const struct pm_path *want, uint32_t n)
{
	assert_int_equal(p->n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(p->items[i].parent, want[i].parent);
		assert_int_equal(p->items[i].key, want[i].key);
	}
}

static uint32_t seed = 7;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 12) % sides;
}

/* Walks at random: down, sideways, back to the top. Both tries take the same steps. */
static void walk(
	struct pm_paths *p, struct simple *s, uint32_t steps, const uint32_t *keys, uint32_t n_keys)
{
	uint32_t at = PM_NONE;
	for (uint32_t i = 0; i < steps; i++) {
		uint32_t key = keys[roll(roll(2) ? n_keys : 2)];
		uint32_t from = roll(8) == 0 || p->n == 0 ? PM_NONE : roll(4) ? at : roll(p->n);
		uint32_t before = p->n;
		at = pm_paths_child(p, from, key);
		assert_int_equal(at, simple_child(s, from, key));
		assert_true(at == before ? p->n == before + 1 : p->n == before);
		assert_int_equal(pm_paths_child(p, from, key), at);
		if (p->n > 3000)
			return;
	}
}

static void test_steps_lead_where_a_search_through_all_leads(void **state)
{
	static struct simple s;
	uint32_t keys[40];
	for (uint32_t round = 0; round < 20; round++) {
		struct pm_paths p;
		s.n = 0;
		for (size_t i = 0; i < 40; i++)
			keys[i] = round % 2 ? (uint32_t)i : UINT32_MAX - (uint32_t)i;
		assert_int_equal(pm_paths_init(&p, PM_LIMIT_ITEMS), 0);
		walk(&p, &s, 2500, keys, 2 + 2 * round);
		expect_equal(&p, s.items, s.n);
		pm_paths_done(&p);
	}
}

static void test_keys_of_one_place_in_an_unsalted_table_are_told_apart(void **state)
{
	static struct simple s;
	uint32_t keys[256], n = 0;
	struct pm_paths p;
	for (uint32_t key = 0; n < 256; key++)
		if ((pm_hash_u64((uint64_t)PM_NONE << 32 | key) & 0xfff) == 0)
			keys[n++] = key;
	s.n = 0;
	assert_int_equal(pm_paths_init(&p, PM_LIMIT_ITEMS), 0);
	for (uint32_t i = 0; i < 2 * n; i++)
		assert_int_equal(pm_paths_child(&p, PM_NONE, keys[i % n]),
			simple_child(&s, PM_NONE, keys[i % n]));
	walk(&p, &s, 2500, keys, n);
	expect_equal(&p, s.items, s.n);
	pm_paths_done(&p);
}

static void test_a_long_chain_and_a_wide_top(void **state)
{
	enum { N = 300000 };
	struct pm_paths p;
	assert_int_equal(pm_paths_init(&p, PM_LIMIT_ITEMS), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0, at = PM_NONE; i < N; i++) {
			at = pm_paths_child(&p, at, 7);
			assert_int_equal(at, i);
		}
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(pm_paths_child(&p, PM_NONE, 8 + i), N + i);
	}
	assert_int_equal(p.n, 2 * N);
	pm_paths_done(&p);
}

static void test_beyond_the_limit_known_paths_are_still_found(void **state)
{
	struct pm_paths p;
	assert_int_equal(pm_paths_init(&p, 10), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(pm_paths_child(&p, PM_NONE, i), i);
	assert_int_equal(pm_paths_child(&p, PM_NONE, 10), PM_PATHS_FULL);
	assert_int_equal(pm_paths_child(&p, 3, 3), PM_PATHS_FULL);
	assert_int_equal(pm_paths_child(&p, PM_PATHS_FULL, 3), PM_PATHS_FULL);
	assert_int_equal(pm_paths_child(&p, PM_NONE, 9), 9);
	assert_int_equal(p.n, 10);
	pm_paths_done(&p);
}

static void test_parts_joined_in_order_are_the_whole(void **state)
{
	enum { PARTS = 5, STEPS = 400 };
	static uint32_t place[PARTS * STEPS];
	for (uint32_t round = 0; round < 20; round++) {
		struct pm_paths whole, joined;
		assert_int_equal(pm_paths_init(&whole, PM_LIMIT_ITEMS), 0);
		assert_int_equal(pm_paths_init(&joined, PM_LIMIT_ITEMS), 0);
		for (uint32_t i = 0; i < PARTS; i++) {
			struct pm_paths part;
			uint32_t in_part = PM_NONE, in_whole = PM_NONE;
			assert_int_equal(pm_paths_init(&part, PM_LIMIT_ITEMS), 0);
			for (uint32_t k = 0; k < STEPS; k++) {
				uint32_t key = roll(6);
				if (roll(5) == 0)
					in_part = in_whole = PM_NONE;
				in_part = pm_paths_child(&part, in_part, key);
				in_whole = pm_paths_child(&whole, in_whole, key);
			}
			assert_int_equal(pm_paths_join(&joined, PM_NONE, &part, NULL, place), 0);
			assert_int_equal(place[in_part], in_whole);
			pm_paths_done(&part);
		}
		expect_equal(&joined, whole.items, whole.n);
		pm_paths_done(&whole);
		pm_paths_done(&joined);
	}
}

static void test_joining_below_a_path_with_other_keys(void **state)
{
	const uint32_t keys[] = {100, 101, 102};
	uint32_t place[3];
	struct pm_paths to, from;
	assert_int_equal(pm_paths_init(&to, 5), 0);
	assert_int_equal(pm_paths_init(&from, 5), 0);
	uint32_t top = pm_paths_child(&to, pm_paths_child(&to, PM_NONE, 5), 6);
	uint32_t known = pm_paths_child(&to, top, 101);
	uint32_t at = pm_paths_child(&from, pm_paths_child(&from, PM_NONE, 1), 0);
	pm_paths_child(&from, at, 2);
	assert_int_equal(pm_paths_join(&to, top, &from, keys, place), 0);
	assert_int_equal(place[0], known);
	assert_int_equal(to.items[place[1]].parent, known);
	assert_int_equal(to.items[place[1]].key, 100);
	assert_int_equal(to.items[place[2]].key, 102);
	assert_int_equal(to.n, 5);
	to.most = 5;
	pm_paths_child(&from, at, 1);
	assert_int_equal(pm_paths_join(&to, top, &from, keys, (uint32_t[4]){0}), 0);
	assert_int_equal(pm_paths_join(&to, PM_PATHS_FULL, &from, keys, (uint32_t[4]){0}), 0);
	assert_int_equal(to.n, 5);
	pm_paths_done(&to);
	pm_paths_done(&from);
}

static void test_a_cancelled_join_ends(void **state)
{
	struct pm_paths to, from;
	uint32_t place;
	struct pm_work work = {.cancelled = false};
	assert_int_equal(pm_paths_init(&to, 5), 0);
	assert_int_equal(pm_paths_init(&from, 5), 0);
	pm_paths_child(&from, PM_NONE, 1);
	struct pm_work *before = pm_work_enter(&work);
	pm_work_cancel(&work);
	assert_int_equal(pm_paths_join(&to, PM_NONE, &from, NULL, &place), -ENOMEM);
	pm_work_enter(before);
	pm_paths_done(&to);
	pm_paths_done(&from);
}

static void test_children_are_listed_by_number(void **state)
{
	enum { N = 500 };
	static uint32_t first[N + 1], next[N];
	struct pm_paths p;
	uint32_t listed = 0;
	assert_int_equal(pm_paths_init(&p, N), 0);
	while (p.n < N)
		pm_paths_child(&p, roll(p.n + 1) - 1, roll(N));
	pm_paths_link(&p, first, next);
	for (uint32_t parent = 0; parent <= N; parent++)
		for (uint32_t child = first[parent]; child != PM_NONE;
			child = next[child], listed++) {
			assert_int_equal((uint32_t)(p.items[child].parent + 1), parent);
			assert_true(next[child] > child);
		}
	assert_int_equal(listed, N);
	pm_paths_done(&p);
}

/* What is asked of malloc, by number of paths: not the room that is not touched. */
static void test_a_path_takes_at_most_64_bytes(void **state)
{
	struct pm_paths p;
	assert_int_equal(pm_paths_init(&p, PM_LIMIT_ITEMS), 0);
	for (uint32_t i = 0; i < 100000; i++) {
		pm_paths_child(&p, i % 100 == 0 ? PM_NONE : roll(i / 100 + 1), i);
		size_t bytes = p.n * (sizeof(*p.items) + sizeof(*p.children)) +
			p.n_slots * 2 * sizeof(uint32_t);
		assert_true(bytes <= 64 * (size_t)p.n + 512);
	}
	pm_paths_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_lead_where_a_search_through_all_leads),
		cmocka_unit_test(test_keys_of_one_place_in_an_unsalted_table_are_told_apart),
		cmocka_unit_test(test_a_long_chain_and_a_wide_top),
		cmocka_unit_test(test_beyond_the_limit_known_paths_are_still_found),
		cmocka_unit_test(test_parts_joined_in_order_are_the_whole),
		cmocka_unit_test(test_joining_below_a_path_with_other_keys),
		cmocka_unit_test(test_a_cancelled_join_ends),
		cmocka_unit_test(test_children_are_listed_by_number),
		cmocka_unit_test(test_a_path_takes_at_most_64_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
