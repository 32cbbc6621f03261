/* Classes that streams describe: versions, inheritance, structs, types, hostile descriptions. */
#include "tests/htdump/test.h"

#include <stdio.h>
#include <string.h>

#define OWN HTDW_OWN

static void test_fields_of_bases_come_first(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_everything(&w, false, false);
	struct pm_profile p = written_open(&w);
	assert_row(&p, "classes/Child/fields.csv", 0, "0|8|STRING|const char*|s");
	assert_row(&p, "classes/Child/fields.csv", 1, "1|1|UNSIGNED_INTEGER|uint8_t|b");
	assert_rows(&p, "classes/Child/fields.csv", 3);
	assert_row(&p, "raw/classes.csv", 11, "11|2|Inner|Child");
	assert_row(&p, "classes/Child/events.csv", 0, "43|1000004200|41|100|8|9|child");
	stream_close(&p);
	htdw_done(&w);
}

static void test_taken_column_names_get_a_number(void **state)
{
	struct htdw w = {.p = NULL};
	struct pm_doc doc;
	static const char *const want[] = {
		"seq", "timestamp", "id", "time_ns", "id_2", "x", "x_2_2", "x_3", "x_2"};
	htdw_begin(&w, false, false);
	htdw_klass(&w, OWN, "Own", 5);
	htdw_field(&w, OWN, "uint8_t", "id", 1, HTDW_UNSIGNED);
	htdw_field(&w, OWN, "uint8_t", "x", 1, HTDW_UNSIGNED);
	htdw_field(&w, OWN, "const char*", "x_2", 8, HTDW_STRING);
	htdw_field(&w, OWN, "uint8_t", "x_2", 1, HTDW_UNSIGNED);
	htdw_field(&w, OWN, "uint8_t", "x", 1, HTDW_UNSIGNED);
	struct pm_profile p = written_open(&w);
	assert_true(stream_document(&p, "classes/Own/events.csv", &doc));
	assert_int_equal(doc.table.n_columns, 9);
	for (uint32_t i = 0; i < 9; i++)
		assert_string_equal(doc.table.columns[i], want[i]);
	stream_close(&p);
	htdw_done(&w);
}

static void test_late_fields_extend_a_version(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_klass(&w, OWN, "Grow", 1);
	htdw_field(&w, OWN, "uint8_t", "x", 1, HTDW_UNSIGNED);
	htdw_event(&w, OWN);
	htdw_number(&w, 1, 1);
	htdw_field(&w, OWN, "uint8_t", "y", 1, HTDW_UNSIGNED);
	htdw_event(&w, OWN);
	htdw_number(&w, 2, 1);
	htdw_number(&w, 3, 1);
	struct pm_profile p = written_open(&w);
	assert_row(&p, "raw/events.csv", 27, "27|1285|9|1000002600|25|Grow|x=1");
	assert_row(&p, "classes/Grow/events.csv", 0, "27|1000002600|25|0|1|");
	assert_row(&p, "classes/Grow/events.csv", 1, "29|1000002800|27|200|2|3");
	assert_rows(&p, "counters/Grow.x.csv", 2);
	assert_row(&p, "counters/Grow.y.csv", 0, "200|3");
	assert_rows(&p, "counters/Grow.y.csv", 1);
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
}

static void own(struct htdw *w, const char *name, const char *field, uint64_t value)
{
	htdw_klass(w, OWN, name, 1);
	htdw_field(w, OWN, "uint8_t", field, 1, HTDW_UNSIGNED);
	htdw_event(w, OWN);
	htdw_number(w, value, 1);
}

static void test_series_are_counters_instants_and_fields_of_calls(void **state)
{
	struct htdw w = {.p = NULL};
	const struct pm_series *series;
	size_t n;
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, 5, 5, "plain"); /* has no fields of its own */
	own(&w, "Load", "x", 1);
	htdw_klass(&w, OWN + 1, "Mark", 1);
	htdw_field(&w, OWN + 1, "const char*", "what", 8, HTDW_STRING);
	htdw_event(&w, OWN + 1);
	htdw_text(&w, "here");
	htdw_klass(&w, OWN + 2, "Io", 4);
	htdw_field(&w, OWN + 2, "uint64_t", "duration", 8, HTDW_UNSIGNED);
	htdw_field(&w, OWN + 2, "uint32_t", "thread_id", 4, HTDW_UNSIGNED);
	htdw_field(&w, OWN + 2, "uint8_t", "bytes", 1, HTDW_UNSIGNED);
	htdw_field(&w, OWN + 2, "const char*", "label", 8, HTDW_STRING);
	htdw_event(&w, OWN + 2);
	htdw_number(&w, 10, 8);
	htdw_number(&w, 1, 4);
	htdw_number(&w, 9, 1);
	htdw_text(&w, "read");
	struct pm_profile p = written_open(&w);
	static const enum pm_series_kind kinds[] = {
		PM_SERIES_COUNTER, PM_SERIES_INSTANT, PM_SERIES_CALLS};
	static const char *const fields[] = {"x", "what", "bytes"};
	assert_int_equal(pm_profile_series(&p, &series, &n, NULL), 0);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(series[i].kind, kinds[i]);
		assert_int_equal(series[i].n, 1);
		assert_string_equal(series[i].table.columns[series[i].time], "time_ns");
		for (uint32_t k = 0; k < series[i].table.n_columns; k++)
			assert_true(series[i].fields[k] ==
				(strcmp(series[i].table.columns[k], fields[i]) == 0));
	}
	stream_close(&p);
	htdw_done(&w);
}

static void test_only_other_descriptions_begin_a_version(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	own(&w, "Own", "x", 1);
	own(&w, "Own", "x", 2);
	own(&w, "Own", "y", 3);
	own(&w, "Other", "y", 4);
	struct pm_profile p = written_open(&w);
	assert_rows(&p, "raw/classes.csv", 12);
	assert_row(&p, "raw/classes.csv", 9, "9|1|HT_Event|Own");
	assert_row(&p, "raw/classes.csv", 10, "9|1|HT_Event|Own");
	assert_row(&p, "raw/classes.csv", 11, "9|1|HT_Event|Other");
	assert_rows(&p, "counters/Own.x.csv", 2);
	assert_row(&p, "counters/Own~2.y.csv", 0, "600|3");
	assert_row(&p, "counters/Other.y.csv", 0, "900|4");
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
}

/* A field, the value's bytes, and how they are shown. */
static const struct shown {
	const char *type;
	uint64_t size;
	enum htdw_type data_type;
	const char *bytes;
	const char *want;
} shown[] = {
	{"int8_t", 1, HTDW_INTEGER, "\xff", "v=-1"},
	{"uint8_t", 1, HTDW_UNSIGNED, "\xff", "v=255"},
	{"uint32_t", 4, HTDW_INTEGER, "\xff\xff\xff\xff", "v=4294967295"},
	{"HT_ThreadId", 4, HTDW_INTEGER, "\xff\xff\xff\xff", "v=4294967295"},
	{"HT_Boolean", 4, HTDW_INTEGER, "\xff\xff\xff\xff", "v=-1"},
	{"int64_t", 8, HTDW_INTEGER, "\xfe\xff\xff\xff\xff\xff\xff\xff", "v=-2"},
	{"char", 4, HTDW_INTEGER, "abc\xff", "v=[97,98,99,-1]"},
	{"uint16_t", 4, HTDW_UNSIGNED, "\1\0\2\0", "v=[1,2]"},
	{"odd", 3, HTDW_UNSIGNED, "\1\2\3", "v=[1,2,3]"},
	{"uint32_t", 0, HTDW_UNSIGNED, "", "v=[]"},
	{"float", 4, HTDW_DOUBLE, "\0\0\xc0\x3f", "v=1.5"},
	{"float", 4, HTDW_FLOAT, "\0\0\x80\x7f", "v=inf"},
	{"double", 8, HTDW_DOUBLE, "\0\0\0\0\0\0\xf8\x7f", "v=nan"},
	{"float", 8, HTDW_FLOAT, "\0\0\x80\x3f\0\0\0\x40", "v=[1,2]"},
	{"long double", 2, HTDW_DOUBLE, "\1\2", "v=[1,2]"},
	{"void*", 4, HTDW_POINTER, "\0\x10\0\0", "v=0x1000"},
	{"new", 2, (enum htdw_type)50, "\1\0", "v=[1,0]"},
	{"const char*", 8, HTDW_STRING, "a;b\\c\nd", "v=a\\;b\\\\c\\nd"},
};

static void test_values_are_shown_by_their_types(void **state)
{
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const struct shown *s = &shown[i];
		struct htdw w = {.p = NULL};
		char want[200];
		htdw_begin(&w, false, false);
		htdw_klass(&w, OWN, "Own", 2);
		htdw_field(&w, OWN, s->type, "v", s->size, s->data_type);
		htdw_field(&w, OWN, "uint8_t", "tail", 1, HTDW_UNSIGNED);
		size_t at = htdw_event(&w, OWN);
		bool text = s->data_type == HTDW_STRING;
		htdw_bytes(&w, s->bytes, text ? strlen(s->bytes) + 1 : s->size);
		htdw_number(&w, 77, 1);
		struct pm_profile p = written_open(&w);
		snprintf(want, sizeof(want), "28|%zu|9|1000002700|26|Own|%s;tail=77", at, s->want);
		assert_row(&p, "raw/events.csv", 28, want);
		assert_null(stream_drain(&p));
		stream_close(&p);
		htdw_done(&w);
	}
}

/* A description of which no event can be read, and what damage.csv says. */
static const struct hostile {
	const char *name;
	const char *type;
	uint64_t size;
	enum htdw_type data_type;
	const char *what;
} hostile[] = {
	{"a struct of itself", "Own", 8, HTDW_STRUCT, "has structs nested too deeply"},
	{"an unknown struct", "Nowhere", 8, HTDW_STRUCT, "contains a struct that is not described"},
	{"a huge field", "uint8_t", UINT64_MAX, HTDW_UNSIGNED, "has a field that is too large"},
};

static void test_classes_that_cannot_be_read_are_damage(void **state)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct htdw w = {.p = NULL};
		htdw_begin(&w, false, false);
		htdw_klass(&w, OWN, "Own", 1);
		htdw_field(&w, OWN, hostile[i].type, "x", hostile[i].size, hostile[i].data_type);
		htdw_call_text(&w, 1, 1000004000, 1, "before");
		size_t at = htdw_event(&w, OWN);
		size_t after = w.len;
		htdw_call_text(&w, 1, 1000005000, 1, "after");
		struct pm_profile p = written_open(&w);
		struct pm_damages d = damages_of(&p);
		assert_int_equal(d.n, 1);
		assert_int_equal(d.rows[0].offset, at);
		assert_int_equal(d.rows[0].bytes, after - at);
		assert_non_null(strstr(d.rows[0].what, hostile[i].what));
		assert_rows(&p, "classes/HT_CallstackStringEvent/events.csv", 2);
		assert_null(stream_drain(&p));
		stream_close(&p);
		htdw_done(&w);
	}
}

static void test_a_class_with_a_field_of_impossible_size_keeps_its_columns(void **state)
{
	struct htdw w = {.p = NULL};
	struct pm_doc doc;
	htdw_begin(&w, false, false);
	htdw_klass(&w, OWN, "Own", 2);
	htdw_field(&w, OWN, "uint8_t", "x", UINT64_MAX, HTDW_UNSIGNED);
	htdw_field(&w, OWN, "uint8_t", "y", 1, HTDW_UNSIGNED);
	htdw_call_text(&w, 1, 1000004000, 1, "before");
	htdw_event(&w, OWN);
	htdw_call_text(&w, 1, 1000005000, 1, "after");
	struct pm_profile p = written_open(&w);
	assert_int_equal(damages_of(&p).n, 1);
	assert_true(stream_document(&p, "classes/Own/events.csv", &doc));
	assert_int_equal(doc.table.n_columns, 6);
	assert_string_equal(doc.table.columns[4], "y");
	assert_string_equal(doc.table.columns[5], "x");
	assert_rows(&p, "classes/Own/events.csv", 0);
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
}

/* It can be no counter, and no duration: only its bytes are known. */
static void test_a_field_of_an_unknown_type_is_damage_and_bytes(void **state)
{
	struct htdw w = {.p = NULL};
	char want[200];
	htdw_begin(&w, false, false);
	htdw_klass(&w, OWN, "Own", 2);
	size_t at = w.len;
	htdw_field(&w, OWN, "uint32_t", "v", 4, (enum htdw_type)42);
	size_t end = w.len;
	htdw_field(&w, OWN, "uint8_t", "tail", 1, HTDW_UNSIGNED);
	size_t event = htdw_event(&w, OWN);
	htdw_bytes(&w, "\1\2\3\4\115", 5);
	struct pm_profile p = written_open(&w);
	struct pm_damages d = damages_of(&p);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.rows[0].offset, at);
	assert_int_equal(d.rows[0].bytes, end - at);
	assert_non_null(strstr(d.rows[0].what, "unknown data type (42)"));
	snprintf(want, sizeof(want), "28|%zu|9|1000002700|26|Own|v=[1,2,3,4];tail=77", event);
	assert_row(&p, "raw/events.csv", 28, want);
	assert_rows(&p, "counters/Own.tail.csv", 1);
	struct pm_doc doc;
	assert_false(stream_document(&p, "counters/Own.v.csv", &doc));
	stream_close(&p);
	htdw_done(&w);
}

/* 64 levels of two structs each: 2^64 fields, if somebody counted them. */
static void test_structs_that_multiply_are_bounded(void **state)
{
	struct htdw w = {.p = NULL};
	char name[16], inner[16];
	htdw_begin(&w, false, false);
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "S%u", i);
		snprintf(inner, sizeof(inner), "S%u", i + 1);
		htdw_klass(&w, OWN + i, name, 2);
		htdw_field(&w, OWN + i, inner, "a", 8, HTDW_STRUCT);
		htdw_field(&w, OWN + i, inner, "b", 8, HTDW_STRUCT);
	}
	htdw_klass(&w, OWN + 60, "S60", 0);
	htdw_event(&w, OWN);
	struct pm_profile p = written_open(&w);
	assert_int_equal(damages_of(&p).n, 1);
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_of_bases_come_first),
		cmocka_unit_test(test_taken_column_names_get_a_number),
		cmocka_unit_test(test_late_fields_extend_a_version),
		cmocka_unit_test(test_series_are_counters_instants_and_fields_of_calls),
		cmocka_unit_test(test_only_other_descriptions_begin_a_version),
		cmocka_unit_test(test_values_are_shown_by_their_types),
		cmocka_unit_test(test_classes_that_cannot_be_read_are_damage),
		cmocka_unit_test(test_a_class_with_a_field_of_impossible_size_keeps_its_columns),
		cmocka_unit_test(test_a_field_of_an_unknown_type_is_damage_and_bytes),
		cmocka_unit_test(test_structs_that_multiply_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
