/* Tests formats/common/error.c. */
#include "tests/unittest.h"

#include <string.h>

#include "formats/common/reason.h"
#include "profmount/error.h"

static void test_first_writer_wins_and_code_is_returned(void **state)
{
	struct pm_error err = {.code = 0};
	assert_int_equal(pm_error_set(&err, -EINVAL, "a.db", 1, "first"), -EINVAL);
	assert_int_equal(pm_error_set(&err, -EIO, "b.db", 2, "second"), -EIO);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "first");
	assert_string_equal(err.file, "a.db");
	assert_int_equal(pm_error_set(NULL, -EIO, "b.db", 2, "nobody listens"), -EIO);
}

static void test_line_says_as_much_as_is_known(void **state)
{
	static const struct {
		const char *file;
		uint64_t offset;
		const char *line;
	} rows[] = {
		{"a.db", 0x1f0, "a.db+0x1f0: bad magic"},
		{"/some/folder/a.db", 0, "a.db+0x0: bad magic"},
		{"a.db", PM_NO_OFFSET, "a.db: bad magic"},
		{"folder/", PM_NO_OFFSET, "folder/: bad magic"},
		{NULL, PM_NO_OFFSET, "bad magic"},
		{NULL, 5, "bad magic"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_error err = {.code = 0};
		char line[1024];
		pm_error_set(&err, -EINVAL, rows[i].file, rows[i].offset, "bad %s", "magic");
		assert_string_equal(pm_error_line(&err, line, sizeof(line)), rows[i].line);
	}
}

static void test_long_texts_are_cut_and_end(void **state)
{
	struct pm_error err = {.code = 0};
	char text[2000], line[64];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	pm_error_set(&err, -EINVAL, text, PM_NO_OFFSET, "%s", text);
	assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(strlen(pm_error_line(&err, line, sizeof(line))), sizeof(line) - 1);
}

static void test_the_limit_of_memory_is_named_once(void **state)
{
	struct pm_error err = {.code = 0}, outer = {.code = 0};
	pm_reason_limit(128 << 20);
	pm_error_set(&err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	pm_error_set(&outer, -ENOMEM, "a.db", PM_NO_OFFSET, "%s", err.text);
	pm_reason_limit(0);
	assert_string_equal(
		outer.text, "no memory within the limit of 128 MiB (-o memory=SIZE) for the tree");
}

static void test_what_must_not_reach_a_terminal_is_replaced(void **state)
{
	struct pm_error err = {.code = 0};
	pm_error_set(&err, -EINVAL, "a\nb", PM_NO_OFFSET, "name %s",
		"\x1b[2J\x7f\xc3\xa9\xe2\x80\xae\xc2\x9b\x9b");
	assert_string_equal(err.file, "a\ufffdb");
	assert_string_equal(err.text, "name \ufffd[2J\ufffd\u00e9\ufffd\ufffd\ufffd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_writer_wins_and_code_is_returned),
		cmocka_unit_test(test_line_says_as_much_as_is_known),
		cmocka_unit_test(test_long_texts_are_cut_and_end),
		cmocka_unit_test(test_the_limit_of_memory_is_named_once),
		cmocka_unit_test(test_what_must_not_reach_a_terminal_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
