/* formats/common/row.c: cells as CSV and TSV, and that measuring agrees with rendering. */
#include "tests/unittest.h"

#include <stdlib.h>

#include <math.h>

#include "formats/common/row.h"

static void expect(const struct pm_cell *cells, uint32_t n, const char *csv, const char *tsv)
{
	const char *want[] = {[PM_CSV] = csv, [PM_TSV] = tsv};
	for (enum pm_form form = PM_CSV; form <= PM_TSV; form++) {
		struct pm_text out = {.p = NULL};
		pm_row_render(&out, form, cells, n);
		assert_int_equal(pm_row_length(form, cells, n), out.len);
		pm_text_char(&out, 0);
		assert_string_equal(out.p, want[form]);
		pm_text_done(&out);
	}
}

static void test_numbers_are_plain(void **state)
{
	struct pm_cell cells[] = {pm_cell_u64(UINT64_MAX), pm_cell_i64(-5), pm_cell_f64(0.1),
		pm_cell_f64(3), pm_cell_hex(0x402590), pm_cell_hex(0), pm_cell_id(0xab, 8)};
	expect(cells, 7, "18446744073709551615,-5,0.1,3,0x402590,0x0,000000ab\n",
		"18446744073709551615\t-5\t0.1\t3\t0x402590\t0x0\t000000ab\n");
}

static void test_nothing_is_an_empty_field(void **state)
{
	struct pm_cell cells[] = {pm_cell_empty(), pm_cell_f64(NAN), pm_cell_f64(INFINITY),
		pm_cell_str(""), pm_cell_text((struct pm_bytes){NULL, 0})};
	expect(cells, 5, ",,,,\n", "\t\t\t\t\n");
}

static void test_text_is_quoted_where_csv_needs_it(void **state)
{
	struct pm_cell cells[] = {pm_cell_str("plain text"), pm_cell_str("std::map<int, double>"),
		pm_cell_str("say \"hi\""), pm_cell_str("a\tb\r\nc"), pm_cell_str("bell\a")};
	expect(cells, 5,
		"plain text,\"std::map<int, double>\",\"say \"\"hi\"\"\",\"a\tb\r\nc\",\"bell\a\"\n",
		"plain text\tstd::map<int, double>\tsay \"hi\"\ta b  c\tbell\a\n");
}

static void test_broken_utf8_and_nul_become_replacements(void **state)
{
	struct pm_cell cells[] = {pm_cell_text((struct pm_bytes){(const uint8_t *)"a\0b", 3}),
		pm_cell_str("gr\xf6\xdf"
			    "e"),
		pm_cell_str("\xe2\x82\xac,\xff")};
	expect(cells, 3,
		"a\xef\xbf\xbd"
		"b,gr\xef\xbf\xbd\xef\xbf\xbd"
		"e,\"\xe2\x82\xac,\xef\xbf\xbd\"\n",
		"a\xef\xbf\xbd"
		"b\tgr\xef\xbf\xbd\xef\xbf\xbd"
		"e\t\xe2\x82\xac,\xef\xbf\xbd\n");
}

static void test_a_row_without_columns_is_a_line_feed(void **state)
{
	expect(NULL, 0, "\n", "\n");
}

static void test_lengths_agree_on_random_text(void **state)
{
	srand(1);
	for (int round = 0; round < 20000; round++) {
		static const char alphabet[] = "ab,\"\n\r\t\0\x80\xc3\xa9\xe2\x82\xac\xf0\x9f\x98";
		uint8_t bytes[24];
		size_t n = (size_t)rand() % sizeof(bytes);
		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		struct pm_cell cell = pm_cell_text((struct pm_bytes){bytes, n});
		for (enum pm_form form = PM_CSV; form <= PM_TSV; form++) {
			struct pm_text out = {.p = NULL};
			pm_row_render(&out, form, &cell, 1);
			assert_int_equal(out.len, pm_row_length(form, &cell, 1));
			pm_text_done(&out);
		}
	}
}

/* Text is looked at in words of 8 bytes; the last word may overlap the one before it. */
static void test_every_byte_counts_at_every_place(void **state)
{
	(void)state;
	for (size_t n = 1; n < 20; n++)
		for (unsigned c = 0; c < 256 * n; c++) {
			uint8_t bytes[20];
			memset(bytes, c & 1 ? 'x' : 0x7f, n);
			bytes[c / 256] = (uint8_t)c;
			struct pm_bytes text = {bytes, n};
			bool quoted = (uint8_t)c == ',' || ((uint8_t)c < ' ' && (uint8_t)c);
			uint64_t want = n + (quoted ? 2 : 0);
			if ((uint8_t)c == '"')
				want = n + 3;
			if ((uint8_t)c == 0 || (uint8_t)c > 0x7f)
				want = n + 2; /* U+FFFD */
			assert_int_equal(pm_row_text_length(PM_CSV, text), want);
		}
}

static void test_a_header_is_quoted_like_a_row(void **state)
{
	const char *const columns[] = {"a", "b,c"};
	struct pm_table table = {.columns = columns, .n_columns = 2};
	struct pm_text out = {.p = NULL};
	pm_row_header(&out, PM_CSV, &table);
	pm_row_header(&out, PM_TSV, &table);
	assert_int_equal(out.len, 14);
	assert_memory_equal(out.p, "a,\"b,c\"\na\tb,c\n", 14);
	pm_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_plain),
		cmocka_unit_test(test_nothing_is_an_empty_field),
		cmocka_unit_test(test_text_is_quoted_where_csv_needs_it),
		cmocka_unit_test(test_broken_utf8_and_nul_become_replacements),
		cmocka_unit_test(test_a_row_without_columns_is_a_line_feed),
		cmocka_unit_test(test_lengths_agree_on_random_text),
		cmocka_unit_test(test_every_byte_counts_at_every_place),
		cmocka_unit_test(test_a_header_is_quoted_like_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
