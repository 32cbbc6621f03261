/* M.collapsedstack.txt: every path once, sorted bytewise, whole numbers. */
#include "exports.h"

#include <stdio.h>
#include <string.h>

#include "profmount/limits.h"

#define FOLDED "*.collapsedstack.txt"

static void test_paths_have_their_own_costs(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, FOLDED, 0,
		"main 16\n"
		"main;init 4\n"
		"main;io 20\n"
		"main;solve 30\n"
		"main;solve;solve 30\n");
	assert_thread_export(m, FOLDED, 1, 0, "main;solve;solve 10\n");
	views_done(m, f);
}

static void test_order_is_that_of_bytes_not_of_siblings(void **state)
{
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "a", 10);
	fake_timed(f, 2, 1, "z", 3);
	fake_timed(f, 3, 0, "a b", 20);
	fake_timed(f, 4, 3, "c", 5);
	fake_timed(f, 5, 0, "a<", 30);
	fake_timed(f, 6, 0, "\xc3\xa4", 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, FOLDED, 0,
		"a 7\n"
		"a b 15\n"
		"a b;c 5\n"
		"a;z 3\n"
		"a< 30\n"
		"\xc3\xa4 1\n");
	views_done(m, f);
}

static void test_names_keep_to_their_place(void **state)
{
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "std::map<int, char>::find(int const&) const", 1);
	fake_timed(f, 2, 0, "two;frames", 2);
	fake_timed(f, 3, 0, "two:frames", 3); /* the same to the reader */
	fake_timed(f, 4, 0, "tab\tand\r\nlines", 4);
	fake_timed(f, 5, 0, "\"quoted\" \xff", 5);
	fake_timed(f, 6, 0, "", 6);
	fake_timed(f, 7, 0, "ends with 7", 7);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, FOLDED, 0,
		"\"quoted\" \xef\xbf\xbd 5\n"
		"(unknown) 6\n"
		"ends with 7 7\n"
		"std::map<int, char>::find(int const&) const 1\n"
		"tab and  lines 4\n"
		"two:frames 5\n");
	views_done(m, f);
}

static void test_seconds_are_nanoseconds(void **state)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "CPUTIME (sec)", "sec");
	fake_thread(f, 0, 0);
	fake_timed(f, 1, 0, "main", 0.3);
	fake_timed(f, 2, 1, "leaf", 0.1);
	fake_timed(f, 3, 1, "less than can be shown", 1e-10);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, FOLDED, 0, "main 200000000\nmain;leaf 100000000\n");
	views_done(m, f);
}

static void test_deep_recursion_needs_no_stack(void **state)
{
	enum { DEPTH = 3000 };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	uint32_t function = fake_function(f, "f", NULL, 0);
	for (uint32_t i = 1; i <= DEPTH; i++)
		fake_call(f, i, i - 1, function);
	fake_value(f, 0, DEPTH, 1, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, FOLDED, 0, 0, &text), 0);
	assert_int_equal(text.len, 2 * PM_LIMIT_STACK_LEVELS + 2); /* f;f;…;f 1 */
	pm_text_done(&text);
	views_done(m, f);
}

/* What lies deeper is cost of the last level, so that nothing is lost. */
static void test_paths_end_after_so_many_levels(void **state)
{
	enum { DEPTH = PM_LIMIT_STACK_LEVELS + 7 };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	uint32_t function = fake_function(f, "f", NULL, 0);
	for (uint32_t i = 1; i <= DEPTH; i++) {
		fake_call(f, i, i - 1, function);
		fake_value(f, 0, i, 1, DEPTH - i + 1);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, FOLDED, 0, 0, &text), 0);
	assert_int_equal(text.len, PM_LIMIT_STACK_LEVELS * (PM_LIMIT_STACK_LEVELS + 3));
	assert_memory_equal(text.p + text.len - 4, "f 8\n", 4);
	pm_text_done(&text);
	views_done(m, f);
}

/* Every call of the last level is another function, and so a path of its own. */
static void test_paths_that_are_too_long_together_are_refused(void **state)
{
	enum { DEPTH = PM_LIMIT_STACK_LEVELS - 1, WIDTH = 20000 };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	char name[20];
	uint32_t function = fake_function(
		f, "a name of sixty bytes, as are common where there are templates", NULL, 0);
	for (uint32_t i = 1; i <= DEPTH; i++)
		fake_call(f, i, i - 1, function);
	for (uint32_t i = 1; i <= WIDTH; i++) {
		snprintf(name, sizeof(name), "%u", i);
		fake_call(f, DEPTH + i, DEPTH, fake_function(f, name, NULL, 0));
		fake_value(f, 0, DEPTH + i, 1, 1);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, FOLDED, 0, 0, &text), -EFBIG);
	assert_null(text.p);
	views_done(m, f);
}

static void test_nothing_is_an_empty_file(void **state)
{
	struct fake *f = fake_with_thread();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, FOLDED, 0, "");
	views_done(m, f);
}

static void test_broken_tree_is_an_error(void **state)
{
	struct fake *f = fake_program();
	struct pm_text text;
	f->tree_error = -EIO;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, FOLDED, 0, 0, &text), -EIO);
	pm_text_done(&text);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_have_their_own_costs),
		cmocka_unit_test(test_order_is_that_of_bytes_not_of_siblings),
		cmocka_unit_test(test_names_keep_to_their_place),
		cmocka_unit_test(test_seconds_are_nanoseconds),
		cmocka_unit_test(test_deep_recursion_needs_no_stack),
		cmocka_unit_test(test_paths_end_after_so_many_levels),
		cmocka_unit_test(test_paths_that_are_too_long_together_are_refused),
		cmocka_unit_test(test_nothing_is_an_empty_file),
		cmocka_unit_test(test_broken_tree_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
