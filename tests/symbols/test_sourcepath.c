#include "tests/unittest.h"

#include "formats/symbols/internal.h"

static void paths_are_joined_and_plain(void **state)
{
	static const struct {
		const char *folder, *path, *want;
	} rows[] = {
		{"/build", "a.c", "/build/a.c"},
		{"/build/", "./a.c", "/build/a.c"},
		{"/src/build", "../lib//a.h", "/src/lib/a.h"},
		{"/build", "/usr/bin/../lib/gcc/12/../../../include/c++", "/usr/include/c++"},
		{"/", "a.c", "/a.c"},
		{"/", "../../a.c", "/a.c"},
		{"/a", "..", "/"},
		{"/a/b", "../..", "/"},
		{"", "../../a.c", "../../a.c"},
		{"", "x/../../a.c", "../a.c"},
		{"build", "../../a.c", "../a.c"},
		{"", "...", "..."},
		{"/build", "..a/b..", "/build/..a/b.."},
		{"/build", "", ""},
		{"", "", ""},
	};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		sym_source_path(&t, pm_bytes_of(rows[i].folder), pm_bytes_of(rows[i].path));
		assert_false(t.failed);
		pm_text_char(&t, '\0');
		assert_string_equal(t.p, rows[i].want);
	}
	pm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(paths_are_joined_and_plain)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
