/* Tests formats/common/damage.c. */
#include "tests/unittest.h"

#include "formats/common/damage.h"
#include "profmount/error.h"
#include "profmount/limits.h"

static void test_rows_are_sorted_by_file_then_offset(void **state)
{
	static const struct {
		const char *file;
		uint64_t offset;
		const char *what;
	} rows[] = {
		{"a.db", 16, "first"},
		{"a.db", 300, "again at one place"},
		{"a.db", 300, "second"},
		{"a.db", PM_NO_OFFSET, "nowhere"},
		{"b.db", 8, "third"},
	};
	static const size_t order[] = {4, 1, 3, 0, 2};
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	for (size_t i = 0; i < 5; i++)
		pm_damage_add(&list, rows[order[i]].file, rows[order[i]].offset, 4, "%s",
			rows[order[i]].what);
	struct pm_damages all = pm_damage_rows(&list);
	assert_int_equal(all.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(all.rows[i].file, rows[i].file);
		assert_true(all.rows[i].offset == rows[i].offset);
		assert_string_equal(all.rows[i].what, rows[i].what);
		assert_int_equal(all.rows[i].bytes, 4);
	}
	pm_damage_done(&list);
}

static void test_no_damage_is_no_rows(void **state)
{
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	assert_int_equal(pm_damage_rows(&list).n, 0);
	pm_damage_done(&list);
}

static void test_file_names_and_texts_are_copied(void **state)
{
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	char name[] = "trace.db", what[2000];
	memset(what, 'x', sizeof(what) - 1);
	what[sizeof(what) - 1] = 0;
	pm_damage_add(&list, name, 0, 1, "%s", what);
	pm_damage_add(&list, NULL, 0, 1, "of no file");
	name[0] = what[0] = '!';
	struct pm_damages all = pm_damage_rows(&list);
	assert_string_equal(all.rows[0].file, "");
	assert_string_equal(all.rows[1].file, "trace.db");
	assert_int_equal(all.rows[1].what[0], 'x');
	assert_true(strlen(all.rows[1].what) < 1000); /* long texts are cut */
	pm_damage_done(&list);
}

static void test_last_row_counts_what_the_limit_kept_out(void **state)
{
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	for (uint64_t i = 0; i < PM_LIMIT_DAMAGE + 23; i++)
		pm_damage_add(&list, "z", i, PM_NO_OFFSET, "broken");
	struct pm_damages all = pm_damage_rows(&list);
	assert_int_equal(all.n, PM_LIMIT_DAMAGE);
	assert_int_equal(all.rows[all.n - 2].offset, PM_LIMIT_DAMAGE - 2);
	assert_true(all.rows[all.n - 1].offset == PM_NO_OFFSET);
	assert_string_equal(all.rows[all.n - 1].what, "24 more places are damaged and not listed");
	pm_damage_done(&list);
}

static void *add_many(void *list)
{
	for (uint64_t i = 0; i < 1000; i++)
		pm_damage_add(list, "shared", i, 1, "row %d", (int)i);
	return NULL;
}

static void test_several_threads_add_without_losing_rows(void **state)
{
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	pthread_t threads[4];
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, &list), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	struct pm_damages all = pm_damage_rows(&list);
	assert_int_equal(all.n, 4000);
	for (size_t i = 0; i < all.n; i++)
		assert_int_equal(all.rows[i].offset, i / 4);
	pm_damage_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sorted_by_file_then_offset),
		cmocka_unit_test(test_no_damage_is_no_rows),
		cmocka_unit_test(test_file_names_and_texts_are_copied),
		cmocka_unit_test(test_last_row_counts_what_the_limit_kept_out),
		cmocka_unit_test(test_several_threads_add_without_losing_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
