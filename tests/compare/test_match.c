/* fs/compare/match.c: which functions, modules and files are the same. */
#include "tests/unittest.h"

#include "fs/compare/match.h"

static uint32_t add(struct pmfs_match *m, enum pmfs_side side, const char *name, const char *module,
	const char *file)
{
	const struct pm_bytes text[3] = {pm_bytes_of(name), pm_bytes_of(module), pm_bytes_of(file)};
	uint32_t spelling;
	assert_int_equal(pmfs_match_add(m, side, side, text, &spelling), 0);
	return spelling;
}

static uint32_t group(const struct pmfs_match *m, uint32_t spelling)
{
	return m->spellings[spelling].group;
}

static void test_functions_by_name_module_and_file(void **state)
{
	struct pmfs_match m = {.exact = false};
	uint32_t a = add(&m, PMFS_BASE, "init", "/opt/1/bin/app", "/s1/one.c");
	uint32_t b = add(&m, PMFS_BASE, "init", "/opt/1/bin/app", "/s1/two.c");
	uint32_t c = add(&m, PMFS_OTHER, "init", "/opt/2/bin/app", "/s2/one.c");
	uint32_t d = add(&m, PMFS_OTHER, "init", "/opt/2/lib/lib.so", "/s2/one.c");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_equal(m.n_groups, 3);
	assert_int_equal(group(&m, a), group(&m, c));
	assert_int_not_equal(group(&m, a), group(&m, b));
	assert_int_not_equal(group(&m, c), group(&m, d));
	assert_int_equal(m.groups[group(&m, a)].sides, 3);
	assert_int_equal(m.groups[group(&m, a)].shown, c);
	pmfs_match_done(&m);
}

static void test_places_count_where_both_sides_know_them(void **state)
{
	struct pmfs_match m = {.exact = false};
	uint32_t a = add(&m, PMFS_BASE, "work", "", "");
	uint32_t b = add(&m, PMFS_OTHER, "work", "/bin/app", "/s/work.c");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_equal(group(&m, a), group(&m, b));
	pmfs_match_done(&m);
}

static void test_folders_that_tell_files_apart(void **state)
{
	struct pmfs_match m = {.exact = false};
	uint32_t a = add(&m, PMFS_BASE, "init", "app", "/1/src/a/util.c");
	uint32_t b = add(&m, PMFS_BASE, "init", "app", "/1/src/b/util.c");
	uint32_t c = add(&m, PMFS_OTHER, "init", "app", "/2/src/b/util.c");
	uint32_t d = add(&m, PMFS_OTHER, "main", "app", "/2/src/c/main.c");
	uint32_t e = add(&m, PMFS_BASE, "main", "app", "/1/src/main.c");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_not_equal(group(&m, a), group(&m, b));
	assert_int_equal(group(&m, b), group(&m, c));
	assert_int_equal(group(&m, d), group(&m, e));
	pmfs_match_done(&m);
}

/* The same program was built in two folders each time: nothing but base names is the same. */
static void test_folders_that_say_nothing(void **state)
{
	struct pmfs_match m = {.exact = true};
	uint32_t a = add(&m, PMFS_BASE, "main", "/opt/app-1.0/bin/app", "");
	uint32_t b = add(&m, PMFS_BASE, "init", "/opt0/bin/app", "");
	uint32_t c = add(&m, PMFS_OTHER, "main", "/home/me/app", "");
	uint32_t d = add(&m, PMFS_OTHER, "init", "/opt1/bin/app", "");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_equal(group(&m, a), group(&m, c));
	assert_int_equal(group(&m, b), group(&m, d));
	assert_int_equal(m.n_groups, 2);
	pmfs_match_done(&m);
}

static void test_rules_join_what_is_left_alone(void **state)
{
	struct pmfs_match m = {.exact = false};
	uint32_t a = add(&m, PMFS_BASE, "fill._omp_fn.0", "", "");
	uint32_t b = add(&m, PMFS_BASE, "fill._omp_fn.1", "", "");
	uint32_t c = add(&m, PMFS_OTHER, "fill._omp_fn.0", "", "");
	uint32_t d = add(&m, PMFS_OTHER, "fill._omp_fn.2", "", "");
	uint32_t e = add(&m, PMFS_BASE, "two.isra.0", "", "");
	uint32_t f = add(&m, PMFS_BASE, "two.constprop.1", "", "");
	uint32_t g = add(&m, PMFS_OTHER, "two", "", "");
	uint32_t h = add(&m, PMFS_BASE, "lone._omp_fn.0", "", "");
	uint32_t i = add(&m, PMFS_BASE, "lone._omp_fn.1", "", "");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_equal(group(&m, a), group(&m, c));
	assert_int_equal(group(&m, b), group(&m, d));
	assert_int_not_equal(group(&m, a), group(&m, b));
	assert_int_equal(group(&m, e), group(&m, g));
	assert_int_equal(group(&m, f), group(&m, g));
	assert_int_equal(m.groups[group(&m, g)].n_names, 3);
	assert_int_not_equal(group(&m, h), group(&m, i));
	pmfs_match_done(&m);
}

static void test_exact_joins_nothing(void **state)
{
	struct pmfs_match m = {.exact = true};
	uint32_t a = add(&m, PMFS_BASE, "two.isra.0", "", "");
	uint32_t b = add(&m, PMFS_OTHER, "two", "", "");
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_not_equal(group(&m, a), group(&m, b));
	pmfs_match_done(&m);
}

static void test_nothing(void **state)
{
	struct pmfs_match m = {.exact = false};
	assert_int_equal(pmfs_match_finish(&m), 0);
	assert_int_equal(m.n_groups, 0);
	pmfs_match_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_by_name_module_and_file),
		cmocka_unit_test(test_places_count_where_both_sides_know_them),
		cmocka_unit_test(test_folders_that_tell_files_apart),
		cmocka_unit_test(test_folders_that_say_nothing),
		cmocka_unit_test(test_rules_join_what_is_left_alone),
		cmocka_unit_test(test_exact_joins_nothing),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
