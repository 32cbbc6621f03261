/* Tests formats/common/arena.c and map.c. */
#include "tests/unittest.h"

#include <errno.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/common/work.h"

static void test_arena_aligns_and_zeroes_whatever_was_carved_before(void **state)
{
	struct pm_arena a = {.block = NULL};
	for (size_t n = 0; n < 3000; n++) {
		assert_string_equal(
			pm_arena_printf(&a, "%s", n % 2 ? "odd" : "even"), n % 2 ? "odd" : "even");
		uint8_t *p = pm_arena_alloc(&a, n);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	pm_arena_done(&a);
	assert_null(a.block);
	assert_non_null(pm_arena_alloc(&a, 1)); /* usable again */
	pm_arena_done(&a);
}

/* ---- builds ---- */

static void count(void *n)
{
	++*(unsigned *)n;
}

struct built {
	struct pm_arena arena;
	unsigned n_ended, n_inner;
	bool inner; /* also fails an attempt inside */
	uint32_t *items;
	size_t n, room;
};

static void build_inner(void *context)
{
	struct built *b = context;
	b->n_inner++;
	pm_build_fail(pm_arena_scratch(pm_arena_scratch(&b->arena)), -EIO);
}

static void build(void *context)
{
	struct built *b = context;
	struct pm_arena *scratch = pm_arena_scratch(&b->arena);
	struct pm_strtab texts = pm_strtab_in(scratch);
	struct pm_map map = {.arena = scratch};
	struct pm_text text = {.arena = scratch};
	bool fresh;
	pm_arena_owns(scratch, count, &b->n_ended);
	for (uint32_t i = 0; i < 1000; i++) {
		pm_text_clear(&text);
		pm_text_printf(&text, "%u", i / 2);
		assert_int_equal(pm_strtab_add(&texts, pm_text_view(&text)), i / 2);
		assert_int_equal(*pm_map_put(&map, i / 2, i, &fresh), i / 2 * 2);
		pm_list_grow(&b->arena, &b->items, b->n, &b->room, sizeof(*b->items));
		b->items[b->n++] = i;
	}
	if (b->inner)
		pm_build_check(&b->arena, pm_build(&b->arena, build_inner, b));
	pm_map_done(&map);
	pm_arena_done(scratch);
	assert_int_equal(b->n_ended, 1);
}

static void test_build_makes_what_lists_and_tables_hold(void **state)
{
	struct built b = {.n = 0};
	assert_int_equal(pm_build(&b.arena, build, &b), 0);
	for (uint32_t i = 0; i < b.n; i++)
		assert_int_equal(b.items[i], i);
	pm_arena_done(&b.arena);
	assert_int_equal(b.n_ended, 1);
}

/* The attempt inside returns the code, which the build passes on; its scratch ends with it. */
static void test_build_that_fails_is_left_and_dropped(void **state)
{
	struct built b = {.inner = true};
	assert_int_equal(pm_build(&b.arena, build, &b), -EIO);
	assert_int_equal(b.n_inner, 1);
	assert_int_equal(b.n_ended, 0);
	pm_arena_done(&b.arena);
	assert_int_equal(b.n_ended, 1);
	assert_int_equal(b.arena.total, 0);
}

static void build_cancelled(void *context)
{
	struct pm_map map = {.arena = context};
	bool fresh;
	pm_map_put(&map, 1, 1, &fresh);
	fail_msg("was not cancelled");
}

static void test_build_is_left_where_work_is_cancelled(void **state)
{
	struct pm_arena a = {.block = NULL};
	struct pm_work work = {.cancelled = true}, *before = pm_work_enter(&work);
	assert_int_equal(pm_build(&a, build_cancelled, &a), -ENOMEM);
	struct pm_map map = {.arena = &a};
	bool fresh;
	assert_null(pm_map_put(&map, 1, 1, &fresh)); /* in no build */
	pm_work_enter(before);
	pm_arena_done(&a);
}

static void test_arena_keeps_small_things_together_around_a_big_one(void **state)
{
	struct pm_arena a = {.block = NULL};
	uint8_t *first = pm_arena_alloc(&a, 16);
	uint8_t *big = pm_arena_alloc(&a, (size_t)8 << 20);
	uint8_t *second = pm_arena_alloc(&a, 16);
	assert_ptr_equal(second, first + 16);
	memset(big, 1, (size_t)8 << 20);
	assert_in_range(
		a.total, 32 + (8 << 20), (8 << 20) + (8 << 10)); /* a small block beside it */
	pm_arena_done(&a);
}

static void test_arena_refuses_sizes_that_overflow(void **state)
{
	struct pm_arena a = {.block = NULL};
	assert_null(pm_arena_array(&a, SIZE_MAX / 2, 3));
	assert_null(pm_arena_alloc(&a, SIZE_MAX));
	assert_null(pm_arena_alloc(&a, SIZE_MAX - 8));
	pm_arena_done(&a);
}

static void test_arena_copy_of_nothing_is_an_empty_slice_somewhere(void **state)
{
	struct pm_arena a = {.block = NULL};
	struct pm_bytes b = pm_arena_copy(&a, (struct pm_bytes){NULL, 0});
	assert_non_null(b.p);
	assert_int_equal(b.len, 0);
	pm_arena_done(&a);
}

static void test_map_finds_what_was_put_and_nothing_else(void **state)
{
	struct pm_map m = {.slots = NULL};
	bool is_new;
	assert_null(pm_map_find(&m, 0));
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(*pm_map_put(&m, (uint64_t)i << 32, i, &is_new), i);
		assert_true(is_new);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(*pm_map_find(&m, (uint64_t)i << 32), i);
		assert_int_equal(*pm_map_put(&m, (uint64_t)i << 32, 7, &is_new), i);
		assert_false(is_new);
	}
	assert_int_equal(m.n, 100000);
	assert_null(pm_map_find(&m, 1));
	assert_null(pm_map_find(&m, UINT64_MAX));
	pm_map_done(&m);
	assert_null(pm_map_find(&m, 0));
}

static void test_strtab_counts_strings_in_order_of_first_sight(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		uint32_t index;
	} rows[] = {
		{"main", 4, 0},
		{"", 0, 1},
		{"mai", 3, 2},
		{"main", 4, 0},
		{"a\0b", 3, 3},
		{"a\0c", 3, 4},
		{NULL, 0, 1},
		{"a", 1, 5},
	};
	struct pm_strtab t = {.arena = NULL};
	assert_int_equal(pm_strtab_find(&t, pm_bytes_of("main")), UINT32_MAX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_bytes b = {(const uint8_t *)rows[i].text, rows[i].len};
		assert_int_equal(pm_strtab_add(&t, b), rows[i].index);
		assert_int_equal(pm_strtab_find(&t, b), rows[i].index);
	}
	assert_int_equal(t.n, 6);
	assert_int_equal(pm_strtab_find(&t, pm_bytes_of("no")), UINT32_MAX);
	assert_ptr_equal(t.items[0].p, rows[0].text); /* no arena: not copied */
	pm_strtab_done(&t);
}

static void test_strtab_copies_into_its_arena_and_survives_growing(void **state)
{
	struct pm_arena a = {.block = NULL};
	struct pm_strtab t = {.arena = &a};
	for (uint32_t i = 0; i < 50000; i++) {
		assert_int_equal(pm_strtab_add(&t, (struct pm_bytes){(uint8_t *)&i, sizeof(i)}), i);
		assert_ptr_not_equal(t.items[i].p, &i);
	}
	for (uint32_t i = 0; i < 50000; i++)
		assert_int_equal(
			pm_strtab_find(&t, (struct pm_bytes){(uint8_t *)&i, sizeof(i)}), i);
	pm_strtab_done(&t);
	pm_arena_done(&a);
}

static void test_long_texts_are_known_by_their_place_until_forgotten(void **state)
{
	static char text[PM_STRTAB_LONG + 2], same[PM_STRTAB_LONG + 2];
	struct pm_arena a = {.block = NULL};
	struct pm_strtab t = {.arena = &a};
	memset(text, 'x', sizeof(text));
	memset(same, 'x', sizeof(same));
	struct pm_bytes all = {(const uint8_t *)text, sizeof(text)}, shorter = all;
	shorter.len--;
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(pm_strtab_add_lasting(&t, all), 0);
		assert_int_equal(pm_strtab_add_lasting(&t, shorter), 1);
		assert_int_equal(pm_strtab_add_lasting(
					 &t, (struct pm_bytes){(const uint8_t *)same, all.len}),
			0);
	}
	assert_int_equal(pm_strtab_add_lasting(&t, all), 0);
	text[0] = 'y';
	assert_int_equal(pm_strtab_add_lasting(&t, all), 0); /* not looked through */
	pm_strtab_forget(&t);
	assert_int_equal(pm_strtab_add_lasting(&t, all), 2);
	for (unsigned i = 0; i < 2; i++) { /* short ones may change */
		text[0] = (char)('a' + i);
		assert_int_equal(pm_strtab_add_lasting(&t, (struct pm_bytes){all.p, 8}), 3 + i);
	}
	pm_strtab_done(&t);
	pm_arena_done(&a);
}

static void test_hashes_are_the_same_everywhere(void **state)
{
	assert_true(pm_hash_u64(0) == 0);
	assert_true(pm_hash_u64(1) == 0xb456bcfc34c2cb2cu);
	assert_true(pm_hash_bytes(pm_bytes_of("")) == pm_hash_u64(0xcbf29ce484222325u));
	assert_true(pm_hash_bytes(pm_bytes_of("a")) == pm_hash_u64(0xaf63dc4c8601ec8cu));
	assert_true(pm_hash_bytes(pm_bytes_of("foobar")) == pm_hash_u64(0x85944171f73967e8u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_aligns_and_zeroes_whatever_was_carved_before),
		cmocka_unit_test(test_build_makes_what_lists_and_tables_hold),
		cmocka_unit_test(test_build_that_fails_is_left_and_dropped),
		cmocka_unit_test(test_build_is_left_where_work_is_cancelled),
		cmocka_unit_test(test_arena_keeps_small_things_together_around_a_big_one),
		cmocka_unit_test(test_arena_refuses_sizes_that_overflow),
		cmocka_unit_test(test_arena_copy_of_nothing_is_an_empty_slice_somewhere),
		cmocka_unit_test(test_map_finds_what_was_put_and_nothing_else),
		cmocka_unit_test(test_strtab_counts_strings_in_order_of_first_sight),
		cmocka_unit_test(test_strtab_copies_into_its_arena_and_survives_growing),
		cmocka_unit_test(test_long_texts_are_known_by_their_place_until_forgotten),
		cmocka_unit_test(test_hashes_are_the_same_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
