/* formats/common/json: commas, nesting, indentation. */
#include "formats/common/json.h"

#include "tests/unittest.h"
#include <math.h>

static void check_json(void (*write)(struct pm_json *), bool indented, const char *want)
{
	struct pm_text t = {NULL};
	struct pm_json j = {.out = &t, .indented = indented};
	write(&j);
	pm_text_char(&t, 0);
	assert_int_equal(pm_text_status(&t), 0);
	assert_string_equal(t.p, want);
	assert_int_equal(j.depth, 0);
	pm_text_done(&t);
}

static void key_after_key(struct pm_json *j)
{
	pm_json_open(j, '{');
	pm_json_key(j, "a");
	pm_json_key(j, "b");
	pm_json_null(j);
	pm_json_close(j, '}');
}

static void close_after_key(struct pm_json *j)
{
	pm_json_open(j, '{');
	pm_json_key(j, "a");
	pm_json_close(j, '}');
}

static void close_nothing(struct pm_json *j)
{
	pm_json_close(j, '}');
}

static void test_what_is_no_json_fails(void **state)
{
	void (*const cases[])(struct pm_json *) = {key_after_key, close_after_key, close_nothing};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pm_text t = {.p = NULL};
		struct pm_json j = {.out = &t};
		cases[i](&j);
		assert_true(t.failed);
		pm_text_done(&t);
	}
}

static void write_one_value(struct pm_json *j)
{
	pm_json_str(j, "x");
}

static void test_value_alone_has_no_punctuation(void **state)
{
	check_json(write_one_value, false, "\"x\"");
	check_json(write_one_value, true, "\"x\"");
}

static void write_every_kind(struct pm_json *j)
{
	pm_json_open(j, '[');
	pm_json_u64(j, UINT64_MAX);
	pm_json_i64(j, INT64_MIN);
	pm_json_f64(j, 0.5);
	pm_json_f64(j, NAN);
	pm_json_f64(j, -INFINITY);
	pm_json_bool(j, true);
	pm_json_bool(j, false);
	pm_json_null(j);
	pm_json_str(j, "a\"b");
	pm_json_text(j, (struct pm_bytes){NULL, 0});
	pm_json_raw(j, pm_bytes_of("{\"raw\":[]}"));
	pm_json_close(j, ']');
}

static void test_every_kind_of_value_is_separated(void **state)
{
	check_json(write_every_kind, false,
		"[18446744073709551615,-9223372036854775808,0.5,null,null,true,false,null,"
		"\"a\\\"b\",\"\",{\"raw\":[]}]");
}

static void write_nested(struct pm_json *j)
{
	pm_json_open(j, '{');
	pm_json_key(j, "empty");
	pm_json_open(j, '[');
	pm_json_close(j, ']');
	pm_json_key(j, "list");
	pm_json_open(j, '[');
	pm_json_u64(j, 1);
	pm_json_open(j, '{');
	pm_json_close(j, '}');
	pm_json_open(j, '{');
	pm_json_key_bytes(j, pm_bytes_of("k\n"));
	pm_json_raw(j, pm_bytes_of("2"));
	pm_json_close(j, '}');
	pm_json_close(j, ']');
	pm_json_key(j, "last");
	pm_json_null(j);
	pm_json_close(j, '}');
}

static void test_nested_levels_are_compact(void **state)
{
	check_json(
		write_nested, false, "{\"empty\":[],\"list\":[1,{},{\"k\\n\":2}],\"last\":null}");
}

static void test_nested_levels_are_indented_by_two(void **state)
{
	check_json(write_nested, true,
		"{\n"
		"  \"empty\": [],\n"
		"  \"list\": [\n"
		"    1,\n"
		"    {},\n"
		"    {\n"
		"      \"k\\n\": 2\n"
		"    }\n"
		"  ],\n"
		"  \"last\": null\n"
		"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_json_fails),
		cmocka_unit_test(test_value_alone_has_no_punctuation),
		cmocka_unit_test(test_every_kind_of_value_is_separated),
		cmocka_unit_test(test_nested_levels_are_compact),
		cmocka_unit_test(test_nested_levels_are_indented_by_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
