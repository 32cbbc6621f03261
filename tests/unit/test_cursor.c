/* Tests formats/common/cursor.c: the gate, the loads and the cursor. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "profmount/limits.h"

static const uint8_t ten[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const struct pm_bytes input = {ten, sizeof(ten)};

static void test_sub_accepts_only_what_lies_inside(void **state)
{
	static const struct {
		uint64_t off, len;
		bool fits;
	} rows[] = {
		{0, 0, true},
		{0, 10, true},
		{10, 0, true},
		{9, 1, true},
		{0, 11, false},
		{10, 1, false},
		{11, 0, false},
		{5, UINT64_MAX, false}, /* the sum wraps */
		{UINT64_MAX, 2, false},
		{UINT64_MAX - 4, 5, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_bytes got = {ten, 3};
		assert_int_equal(pm_bytes_sub(input, rows[i].off, rows[i].len, &got), rows[i].fits);
		assert_int_equal(got.len, rows[i].fits ? rows[i].len : 0);
		if (rows[i].fits)
			assert_ptr_equal(got.p, ten + rows[i].off);
	}
}

static void test_table_accepts_only_whole_records_inside(void **state)
{
	static const struct {
		uint64_t off, count, stride, need;
		bool fits;
	} rows[] = {
		{0, 5, 2, 2, true},
		{2, 2, 4, 3, true},
		{10, 0, 8, 8, true},
		{0, 5, 2, 3, false}, /* records too short */
		{0, 6, 2, 2, false},
		{1, 5, 2, 2, false},
		{0, (uint64_t)1 << 63, 2, 2, false}, /* the product wraps to 0 */
		{0, UINT64_MAX, UINT64_MAX, 1, false},
		{11, 0, 1, 1, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_bytes got;
		assert_int_equal(pm_bytes_table(input, rows[i].off, rows[i].count, rows[i].stride,
					 rows[i].need, &got),
			rows[i].fits);
		assert_int_equal(got.len, rows[i].fits ? rows[i].count * rows[i].stride : 0);
	}
	struct pm_bytes table;
	assert_true(pm_bytes_table(input, 1, 3, 3, 1, &table));
	assert_int_equal(*pm_bytes_row(table, 2, 3), 8);
}

static void test_cstr_needs_its_nul(void **state)
{
	static const struct pm_bytes texts = {(const uint8_t *)"ab\0\0c", 5};
	static const struct {
		uint64_t off;
		bool found;
		const char *text;
	} rows[] = {
		{0, true, "ab"},
		{1, true, "b"},
		{2, true, ""},
		{3, true, ""},
		{4, false, NULL},
		{5, false, NULL},
		{UINT64_MAX, false, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_bytes got;
		assert_int_equal(pm_bytes_cstr(texts, rows[i].off, &got), rows[i].found);
		assert_true(pm_bytes_equal(got, pm_bytes_of(rows[i].text)));
	}
}

static void test_cstr_beyond_the_limit_is_refused(void **state)
{
	struct pm_bytes got, b = {calloc(1, PM_LIMIT_STRING + 1), PM_LIMIT_STRING + 1};
	uint8_t *p = (uint8_t *)(uintptr_t)b.p;
	memset(p, 'x', PM_LIMIT_STRING);
	assert_false(pm_bytes_cstr(b, 0, &got));
	assert_true(pm_bytes_cstr(b, 1, &got));
	assert_int_equal(got.len, PM_LIMIT_STRING - 1);
	free(p);
}

static void test_loads_follow_their_byte_order(void **state)
{
	static const uint8_t one[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0};
	static const uint8_t eno[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
	static const uint8_t high[] = {0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8};
	assert_int_equal(pm_le16(high), 0xfeff);
	assert_int_equal(pm_be16(high), 0xfffe);
	assert_int_equal(pm_le32(high), 0xfcfdfeff);
	assert_int_equal(pm_be32(high), 0xfffefdfc);
	assert_true(pm_le64(high) == 0xf8f9fafbfcfdfeffu);
	assert_true(pm_be64(high) == 0xfffefdfcfbfaf9f8u);
	assert_true(pm_bef64(one) == 1.0);
	assert_true(pm_lef64(eno) == 1.0);
}

static void test_cursor_reads_in_its_byte_order(void **state)
{
	struct pm_cur little = pm_cur_of(input, false), big = pm_cur_of(input, true);
	assert_int_equal(pm_cur_u8(&little), 1);
	assert_int_equal(pm_cur_u16(&little), 0x0302);
	assert_int_equal(pm_cur_u32(&little), 0x07060504);
	assert_int_equal(pm_cur_left(&little), 3);
	assert_true(pm_cur_u64(&big) == 0x0102030405060708u);
	assert_int_equal(pm_cur_u16(&big), 0x090a);
	assert_int_equal(pm_cur_left(&big), 0);
	assert_false(little.bad || big.bad);
}

static void test_cursor_that_ran_out_stays_bad_and_does_not_move(void **state)
{
	struct pm_cur c = pm_cur_of(input, false);
	assert_int_equal(pm_cur_bytes(&c, 9).len, 9);
	assert_int_equal(pm_cur_u16(&c), 0);
	assert_true(c.bad);
	assert_int_equal(c.at, 9);
	assert_int_equal(pm_cur_u8(&c), 0); /* though a byte is there */
	assert_int_equal(pm_cur_left(&c), 0);
	assert_int_equal(pm_cur_u32(&c), 0);
	assert_int_equal(pm_cur_u64(&c), 0);
	assert_true(pm_cur_f64(&c) == 0);
	assert_null(pm_cur_bytes(&c, 0).p);
	assert_null(pm_cur_cstr(&c).p);
	struct pm_cur far = pm_cur_of(input, false);
	assert_null(pm_cur_take(&far, SIZE_MAX));
	assert_true(far.bad);
}

static void test_cursor_consumes_the_nul_of_a_text(void **state)
{
	struct pm_cur c = pm_cur_of((struct pm_bytes){(const uint8_t *)"ab\0\0c", 5}, false);
	assert_true(pm_bytes_equal(pm_cur_cstr(&c), pm_bytes_of("ab")));
	assert_int_equal(c.at, 3);
	assert_int_equal(pm_cur_cstr(&c).len, 0);
	assert_false(c.bad);
	assert_null(pm_cur_cstr(&c).p);
	assert_true(c.bad);
	struct pm_cur none = pm_cur_of((struct pm_bytes){NULL, 0}, false);
	pm_cur_cstr(&none);
	assert_true(none.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sub_accepts_only_what_lies_inside),
		cmocka_unit_test(test_table_accepts_only_whole_records_inside),
		cmocka_unit_test(test_cstr_needs_its_nul),
		cmocka_unit_test(test_cstr_beyond_the_limit_is_refused),
		cmocka_unit_test(test_loads_follow_their_byte_order),
		cmocka_unit_test(test_cursor_reads_in_its_byte_order),
		cmocka_unit_test(test_cursor_that_ran_out_stays_bad_and_does_not_move),
		cmocka_unit_test(test_cursor_consumes_the_nul_of_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
