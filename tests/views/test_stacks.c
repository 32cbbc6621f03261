/* Own costs of frames, and frames merged by name. */
#include "exports.h"

#include <math.h>
#include <string.h>

#include "fs/views/sums/stacks.h"

static struct pm_arena arena; /* what is made in a test, which ends with pm_arena_done */

static struct pmfs_stacks *stacks_of(
	struct pmfs_model *m, uint32_t column, uint32_t thread, uint32_t context)
{
	return pmfs_stacks_make(&arena, m, column, thread, context, NULL);
}

/* Own units by number of the context, for contexts 1 … n. */
static void assert_own(const struct pmfs_stacks *s, uint32_t n, const uint64_t *want)
{
	for (uint32_t number = 1; number <= n; number++) {
		uint32_t context = pm_tree_find(s->tree, number);
		assert_int_equal(pmfs_stacks_own(s, context), want[number - 1]);
	}
}

static void test_loops_and_lines_are_part_of_the_frame_above(void **state)
{
	static const uint64_t whole[] = {16, 0, 0, 30, 0, 30, 20, 4, 0};
	static const uint64_t second[] = {0, 0, 0, 0, 0, 10, 0, 0, 0};
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pmfs_stacks *s = stacks_of(m, 0, PM_NONE, PM_NONE);
	assert_own(s, 9, whole);
	assert_int_equal(pmfs_stacks_total(s), 100);
	assert_int_equal(pmfs_stacks_count_levels(&arena, s), 1 + 2 + 3 + 2 + 2);
	uint32_t main_ = pm_tree_find(s->tree, 1), solve = pm_tree_find(s->tree, 4);
	assert_int_equal(s->shown[pm_tree_find(s->tree, 3)], main_);
	assert_int_equal(pmfs_stacks_caller(s, solve), main_);
	assert_int_equal(pmfs_stacks_caller(s, main_), PM_NONE);
	assert_int_equal(pmfs_stacks_caller(s, pm_tree_find(s->tree, 6)), solve);
	s = stacks_of(m, 1, 1, PM_NONE); /* the exclusive column stands for the inclusive one */
	assert_own(s, 9, second);
	pm_arena_done(&arena);
	views_done(m, f);
}

static void test_subtree_begins_with_its_context_whatever_that_is(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	uint32_t line = pm_tree_find(tree, 3);
	struct pmfs_stacks *s = stacks_of(m, 0, PM_NONE, line);
	assert_int_equal(s->first, line);
	assert_int_equal(s->end - s->first, 5);
	assert_true(pmfs_stacks_is_frame(s, line));
	assert_int_equal(pmfs_stacks_caller(s, line), PM_NONE);
	assert_int_equal(pmfs_stacks_own(s, line), 5);
	assert_int_equal(pmfs_stacks_total(s), 85);
	pm_arena_done(&arena);
	views_done(m, f);
}

static void test_missing_and_impossible_values_become_what_is_below(void **state)
{
	static const uint64_t want[] = {0, 3, 5, 7, 0};
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "nothing stored", NAN);
	fake_timed(f, 2, 1, "infinite", INFINITY);
	f->threads_data[0].values[1].f = 15;
	fake_timed(f, 3, 2, "less than its child", 5);
	fake_timed(f, 4, 2, "plain", 7);
	fake_timed(f, 5, 1, "negative", -2);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pmfs_stacks *s = stacks_of(m, 0, 0, PM_NONE);
	assert_own(s, 5, want);
	f->threads_data[0].values[1].f = INFINITY; /* is then 5 + 7 */
	s = stacks_of(m, 0, 0, PM_NONE);
	assert_int_equal(pmfs_stacks_own(s, pm_tree_find(s->tree, 2)), 0);
	assert_int_equal(pmfs_stacks_total(s), 12);
	f->threads_data[0].values[2].f = 20; /* more than its parent's 15 */
	f->threads_data[0].values[1].f = 15;
	s = stacks_of(m, 0, 0, PM_NONE);
	assert_int_equal(pmfs_stacks_own(s, pm_tree_find(s->tree, 2)), 0);
	pm_arena_done(&arena);
	views_done(m, f);
}

static void test_counts_are_not_inclusive(void **state)
{
	struct fake *f = fake_program();
	uint32_t calls = fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
	fake_value(f, 0, 1, calls, 1);
	fake_value(f, 0, 3, calls, 5); /* of a line: its frame's */
	fake_value(f, 0, 4, calls, 7);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pmfs_stacks *s = stacks_of(m, 2, PM_NONE, PM_NONE);
	assert_string_equal(s->column->name, "calls");
	assert_int_equal(pmfs_stacks_own(s, pm_tree_find(s->tree, 1)), 6);
	assert_int_equal(pmfs_stacks_own(s, pm_tree_find(s->tree, 4)), 7);
	assert_int_equal(pmfs_stacks_total(s), 13);
	pm_arena_done(&arena);
	views_done(m, f);
}

static void test_units_are_rounded_and_bounded(void **state)
{
	struct pmfs_column seconds = {.export_scale = 1e9};
	struct pmfs_stacks s = {.column = &seconds};
	assert_int_equal(pmfs_stacks_units(&s, 1.5), 1500000000);
	assert_int_equal(pmfs_stacks_units(&s, 0.4e-9), 0);
	assert_int_equal(pmfs_stacks_units(&s, 0.6e-9), 1);
	assert_int_equal(pmfs_stacks_units(&s, -1), 0);
	assert_int_equal(pmfs_stacks_units(&s, NAN), 0);
	assert_int_equal(pmfs_stacks_units(&s, 1e300), INT64_MAX);
	assert_int_equal(pmfs_stacks_add(UINT64_MAX - 1, 2), UINT64_MAX);
	assert_int_equal(pmfs_stacks_add(1, 2), 3);
}

static void upper_case(struct pm_text *out, struct pm_bytes name)
{
	for (size_t i = 0; i < name.len; i++)
		pm_text_char(out, (char)(name.p[i] & ~0x20));
}

static void test_frames_of_one_name_are_one_node(void **state)
{
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "a", 10);
	fake_timed(f, 2, 1, "x", 6);
	fake_timed(f, 3, 2, "deep", 1);
	fake_timed(f, 4, 1, "X", 3);
	fake_timed(f, 5, 4, "deep", 2);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pmfs_stacks *s = stacks_of(m, 0, PM_NONE, PM_NONE);
	const struct pmfs_name_paths *p = pmfs_name_paths_make(&arena, s, upper_case);
	assert_int_equal(p->n, 4); /* the root, A, A;X, A;X;DEEP */
	assert_int_equal(p->parent[0], PM_NONE);
	assert_int_equal(pmfs_name_paths_name(p, 0).len, 0);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(p->parent[i], i - 1);
		assert_int_equal(p->child_start[i] - p->child_start[i - 1], 1);
		assert_int_equal(p->children[p->child_start[i - 1]], i);
	}
	assert_int_equal(p->child_start[4], p->child_start[3]);
	assert_true(pm_bytes_equal(pmfs_name_paths_name(p, 3), pm_bytes_of("DEEP")));
	assert_true(p->self[1] == 1 && p->self[2] == 6 && p->self[3] == 3);
	pm_arena_done(&arena);
	views_done(m, f);
}

static void test_base_names_are_no_longer_than_those_of_files(void **state)
{
	static char path[1000];
	struct pm_bytes all = {(const uint8_t *)path, sizeof(path)};
	memset(path, 'x', sizeof(path));
	assert_int_equal(pmfs_base_name(all).len, 255);
	path[sizeof(path) - 10] = '/';
	assert_int_equal(pmfs_base_name(all).len, 9);
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? '\xa9' : '\xc3'; /* é */
	assert_int_equal(pmfs_base_name(all).len, 254);
	all.len = 255;
	assert_int_equal(pmfs_base_name(all).len, 255);
}

static void test_nothing_has_no_stacks(void **state)
{
	struct fake *f = fake_with_thread();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pmfs_stacks *s = stacks_of(m, 0, PM_NONE, PM_NONE);
	assert_int_equal(pmfs_stacks_total(s), 0);
	const struct pmfs_name_paths *p = pmfs_name_paths_make(&arena, s, upper_case);
	assert_int_equal(p->n, 1);
	assert_int_equal(p->child_start[1], 0);
	pm_arena_done(&arena);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_and_lines_are_part_of_the_frame_above),
		cmocka_unit_test(test_subtree_begins_with_its_context_whatever_that_is),
		cmocka_unit_test(test_missing_and_impossible_values_become_what_is_below),
		cmocka_unit_test(test_counts_are_not_inclusive),
		cmocka_unit_test(test_units_are_rounded_and_bounded),
		cmocka_unit_test(test_frames_of_one_name_are_one_node),
		cmocka_unit_test(test_base_names_are_no_longer_than_those_of_files),
		cmocka_unit_test(test_nothing_has_no_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
