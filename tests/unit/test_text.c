/* formats/common/text: bounds, sticky failure, and the treatment of each kind of character. */
#include "formats/common/text.h"

#include "tests/unittest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define BYTES(s)    ((struct pm_bytes){(const uint8_t *)(s), sizeof(s) - 1})
#define BAD         "\xef\xbf\xbd"

static void check_text(const struct pm_text *t, struct pm_bytes want)
{
	assert_int_equal(pm_text_status(t), 0);
	if (!pm_bytes_equal(pm_text_view(t), want))
		fail_msg("got \"%.*s\", not \"%.*s\"", (int)t->len, t->p, (int)want.len,
			(const char *)want.p);
}

/* The input in a block of its exact size, so that the sanitizer sees a read beyond it. */
static void check_writer(
	void (*write)(struct pm_text *, struct pm_bytes), struct pm_bytes in, struct pm_bytes want)
{
	struct pm_text t = {NULL};
	uint8_t *copy = malloc(in.len ? in.len : 1);
	assert_non_null(copy);
	if (in.len)
		memcpy(copy, in.p, in.len);
	write(&t, (struct pm_bytes){copy, in.len});
	check_text(&t, want);
	pm_text_done(&t);
	free(copy);
}

struct row {
	struct pm_bytes in, want;
};

static void check_rows(
	void (*write)(struct pm_text *, struct pm_bytes), const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_writer(write, rows[i].in, rows[i].want);
}

/* ---- building ---- */

static void test_everything_is_appended_in_order(void **state)
{
	struct pm_text t = {NULL};
	pm_text_str(&t, "a");
	pm_text_char(&t, ',');
	pm_text_u64(&t, UINT64_MAX);
	pm_text_char(&t, ',');
	pm_text_i64(&t, INT64_MIN);
	pm_text_char(&t, ',');
	pm_text_f64(&t, -2.5);
	pm_text_f64(&t, NAN);
	pm_text_char(&t, ',');
	pm_text_hex(&t, 0xbeef, 8);
	pm_text_printf(&t, ",%s=%d", "x", 7);
	pm_text_bytes(&t, (struct pm_bytes){NULL, 0});
	check_text(&t, BYTES("a,18446744073709551615,-9223372036854775808,-2.5,0000beef,x=7"));
	pm_text_done(&t);
}

static void test_long_text_grows_byte_by_byte(void **state)
{
	struct pm_text t = {NULL};
	for (size_t i = 0; i < 100000; i++)
		pm_text_char(&t, (char)('a' + i % 26));
	assert_int_equal(t.len, 100000);
	for (size_t i = 0; i < t.len; i++)
		assert_int_equal(t.p[i], 'a' + i % 26);
	assert_true(t.room <= 2 * 100000);
	pm_text_done(&t);
}

static void test_limit_is_reached_and_never_passed(void **state)
{
	struct pm_text t = {.limit = 300};
	for (int i = 0; i < 300; i++)
		pm_text_char(&t, 'x');
	assert_int_equal(pm_text_status(&t), 0);
	assert_int_equal(t.room, 300);
	pm_text_char(&t, 'x');
	assert_int_equal(pm_text_status(&t), -ENOMEM);
	pm_text_done(&t);
}

static void test_default_limit_refuses_without_allocating(void **state)
{
	struct pm_text t = {NULL};
	assert_null(pm_text_reserve(&t, SIZE_MAX));
	assert_int_equal(pm_text_status(&t), -ENOMEM);
	assert_null(t.p);
}

static uint64_t n_grown;

static void count_growth(void *context, size_t more)
{
	(void)context;
	(void)more;
	n_grown++;
}

static void test_what_is_expected_is_allocated_once(void **state)
{
	(void)state;
	struct pm_text t = {.grown = count_growth};
	n_grown = 0;
	pm_text_char(&t, 'a');
	pm_text_expect(&t, 100000);
	assert_int_equal(n_grown, 2);
	for (size_t i = 0; i < 100000; i++)
		pm_text_char(&t, 'b');
	pm_text_expect(&t, 0);
	assert_int_equal(n_grown, 2);
	assert_int_equal(t.len, 100001);
	assert_int_equal(t.p[0], 'a');
	pm_text_done(&t);
}

static void test_expecting_too_much_does_nothing(void **state)
{
	(void)state;
	struct pm_text t = {.limit = 300}, failed = {.limit = 4};
	pm_text_char(&t, 'x');
	pm_text_expect(&t, 300);
	pm_text_expect(&t, SIZE_MAX);
	assert_true(t.taken < 300);
	pm_text_expect(&t, 299);
	assert_int_equal(t.taken, 300);
	check_text(&t, BYTES("x"));
	pm_text_done(&t);
	pm_text_str(&failed, "12345");
	pm_text_expect(&failed, 2);
	assert_int_equal(pm_text_status(&failed), -ENOMEM);
	pm_text_done(&failed);
}

static void test_failure_is_sticky_until_the_end(void **state)
{
	struct pm_text t = {.limit = 4};
	pm_text_str(&t, "12345");
	pm_text_char(&t, '1');
	pm_text_printf(&t, "1");
	assert_null(pm_text_reserve(&t, 1));
	assert_int_equal(pm_text_status(&t), -ENOMEM);
	pm_text_clear(&t);
	pm_text_str(&t, "1234");
	assert_int_equal(pm_text_status(&t), -ENOMEM);
	pm_text_done(&t);
	pm_text_str(&t, "1234");
	check_text(&t, BYTES("1234"));
	pm_text_done(&t);
}

static void test_a_text_fails_with_its_pieces(void **state)
{
	struct pm_text out = {.p = NULL}, good = {.p = NULL}, bad = {.limit = 4};
	pm_text_str(&good, "12345");
	pm_text_str(&bad, "12345");
	pm_text_end(&good, &out);
	assert_int_equal(pm_text_status(&out), 0);
	pm_text_end(&bad, &out);
	assert_int_equal(pm_text_status(&out), -ENOMEM);
	assert_null(good.p);
	pm_text_done(&out);
}

static void test_done_leaves_a_usable_builder_with_its_limit(void **state)
{
	struct pm_text t = {.limit = 4};
	pm_text_str(&t, "1234");
	pm_text_done(&t);
	assert_null(t.p);
	pm_text_done(&t);
	pm_text_str(&t, "12345");
	assert_int_equal(pm_text_status(&t), -ENOMEM);
	pm_text_done(&t);
}

static void test_reserving_nothing_succeeds(void **state)
{
	struct pm_text t = {NULL};
	assert_non_null(pm_text_reserve(&t, 0));
	check_text(&t, BYTES(""));
	pm_text_done(&t);
}

/* ---- characters ---- */

static void test_utf8_replaces_each_bad_byte_and_nul(void **state)
{
	const struct row rows[] = {
		{BYTES(""), BYTES("")},
		{BYTES("plain ascii, longer than a word\t\n"),
			BYTES("plain ascii, longer than a word\t\n")},
		{BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
			BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80")},
		{BYTES("\0"), BYTES(BAD)},
		{BYTES("a\0b"), BYTES("a" BAD "b")},
		{BYTES("01234567\0"), BYTES("01234567" BAD)},
		{BYTES("0123456\0"
		       "89"),
			BYTES("0123456" BAD "89")},
		{BYTES("\xff\xfe"), BYTES(BAD BAD)},
		{BYTES("\xe2\x82"), BYTES(BAD BAD)},
		{BYTES("\xed\xa0\x80"), BYTES(BAD BAD BAD)},
		{BYTES("\xc0\x80x"), BYTES(BAD BAD "x")},
		{BYTES("\xef\xbf\xbf"), BYTES("\xef\xbf\xbf")},
		{BYTES("\x7f\x01"), BYTES("\x7f\x01")},
	};
	check_rows(pm_text_utf8, rows, COUNT_OF(rows));
}

static void test_utf8_finds_every_bad_byte_at_every_place(void **state)
{
	for (size_t len = 1; len <= 20; len++) {
		for (size_t at = 0; at < len; at++) {
			uint8_t in[20], want[22];
			memset(in, 1, sizeof(in));
			memset(want, 1, sizeof(want));
			in[at] = at % 2 ? 0x80 : 0;
			memcpy(want + at, BAD, 3);
			check_writer(pm_text_utf8, (struct pm_bytes){in, len},
				(struct pm_bytes){want, len + 2});
		}
	}
}

static void test_line_makes_each_blank_run_one_space(void **state)
{
	const struct row rows[] = {
		{BYTES("a b"), BYTES("a b")},
		{BYTES("a \t\r\n\v\f b"), BYTES("a b")},
		{BYTES("\na\n"), BYTES(" a ")},
		{BYTES("a\0\x1b\x7f"
		       "b"),
			BYTES("a b")},
		{BYTES("a\xc2\x85\xe2\x80\xa8 \xe2\x80\xa9"
		       "b"),
			BYTES("a b")},
		{BYTES("a\xc2\xa0"
		       "b"),
			BYTES("a\xc2\xa0"
			      "b")},
		{BYTES("\xff\n\xe2\x80"), BYTES(BAD " " BAD BAD)},
		{BYTES("a\xc2"), BYTES("a" BAD)},
		{BYTES("  "), BYTES(" ")},
		{BYTES(""), BYTES("")},
	};
	check_rows(pm_text_line, rows, COUNT_OF(rows));
}

static void test_a_cell_of_a_tsv_keeps_all_but_breaks(void **state)
{
	const struct row rows[] = {
		{BYTES(" a  b\x1b "), BYTES(" a  b\x1b ")},
		{BYTES("a\t\r\nb"), BYTES("a   b")},
		{BYTES("\xff\na\0"), BYTES(BAD " a" BAD)},
		{BYTES(""), BYTES("")},
	};
	check_rows(pm_text_tsv, rows, COUNT_OF(rows));
}

static void test_json_escapes_what_it_must(void **state)
{
	const struct row rows[] = {
		{BYTES(""), BYTES("\"\"")},
		{BYTES("a \"b\" \\ / c"), BYTES("\"a \\\"b\\\" \\\\ / c\"")},
		{BYTES("\b\t\n\f\r"), BYTES("\"\\b\\t\\n\\f\\r\"")},
		{BYTES("\0\x1f\x7f"), BYTES("\"\\u0000\\u001f\x7f\"")},
		{BYTES("\xc3\xbc\xff"), BYTES("\"\xc3\xbc" BAD "\"")},
	};
	check_rows(pm_text_json, rows, COUNT_OF(rows));
}

static void test_xml_escapes_markup_and_replaces_forbidden(void **state)
{
	const struct row rows[] = {
		{BYTES("a<b> & \"c\" 'd'"), BYTES("a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;")},
		{BYTES("\t\n\r"), BYTES("\t\n\r")},
		{BYTES("\0\x08\x0b\x0c\x0e\x1f"), BYTES(BAD BAD BAD BAD BAD BAD)},
		{BYTES("\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf"), BYTES(BAD BAD BAD)},
		{BYTES("\xed\xa0\x80<"), BYTES(BAD BAD BAD "&lt;")},
	};
	check_rows(pm_text_xml, rows, COUNT_OF(rows));
}

/* ---- flowing ---- */

struct flowed {
	uint64_t sum, bytes;
	unsigned left; /* pieces that are still taken */
};

static bool take_piece(void *context, struct pm_bytes piece)
{
	struct flowed *f = context;
	if (f->left == 0)
		return false;
	f->left--;
	f->bytes += piece.len;
	for (size_t i = 0; i < piece.len; i++)
		f->sum = f->sum * 31 + piece.p[i];
	return true;
}

/* Appends up to n bytes one by one. Returns the number of bytes that the text took. */
static uint64_t flow(size_t n, size_t limit, unsigned pieces, struct pm_text *t, struct flowed *f)
{
	*f = (struct flowed){.left = pieces};
	*t = (struct pm_text){.limit = limit, .flow = take_piece, .flow_context = f};
	for (size_t i = 0; i < n && !t->failed; i++)
		pm_text_char(t, (char)('a' + i % 26));
	return t->flowed + t->len;
}

static void test_a_text_that_flows_is_taken_in_order(void **state)
{
	enum { N = 5 << 20 };
	struct pm_text t;
	struct flowed f;
	uint64_t want = 0;
	assert_int_equal(flow(N, 0, UINT_MAX, &t, &f), N);
	assert_int_equal(pm_text_status(&t), 0);
	assert_true(t.taken <= 3 << 20);
	assert_true(take_piece(&f, pm_text_view(&t)));
	for (size_t i = 0; i < N; i++)
		want = want * 31 + (uint8_t)('a' + i % 26);
	assert_int_equal(f.bytes, N);
	assert_true(f.sum == want);
	pm_text_done(&t);
}

static void test_what_has_flowed_counts_against_the_limit(void **state)
{
	static const size_t limits[] = {1 << 20, (1 << 20) + 1, (2 << 20) + 70000, 3000001};
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		struct pm_text t;
		struct flowed f;
		assert_int_equal(flow(limits[i], limits[i], UINT_MAX, &t, &f), limits[i]);
		assert_false(t.failed);
		pm_text_done(&t);
		assert_int_equal(flow(8 << 20, limits[i], UINT_MAX, &t, &f), limits[i]);
		assert_true(t.full && t.failed);
		pm_text_done(&t);
	}
}

static void test_a_text_fails_where_its_bytes_are_refused(void **state)
{
	struct pm_text t;
	struct flowed f;
	flow(8 << 20, 0, 2, &t, &f);
	assert_true(t.failed && !t.full);
	assert_int_equal(f.left, 0);
	assert_int_equal(f.bytes, t.flowed);
	pm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_appended_in_order),
		cmocka_unit_test(test_long_text_grows_byte_by_byte),
		cmocka_unit_test(test_limit_is_reached_and_never_passed),
		cmocka_unit_test(test_default_limit_refuses_without_allocating),
		cmocka_unit_test(test_what_is_expected_is_allocated_once),
		cmocka_unit_test(test_expecting_too_much_does_nothing),
		cmocka_unit_test(test_failure_is_sticky_until_the_end),
		cmocka_unit_test(test_a_text_fails_with_its_pieces),
		cmocka_unit_test(test_done_leaves_a_usable_builder_with_its_limit),
		cmocka_unit_test(test_reserving_nothing_succeeds),
		cmocka_unit_test(test_utf8_replaces_each_bad_byte_and_nul),
		cmocka_unit_test(test_utf8_finds_every_bad_byte_at_every_place),
		cmocka_unit_test(test_line_makes_each_blank_run_one_space),
		cmocka_unit_test(test_a_cell_of_a_tsv_keeps_all_but_breaks),
		cmocka_unit_test(test_json_escapes_what_it_must),
		cmocka_unit_test(test_xml_escapes_markup_and_replaces_forbidden),
		cmocka_unit_test(test_a_text_that_flows_is_taken_in_order),
		cmocka_unit_test(test_what_has_flowed_counts_against_the_limit),
		cmocka_unit_test(test_a_text_fails_where_its_bytes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
