/* Tests formats/common/utf8.c. */
#include "tests/unittest.h"

#include "formats/common/utf8.h"

static void test_next_knows_the_length_of_one_character(void **state)
{
	static const struct {
		const char *text;
		size_t length; /* 0: not valid */
	} rows[] = {
		{"a", 1},
		{"\x7f", 1},
		{"\xc2\x80", 2},
		{"\xdf\xbf", 2},
		{"\xe0\xa0\x80", 3},
		{"\xed\x9f\xbf", 3}, /* the last before the surrogates */
		{"\xee\x80\x80", 3},
		{"\xef\xbf\xbf", 3},
		{"\xf0\x90\x80\x80", 4},
		{"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
		{"", 0},
		{"\x80", 0}, /* begins with a tail */
		{"\xbf", 0},
		{"\xc0\x80", 0}, /* overlong */
		{"\xc1\xbf", 0},
		{"\xe0\x9f\xbf", 0},
		{"\xf0\x8f\xbf\xbf", 0},
		{"\xed\xa0\x80", 0}, /* surrogates */
		{"\xed\xbf\xbf", 0},
		{"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
		{"\xf5\x80\x80\x80", 0},
		{"\xff", 0},
		{"\xc2", 0}, /* cut short */
		{"\xe1\x80", 0},
		{"\xf1\x80\x80", 0},
		{"\xc2z", 0},
		{"\xe1\x80z", 0},
		{"\xf1\x80\x80z", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(pm_utf8_next(pm_bytes_of(rows[i].text), 0), rows[i].length);
}

static void test_next_beyond_the_end_is_nothing(void **state)
{
	assert_int_equal(pm_utf8_next(pm_bytes_of("ab"), 2), 0);
	assert_int_equal(pm_utf8_next(pm_bytes_of("ab"), SIZE_MAX), 0);
}

static void test_valid_wants_all_of_it_valid(void **state)
{
	assert_true(pm_utf8_valid(pm_bytes_of("")));
	assert_true(pm_utf8_valid(pm_bytes_of(NULL)));
	assert_true(pm_utf8_valid(pm_bytes_of("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80")));
	assert_true(pm_utf8_valid((struct pm_bytes){(const uint8_t *)"a\0b", 3}));
	assert_false(pm_utf8_valid(pm_bytes_of("na\xefve")));
	assert_false(pm_utf8_valid(pm_bytes_of("cut \xe2\x82")));
}

static void test_what_may_reach_a_terminal(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{"plain ~", "plain ~"},
		{"\x1b]0;x\x07", "\ufffd]0;x\ufffd"},
		{"\t\r\n\x7f", "\ufffd\ufffd\ufffd\ufffd"},
		{"\x9b"
		 "31m",
			"\ufffd"
			"31m"},
		{"\xc2\x9b"
		 "31m",
			"\ufffd"
			"31m"},
		{"\xc2\xa0\u00e9\u20ac\U0001f600", "\xc2\xa0\u00e9\u20ac\U0001f600"},
		{"a\u202eb\u2066c\u200f\u061c", "a\ufffdb\ufffdc\ufffd\ufffd"},
		{"\u00ad\u200b\ufeff\u2028\U000e0041", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"\u2027\u2070\u200a\ufffc", "\u2027\u2070\u200a\ufffc"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char shown[64], cut[6];
		pm_shown_copy(shown, sizeof(shown), rows[i].text);
		assert_string_equal(shown, rows[i].shown);
		pm_shown_copy(cut, sizeof(cut), rows[i].text);
		assert_true(pm_utf8_valid(pm_bytes_of(cut)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_knows_the_length_of_one_character),
		cmocka_unit_test(test_next_beyond_the_end_is_nothing),
		cmocka_unit_test(test_valid_wants_all_of_it_valid),
		cmocka_unit_test(test_what_may_reach_a_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
