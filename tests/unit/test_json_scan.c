/* formats/common/json_scan: values, what real writers do wrong, windows of any size, numbers. */
#include "formats/common/json_scan.h"

#include "tests/unittest.h"

#include <math.h>
#include <stdlib.h>

/* A window that begins at `from` and has `step` more bytes than it had, in a block of that size. */
struct feed {
	struct pm_bytes whole;
	size_t given, step, most;
	uint8_t *block;
};

static int feed_more(struct pm_scan *s, size_t from)
{
	struct feed *f = s->source;
	size_t begin = f->given - s->b.len + from, left = f->whole.len - f->given;
	size_t n = f->given + (left < f->step ? left : f->step) - begin;
	n = n > f->most && n > s->b.len - from ? s->b.len - from : n;
	uint8_t *block = malloc(n + !n);
	assert_non_null(block);
	if (n)
		memcpy(block, f->whole.p + begin, n);
	free(f->block);
	f->block = block;
	f->given = begin + n;
	s->b = (struct pm_bytes){block, n};
	return 0;
}

static struct pm_scan scan_of_feed(struct feed *f)
{
	return (struct pm_scan){.more = feed_more, .source = f};
}

/* Objects and arrays are entered to a depth of two, and taken as a whole below. */
static void put_value(struct pm_scan *s, unsigned depth, struct pm_text *out);

static void put_container(struct pm_scan *s, enum pm_scan_kind kind, struct pm_text *out)
{
	assert_true(pm_scan_enter(s));
	pm_text_char(out, kind == PM_SCAN_OBJECT ? '{' : '[');
	struct pm_bytes key;
	if (kind == PM_SCAN_ARRAY) {
		while (pm_scan_item(s))
			put_value(s, 1, out);
	} else {
		while (pm_scan_key(s, &key)) {
			pm_text_bytes(out, key);
			pm_text_char(out, '=');
			put_value(s, 1, out);
		}
	}
	pm_text_char(out, '.');
}

static void put_value(struct pm_scan *s, unsigned depth, struct pm_text *out)
{
	enum pm_scan_kind kind = pm_scan_peek(s);
	if (depth == 0 && (kind == PM_SCAN_OBJECT || kind == PM_SCAN_ARRAY)) {
		put_container(s, kind, out);
		return;
	}
	struct pm_scan_value v;
	struct pm_text scratch = {NULL};
	kind = pm_scan_value(s, &v);
	if (v.too_long)
		pm_text_str(out, "LONG");
	else if (kind == PM_SCAN_TEXT)
		pm_text_json(out, pm_scan_unescape(&v, &scratch));
	else if (kind == PM_SCAN_WORD)
		pm_text_str(out, "?");
	else
		pm_text_bytes(out, v.text);
	pm_text_char(out, ' ');
	pm_text_done(&scratch);
}

static void put_all(struct pm_scan *s, struct pm_text *out)
{
	while (pm_scan_top_item(s) && !s->code)
		put_value(s, 0, out);
	if (s->code)
		pm_text_printf(
			out, "!%s%llu", s->cut ? "cut " : "", (unsigned long long)pm_scan_where(s));
	pm_text_char(out, '\0');
}

static void check_bytes(struct pm_bytes text, const char *want)
{
	struct pm_text out = {NULL};
	/* In a block of exact size. */
	uint8_t *block = malloc(text.len + !text.len);
	assert_non_null(block);
	memcpy(block, text.p, text.len);
	struct pm_scan s = pm_scan_of((struct pm_bytes){block, text.len});
	put_all(&s, &out);
	assert_string_equal(out.p, want);
	free(block);
	for (size_t step = 1; step < 4; step++) {
		struct feed f = {.whole = text, .step = step, .most = 1000000};
		pm_text_clear(&out);
		s = scan_of_feed(&f);
		put_all(&s, &out);
		assert_string_equal(out.p, want);
		free(f.block);
	}
	pm_text_done(&out);
}

static void check(const char *text, const char *want)
{
	check_bytes(pm_bytes_of(text), want);
}

static void test_values_of_all_kinds(void **state)
{
	check("{\"a\":1,\"b\":[1,[2]],\"c\":\"x\",\"d\":{\"e\":{}},\"f\":true,\"g\":false,\"h\":null}",
		"{a=1 b=[1,[2]] c=\"x\" d={\"e\":{}} f=true g=false h=null .");
	check("[ 1.5e-3 , -2 ,\t\"\"\r\n, [] ]", "[1.5e-3 -2 \"\" [] .");
	check("", "");
	check(" \n", "");
}

static void test_what_writers_do_wrong(void **state)
{
	check("[1,2,]", "[1 2 .");
	check("[,1 2,,3]", "[1 2 3 .");
	check("{\"a\":1,}", "{a=1 .");
	check("[NaN,-Infinity,undefined]", "[? -Infinity ? .");
	check("[\"a\x01\n\"]", "[\"a\\u0001\\n\" .");
	check("{}\n{\"a\":1}\n", "{.{a=1 .");
	check("[1] x", "[1 . !cut 5");
	check("[1]]", "[1 . !3");
}

static void test_cut_and_broken_texts(void **state)
{
	check("[1,2", "[1  .!cut 4");
	check("[1,\"ab", "[1  .!cut 6");
	check("[1,\"ab\\", "[1  .!cut 7");
	check("{\"a\"", "{.!cut 4");
	check("{\"a\":", "{a= .!cut 5");
	check("{\"a\" 1}", "{.!5");
	check("{a:1}", "{.!1");
	check("[1,:]", "[1  .!3");
	check("[[1,\"]\"", "[ .!cut 7");
}

static void test_byte_order_mark_only_at_the_beginning(void **state)
{
	struct pm_scan s = pm_scan_of(pm_bytes_of("\xef\xbb\xbf[1]"));
	assert_int_equal(pm_scan_peek(&s), PM_SCAN_ARRAY);
	s = pm_scan_of(pm_bytes_of("[\xef\xbb\xbf]"));
	assert_true(pm_scan_enter(&s));
	assert_int_equal(pm_scan_peek(&s), PM_SCAN_NOTHING);
}

static void test_escapes(void **state)
{
	check("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\q\"]", "[\"\\\"\\\\/\\b\\f\\n\\r\\tq\" .");
	check("[\"\\u00e9\\u20AC\\ud83d\\ude00\"]", "[\"\u00e9\u20ac\U0001f600\" .");
	check("[\"\\ud83dx\\ude00\\ud83d\\u0041\"]", "[\"\ufffdx\ufffd\ufffdA\" .");
	check("[\"\\u12\",\"\\u123g\"]", "[\"u12\" \"u123g\" .");
	check("[\"a\xff\\n\xc3\"]", "[\"a\ufffd\\n\ufffd\" .");
	check("[\"\\\xc3\xa9\"]", "[\"\u00e9\" .");
}

/* Containers around the borders of blocks, with quotes, backslashes and brackets in texts. */
static void test_containers_as_a_whole(void **state)
{
	static const char *const middles[] = {"", "\"]\"", "\"\\\"]\"", "\"\\\\\"", "[]",
		"{\"a\":[]}", "\"\\\\\\\"}\"", "[[[]]]"};
	for (size_t m = 0; m < sizeof(middles) / sizeof(*middles); m++) {
		for (unsigned pad = 0; pad < 140; pad++) {
			struct pm_text text = {NULL}, want = {NULL};
			pm_text_printf(&want, "[[%*s%s] 7 .", (int)pad, "", middles[m]);
			pm_text_printf(&text, "[[%*s%s],7]", (int)pad, "", middles[m]);
			pm_text_char(&want, '\0');
			check_bytes(pm_text_view(&text), want.p);
			pm_text_done(&text);
			pm_text_done(&want);
		}
	}
}

static void test_runs_of_backslashes(void **state)
{
	for (unsigned n = 0; n < 140; n++) {
		struct pm_text text = {NULL};
		pm_text_str(&text, "[[\"");
		for (unsigned i = 0; i < n; i++)
			pm_text_char(&text, '\\');
		pm_text_str(&text, "\"],1]");
		struct pm_scan s = pm_scan_of(pm_text_view(&text));
		struct pm_scan_value v;
		assert_true(pm_scan_enter(&s) && pm_scan_item(&s));
		/* After an odd number the quote is a part of the text. */
		assert_int_equal(pm_scan_value(&s, &v), n % 2 ? PM_SCAN_NOTHING : PM_SCAN_ARRAY);
		assert_int_equal(s.cut, n % 2);
		if (n % 2 == 0)
			assert_int_equal(v.text.len, n + 4);
		pm_text_done(&text);
	}
}

static void test_depth_needs_no_stack(void **state)
{
	struct pm_text text = {NULL};
	for (unsigned i = 0; i < 1000000; i++)
		pm_text_char(&text, i % 2 ? '[' : '{');
	struct pm_scan s = pm_scan_of(pm_text_view(&text));
	assert_false(pm_scan_skip(&s));
	assert_true(s.cut);
	for (unsigned i = 0; i < 1000000; i++)
		pm_text_char(&text, ']');
	s = pm_scan_of(pm_text_view(&text));
	assert_true(pm_scan_skip(&s));
	assert_int_equal(s.at, 2000000);
	pm_text_done(&text);
}

static void test_values_longer_than_a_window(void **state)
{
	struct pm_text text = {NULL}, out = {NULL};
	pm_text_str(&text, "[1,\"");
	for (unsigned i = 0; i < 1000; i++)
		pm_text_str(&text, "0123\\\"");
	pm_text_str(&text, "\",[");
	for (unsigned i = 0; i < 1000; i++)
		pm_text_str(&text, "{\"]\":[]},");
	pm_text_str(&text, "],2]");
	for (size_t step = 1; step < 60; step += 7) {
		struct feed f = {.whole = pm_text_view(&text), .step = step, .most = 200};
		struct pm_scan s = scan_of_feed(&f);
		pm_text_clear(&out);
		put_all(&s, &out);
		assert_string_equal(out.p, "[1 LONG LONG 2 .");
		free(f.block);
		f = (struct feed){.whole = pm_text_view(&text), .step = step, .most = 200};
		s = scan_of_feed(&f);
		assert_true(pm_scan_enter(&s));
		for (unsigned i = 0; i < 4; i++)
			assert_true(pm_scan_item(&s) && pm_scan_skip(&s));
		assert_false(pm_scan_item(&s));
		assert_int_equal(s.code, 0);
		free(f.block);
	}
	pm_text_done(&text);
	pm_text_done(&out);
}

/* A value is scanned again by itself. */
static void test_begins_again_at_a_position(void **state)
{
	struct pm_bytes text = pm_bytes_of("[{\"a\":1},{\"b\":2}]");
	struct pm_scan s = pm_scan_of(text);
	struct pm_scan_value first, second, v;
	struct pm_bytes key;
	assert_true(pm_scan_enter(&s) && pm_scan_item(&s));
	assert_int_equal(pm_scan_value(&s, &first), PM_SCAN_OBJECT);
	assert_true(pm_scan_item(&s));
	assert_int_equal(pm_scan_value(&s, &second), PM_SCAN_OBJECT);
	assert_int_equal(second.at, 9);
	s = (struct pm_scan){.b = text, .at = second.at};
	assert_true(pm_scan_enter(&s) && pm_scan_key(&s, &key));
	assert_true(pm_bytes_equal(key, pm_bytes_of("b")));
	assert_int_equal(pm_scan_value(&s, &v), PM_SCAN_NUMBER);
	assert_true(pm_bytes_equal(v.text, pm_bytes_of("2")));
}

static void test_decimals_are_exact(void **state)
{
	static const struct {
		const char *text;
		int scale;
		enum pm_decimal how;
		int64_t want;
	} cases[] = {
		{"0", 3, PM_DECIMAL_EXACT, 0},
		{"-0.0e99999999999999999999", 3, PM_DECIMAL_EXACT, 0},
		{"1695835535123456.789", 3, PM_DECIMAL_EXACT, 1695835535123456789},
		{"1.5", 3, PM_DECIMAL_EXACT, 1500},
		{"+.5", 0, PM_DECIMAL_ROUNDED, 1},
		{"5.", 0, PM_DECIMAL_EXACT, 5},
		{"-1.5", 0, PM_DECIMAL_ROUNDED, -1},
		{"-1.50000000000000000000001", 0, PM_DECIMAL_ROUNDED, -2},
		{"-2.5000", 0, PM_DECIMAL_ROUNDED, -2},
		{"0.0004999999999999999999999", 3, PM_DECIMAL_ROUNDED, 0},
		{"0.0005", 3, PM_DECIMAL_ROUNDED, 1},
		{"1e3", 3, PM_DECIMAL_EXACT, 1000000},
		{"1.25E+2", 0, PM_DECIMAL_EXACT, 125},
		{"125e-2", 2, PM_DECIMAL_EXACT, 125},
		{"9223372036854775807", 0, PM_DECIMAL_EXACT, INT64_MAX},
		{"9223372036854775808", 0, PM_DECIMAL_BEYOND, INT64_MAX},
		{"-9223372036854775808", 0, PM_DECIMAL_EXACT, INT64_MIN},
		{"-9223372036854775809", 0, PM_DECIMAL_BEYOND, INT64_MIN},
		{"1e99999999999999999999", 0, PM_DECIMAL_BEYOND, INT64_MAX},
		{"1e-99999999999999999999", 0, PM_DECIMAL_ROUNDED, 0},
		{"00000000000000000000000000000012", 0, PM_DECIMAL_EXACT, 12},
		{"0.000000000000000000000000000012e30", 0, PM_DECIMAL_EXACT, 12},
		{"10000000000000000000000e-20", 0, PM_DECIMAL_EXACT, 100},
		{"99999999999999999999", 0, PM_DECIMAL_BEYOND, INT64_MAX},
		{"", 0, PM_DECIMAL_NONE, 0},
		{"-", 0, PM_DECIMAL_NONE, 0},
		{".", 0, PM_DECIMAL_NONE, 0},
		{"1e", 0, PM_DECIMAL_NONE, 0},
		{"1e+", 0, PM_DECIMAL_NONE, 0},
		{"1.2.3", 0, PM_DECIMAL_NONE, 0},
		{"0x10", 0, PM_DECIMAL_NONE, 0},
		{"-Infinity", 0, PM_DECIMAL_NONE, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t value;
		enum pm_decimal how =
			pm_scan_decimal(pm_bytes_of(cases[i].text), cases[i].scale, &value);
		if (how != cases[i].how || value != cases[i].want)
			fail_msg("%s: %d %lld", cases[i].text, (int)how, (long long)value);
	}
}

/* The quick way takes integers, and leaves everything else where it is. */
static void test_integers(void **state)
{
	static const char text[] =
		"[1,-20, 3,,4 ,5.5,\"6\",123456789012345678,1234567890123456789,-,7,"
		"8]";
	static const int64_t want[] = {
		1, -20, 3, 4, 5, 6, 123456789012345678, 1234567890123456789, 0, 7, 8};
	enum { N = sizeof(want) / sizeof(*want) };
	for (size_t step = 1; step < 100; step += 3) {
		struct feed f = {.whole = pm_bytes_of(text), .step = step, .most = 100};
		struct pm_scan s = scan_of_feed(&f);
		size_t n = 0, quick = 0;
		assert_true(pm_scan_enter(&s));
		for (; pm_scan_item(&s); n++) {
			struct pm_scan_value v;
			int64_t i;
			assert_true(n < N);
			if (pm_scan_integer(&s, &i)) {
				quick++;
			} else {
				pm_scan_value(&s, &v);
				pm_scan_decimal(v.text, 0, &i);
				i -= n == 4; /* 5.5 is rounded up */
			}
			assert_int_equal(i, want[n]);
		}
		assert_int_equal(n, N);
		assert_int_equal(s.code, 0);
		if (step >= sizeof(text))
			assert_int_equal(quick, 6); /* of 4, white space follows */
		free(f.block);
	}
	struct pm_scan cut = pm_scan_of(pm_bytes_of("[1,23"));
	int64_t i;
	assert_true(pm_scan_enter(&cut) && pm_scan_item(&cut) && pm_scan_integer(&cut, &i));
	assert_true(pm_scan_item(&cut));
	assert_false(pm_scan_integer(&cut, &i)); /* there may be more digits */
}

static void test_doubles(void **state)
{
	assert_true(pm_scan_double(pm_bytes_of("0.1")) == 0.1);
	assert_true(
		pm_scan_double(pm_bytes_of("-1.7976931348623157e308")) == -1.7976931348623157e308);
	assert_true(pm_scan_double(pm_bytes_of("1e999999999999")) == HUGE_VAL);
	assert_true(pm_scan_double(pm_bytes_of("5e-324")) == 5e-324);
	assert_true(pm_scan_double(pm_bytes_of("0e400")) == 0);
	assert_true(isnan(pm_scan_double(pm_bytes_of("NaN"))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_all_kinds),
		cmocka_unit_test(test_what_writers_do_wrong),
		cmocka_unit_test(test_cut_and_broken_texts),
		cmocka_unit_test(test_byte_order_mark_only_at_the_beginning),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_containers_as_a_whole),
		cmocka_unit_test(test_runs_of_backslashes),
		cmocka_unit_test(test_depth_needs_no_stack),
		cmocka_unit_test(test_values_longer_than_a_window),
		cmocka_unit_test(test_begins_again_at_a_position),
		cmocka_unit_test(test_decimals_are_exact),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_doubles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
