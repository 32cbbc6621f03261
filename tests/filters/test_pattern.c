/* fs/filters/pattern.c: which names a pattern matches, and that it does so in linear time. */
#include "tests/unittest.h"

#include <string.h>

#include "fs/filters/pattern.h"

static bool name_matches(const char *pattern, const char *name)
{
	struct pmfs_pattern p;
	assert_true(pmfs_pattern_read(&p, pm_bytes_of(pattern)));
	return pmfs_pattern_has_name(&p, pm_bytes_of(name));
}

static void test_globs(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"solve", "solve", true},
		{"solve", "solver", false},
		{"solve*", "solver", true},
		{"*olve", "solve", true},
		{"s*l*e", "solvable", true},
		{"*", "", true},
		{"*", ".hidden", true},
		{"?", "\xc3\xa4", true},
		{"?", "ab", false},
		{"[ab]c", "bc", true},
		{"[!ab]c", "bc", false},
		{"[^ab]c", "xc", true},
		{"[a-f]", "d", true},
		{"[a-f]", "g", false},
		{"[]x]", "]", true},
		{"[\xc3\xa4-\xc3\xbc]", "\xc3\xb6", true},
		{"a[b", "a[b", true},
		{"a[b", "ab", false},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"a\\", "a\\", true},
		{"a\xe2\x88\x95"
		 "b",
			"a/b", true},
		{"a\xe2\x88\x95"
		 "b",
			"a\xe2\x88\x95"
			"b",
			true},
		{"operator\\*", "operator*", true},
		{"**a**", "bab", true},
		/* Without module, notes, parameters and return type. */
		{"__brk", "__brk [libc-2.28.so]", true},
		{"a::f", "void a::f(int, char const*) const [clone .isra.0] [liba.so]", true},
		{"f", "void a::f(int)", false},
		{"a::f(int)", "a::f(int)", true},
		/* Prefixes. */
		{"name:kind:x", "kind:x", true},
		{"module::f", "module::f", true},
		{"file::open", "file::open(int)", true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (name_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

static void test_prefixes(void **state)
{
	static const struct {
		const char *text, *rest;
		enum pmfs_pattern_of of;
	} cases[] = {
		{"module:libc*", "libc*", PMFS_PATTERN_MODULE},
		{"file:*.c", "*.c", PMFS_PATTERN_FILE},
		{"category:mpi", "mpi", PMFS_PATTERN_CATEGORY},
		{"kind:loop", "loop", PMFS_PATTERN_KIND},
		{"name:x", "x", PMFS_PATTERN_NAME},
		{"kinds:x", "kinds:x", PMFS_PATTERN_NAME},
		{"kind::x", "kind::x", PMFS_PATTERN_NAME},
	};
	struct pmfs_pattern p;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(pmfs_pattern_read(&p, pm_bytes_of(cases[i].text)));
		assert_int_equal(p.of, cases[i].of);
		assert_true(pm_bytes_equal(p.rest, pm_bytes_of(cases[i].rest)));
	}
	assert_true(pmfs_pattern_read(&p, pm_bytes_of("module:libc*")));
	assert_true(pmfs_pattern_has_path(&p, pm_bytes_of("/lib64/libc.so.6")));
	assert_true(pmfs_pattern_has_path(&p, pm_bytes_of("libc.so.6")));
	assert_false(pmfs_pattern_has_path(&p, pm_bytes_of("/libc/libm.so.6")));
}

static void test_names_that_are_no_patterns(void **state)
{
	char longest[PM_GLOB_SIZE + 1];
	struct pmfs_pattern p;
	(void)state;
	memset(longest, '*', sizeof(longest));
	assert_false(pmfs_pattern_read(&p, pm_bytes_of("")));
	assert_false(pmfs_pattern_read(&p, pm_bytes_of(".git")));
	assert_false(
		pmfs_pattern_read(&p, (struct pm_bytes){(const uint8_t *)longest, PM_GLOB_SIZE}));
	assert_true(pmfs_pattern_read(
		&p, (struct pm_bytes){(const uint8_t *)longest, PM_GLOB_SIZE - 1}));
	assert_true(pmfs_pattern_has_name(&p, pm_bytes_of("anything")));
}

/* Backtracking over each `*` would take longer than this machine will last. */
static void test_many_stars(void **state)
{
	char pattern[PM_GLOB_SIZE], name[4000];
	struct pmfs_pattern p;
	(void)state;
	for (size_t i = 0; i + 2 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	memset(name, 'a', sizeof(name));
	assert_true(pmfs_pattern_read(
		&p, (struct pm_bytes){(const uint8_t *)pattern, sizeof(pattern) - 1}));
	assert_false(
		pmfs_pattern_has_name(&p, (struct pm_bytes){(const uint8_t *)name, sizeof(name)}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_names_that_are_no_patterns),
		cmocka_unit_test(test_many_stars),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
