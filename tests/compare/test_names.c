/* fs/compare/names.c: a test for every rule, and names that no rule may touch. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/compare/names.h"

/* One for each rule, in its order: what it is given, what it leaves, and the number it finds. */
static const struct {
	const char *name, *want;
	uint64_t number;
} by_rule[] = {
	{"Domain::setup(int) [clone .isra.0]", "Domain::setup(int)", 0},
	{"solve.isra.0", "solve", 0},
	{"app::refine::h0123456789abcdef", "app::refine", 0},
	{"app[9f8e7d6c5b4a3210]::mesh::coarsen", "app::mesh::coarsen", 0},
	{"a.Order$$Lambda$14/0x0000000800c03000.apply", "a.Order$$Lambda.apply", 0},
	{"a.Order$$Lambda$14/12345.apply", "a.Order$$Lambda.apply", 0},
	{"a.Cart$$Lambda/0x00007f1200001000.run", "a.Cart$$Lambda.run", 0},
	{"a.Cart$$Lambda$7.run", "a.Cart$$Lambda.run", 0},
	{"com.sun.proxy.$Proxy12.find", "com.sun.proxy.$Proxy.find", 0},
	{"Repo$$EnhancerBySpringCGLIB$$1a2b3c4d.save", "Repo$$EnhancerBySpringCGLIB.save", 0},
	{"reflect.GeneratedMethodAccessor12.invoke", "reflect.GeneratedMethodAccessor.invoke", 0},
	{"reflect.GeneratedConstructorAccessor3.newInstance",
		"reflect.GeneratedConstructorAccessor.newInstance", 0},
	{"main::f[(eval 12)[app.pl:3]:1]", "main::f[(eval)[app.pl:3]:1]", 0},
	{"M::__ANON__[/opt/w1/lib/M.pm]", "M::__ANON__[M.pm]", 0},
	{"f[(eval 12345678)[app.pl:3]]", "f[(eval 12345678)[app.pl]]", 0},
	{"main::__ANON__[app.pl:13]", "main::__ANON__[app.pl]", 13},
	{"sweep._omp_fn.3", "sweep._omp_fn", 3},
	{"com.acme.Shop.lambda$check$20", "com.acme.Shop.lambda$check", 20},
	{"<unknown procedure> 0x1aac0 [libfoo.so]", "<unknown procedure> [libfoo.so]", 0x1aac0},
	{"libfoo.so+0x1aac0", "libfoo.so", 0x1aac0},
};

static struct pmfs_name_facts check(const char *name, const char *want)
{
	struct pm_text out = {.p = NULL};
	struct pmfs_name_facts facts;
	pmfs_family_name(pm_bytes_of(name), &out, &facts);
	pm_text_char(&out, '\0');
	assert_int_equal(pm_text_status(&out), 0);
	assert_string_equal(out.p, want);
	pm_text_done(&out);
	return facts;
}

static void test_every_rule(void **state)
{
	assert_int_equal(sizeof(by_rule) / sizeof(*by_rule), pmfs_n_name_rules);
	for (size_t i = 0; i < pmfs_n_name_rules; i++) {
		struct pmfs_name_facts facts = check(by_rule[i].name, by_rule[i].want);
		assert_int_equal(facts.part, pmfs_name_rules[i].part);
		assert_int_equal(facts.number, by_rule[i].number);
		assert_false(facts.cold);
	}
}

static void test_entry_points(void **state)
{
	for (size_t i = 0; i < pmfs_n_name_twins; i++) {
		check(pmfs_name_twins[i].name, pmfs_name_twins[i].same_as);
		check(pmfs_name_twins[i].same_as, pmfs_name_twins[i].same_as);
	}
	check("<program root>s", "<program root>s");
}

static void test_every_suffix_of_clones(void **state)
{
	static const char *const words[] = {
		"isra", "constprop", "part", "cold", "llvm", "lto_priv", "localalias"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		char name[64];
		snprintf(name, sizeof(name), "f.%s", words[i]);
		assert_int_equal(check(name, "f").cold, strcmp(words[i], "cold") == 0);
		snprintf(name, sizeof(name), "f.%s.12", words[i]);
		check(name, "f");
		snprintf(name, sizeof(name), "f(int) [clone .%s.3.4]", words[i]);
		check(name, "f(int)");
	}
	check("sort_keys.part.5.isra.2", "sort_keys");
	check("f() [clone .isra.0] [clone .cold]", "f()");
	check("app::run::h0123456789abcdef.llvm.123", "app::run");
	assert_true(check("f.part.0.cold", "f").cold);
	check("relax(D&) [clone ._omp_fn.7]", "relax(D&) [clone ._omp_fn]");
	struct pmfs_name_facts facts =
		check("main::__ANON__[(eval 47)[app.pl:3]:1]", "main::__ANON__[(eval)[app.pl:3]]");
	assert_int_equal(facts.part, PMFS_NAME_RUN); /* of several parts, the least certain one */
}

static void test_names_that_stay(void **state)
{
	static const char *const names[] = {"update.v2", "com.acme.Outer$1.run", "std::hash::h12",
		"evaluate 12 things", "tile_16x16", "step.israel", "step.partial", "main.func1",
		"array[10]", "CGLIB$$constructor", "f::h0123456789abcdef0", "a+0x", "", ".cold",
		"__ANON__[", "$$Lambda", "(eval )", "f[(eval 5f3a9c01)]", "lambda$",
		"::h0123456789abcdef"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check(names[i], names[i]);
}

/* Each suffix of clones could be the beginning of a chain that ends in a letter. */
static void test_a_long_name(void **state)
{
	enum { N = 100000 };
	char *name = malloc(N * 5 + 2);
	for (size_t i = 0; i < N; i++)
		memcpy(name + i * 5, ".isra", 5);
	memcpy(name + (size_t)N * 5, "x", 2);
	check(name, name);
	free(name);
}

static void test_modules(void **state)
{
	static const char *const modules[][2] = {{"<vdso>", "vdso"},
		{"libfoo-0123abcd9.so", "libfoo-.so"}, {"libc.so.6", "libc.so.6"}, {"", ""},
		{"vmlinux.deadbeef01", "vmlinux."}};
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		struct pm_text out = {.p = NULL};
		pmfs_tidy_module(pm_bytes_of(modules[i][0]), &out);
		pm_text_char(&out, '\0');
		assert_string_equal(out.p, modules[i][1]);
		pm_text_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_rule),
		cmocka_unit_test(test_entry_points),
		cmocka_unit_test(test_every_suffix_of_clones),
		cmocka_unit_test(test_names_that_stay),
		cmocka_unit_test(test_a_long_name),
		cmocka_unit_test(test_modules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
