/* Tests formats/common/sheet.c: tables described by data. */
#include "tests/unittest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/row.h"
#include "formats/common/sheet.h"

struct everything {
	bool is;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	int32_t i32;
	int64_t i64;
	double f64;
	struct pm_bytes text;
	const char *str;
	char chars[5];
	struct pm_cell cell;
};

static struct pm_cell doubled(struct pm_rows *rows, const void *field)
{
	(void)rows;
	return pm_cell_u64(2 * *(const uint32_t *)field);
}

/* Longer each time, so that the scratch moves between two columns of a row. */
static void repeated(struct pm_rows *rows, const void *field, struct pm_text *out)
{
	(void)rows;
	for (uint32_t i = 0; i < *(const uint32_t *)field * 100; i++)
		pm_text_char(out, 'x');
}

#define E struct everything
static const struct pm_column columns[] = {PM_COLUMN_ROW("row"), PM_COLUMN(E, is, "is"),
	PM_COLUMN(E, u8, "u8"), PM_COLUMN(E, u16, "u16"), PM_COLUMN(E, u32, "u32"),
	PM_COLUMN(E, u64, "u64"), PM_COLUMN(E, i32, "i32"), PM_COLUMN(E, i64, "i64"),
	PM_COLUMN(E, f64, "f64"), PM_COLUMN(E, text, "text"), PM_COLUMN(E, str, "str"),
	PM_COLUMN(E, chars, "chars"), PM_COLUMN(E, cell, "cell"), PM_COLUMN_HEX(E, u32, "hex"),
	PM_COLUMN_IF(E, u32, "if", is), PM_COLUMN_HEX_IF(E, u64, "hex_if", is),
	PM_COLUMN_BY(E, u32, "by", doubled)};

static const struct everything samples[] = {
	{true, 8, 16, 32, 64, -32, -64, 0.5, {(const uint8_t *)"a,b", 3}, "str", "char",
		{.kind = PM_CELL_ID, .width = 4, .u = 10}},
	{.is = false},
};

static int sample_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	if (rows->at == rows->table->a)
		return pm_error_set(err, -EIO, "samples", 7, "has changed");
	if (rows->at >= 2)
		return 0;
	ret->p = &samples[rows->at];
	return 1;
}

static const struct pm_sheet sheet = PM_SHEET("raw/samples.csv", columns, sample_record);

static void check_csv(const struct pm_table *table, const char *expected)
{
	struct pm_cell cells[32];
	struct pm_text out = {.p = NULL};
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	pm_row_header(&out, PM_CSV, table);
	assert_int_equal(pm_rows_start(&rows, table, 0, &err), 0);
	while (pm_rows_next(&rows, cells, &err) > 0)
		pm_row_render(&out, PM_CSV, cells, table->n_columns);
	pm_rows_done(&rows);
	pm_text_char(&out, '\0');
	assert_string_equal(out.p, expected);
	pm_text_done(&out);
}

static void test_every_kind_of_field(void **state)
{
	struct pm_named_doc doc = pm_sheet_document(&sheet, NULL, UINT64_MAX);
	assert_string_equal(doc.path, "raw/samples.csv");
	check_csv(&doc.doc.table,
		"row,is,u8,u16,u32,u64,i32,i64,f64,text,str,chars,cell,hex,if,hex_if,by\n"
		"0,1,8,16,32,64,-32,-64,0.5,\"a,b\",str,char,000a,0x20,32,0x40,64\n"
		"1,0,0,0,0,0,0,0,0,,,,,0x0,,,0\n");
}

static void test_errors_are_passed_on(void **state)
{
	struct pm_table table = pm_sheet_table(&sheet, NULL, 1);
	struct pm_cell cells[32];
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	assert_int_equal(pm_rows_start(&rows, &table, 0, &err), 0);
	assert_int_equal(pm_rows_next(&rows, cells, &err), 1);
	assert_int_equal(pm_rows_next(&rows, cells, &err), -EIO);
	assert_string_equal(err.text, "has changed");
	pm_rows_done(&rows);
}

struct unknowns {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	uint32_t first, second;
};

/* A decoded record, and positions that are not numbered on. */
static int unknown_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	if (rows->at > 10)
		return 0;
	*(struct unknowns *)ret->room = rows->at == 0
		? (struct unknowns){UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX, 1, 2}
		: (struct unknowns){UINT8_MAX - 1, UINT8_MAX, UINT16_MAX, UINT32_MAX, 0, 0};
	rows->at += 10;
	return 1;
}

static void test_unknown_and_written_ones(void **state)
{
	static const struct pm_column some[] = {PM_COLUMN_OR_NONE(struct unknowns, u8, "a"),
		PM_COLUMN_OR_NONE(struct unknowns, u16, "b"),
		PM_COLUMN_OR_NONE(struct unknowns, u32, "c"),
		PM_COLUMN_OR_NONE(struct unknowns, u64, "d"),
		PM_COLUMN_WRITTEN(struct unknowns, first, "e", repeated),
		PM_COLUMN_WRITTEN(struct unknowns, second, "f", repeated), PM_COLUMN_ROW("row")};
	static const struct pm_sheet unknowns = PM_SHEET(NULL, some, unknown_record);
	struct pm_table table = pm_sheet_table(&unknowns, NULL, 0);
	char expected[512], x[201];
	memset(x, 'x', 200);
	x[200] = '\0';
	snprintf(expected, sizeof(expected),
		"a,b,c,d,e,f,row\n,,,,%s,%s,0\n254,255,65535,4294967295,,,10\n", x + 100, x);
	check_csv(&table, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_of_field),
		cmocka_unit_test(test_errors_are_passed_on),
		cmocka_unit_test(test_unknown_and_written_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
