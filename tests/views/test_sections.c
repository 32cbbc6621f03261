/* Format-specific parts of summary.txt: sections and remarks. */
#include "harness.h"

#include <string.h>

#include "formats/common/text.h"
#include "fs/views/texts/sections.h"

static int next_row(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const char *const names[] = {"GET /αβγ?id=1", "a\nb"};
	(void)err;
	if (rows->at >= rows->table->a)
		return 0;
	cells[0] = pm_cell_u64(1500000000 * (rows->at + 1));
	cells[1] = rows->at ? pm_cell_empty() : pm_cell_i64(-3);
	cells[2] = pm_cell_str(names[rows->at % 2]);
	rows->at++;
	return 1;
}

static const struct pm_table_type row_type = {.next = next_row};
static const char *const columns[] = {"duration_ns", "calls", "method"};
static struct pm_section sections[] = {
	{"Slowest traces", {&row_type, columns, 3, NULL, 2, 0, 0}},
	{"Nothing", {&row_type, columns, 3, NULL, 0, 0, 0}},
};

static int add_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	(void)p;
	(void)err;
	for (int i = 0; i < 30; i++)
		pm_text_str(out, "word ");
	pm_text_str(out, "end.\nSecond.\n");
	return 0;
}

static void assert_written(
	struct pmfs_model *m, void (*write)(const struct pmfs_writing *w), struct pm_text *out)
{
	const struct pm_doc doc = {.kind = PM_DOC_TEXT, .text.self = m};
	assert_int_equal(pmfs_write(&doc, write, out, NULL), 0);
}

static void test_sections_have_names_units_and_no_more_rows_than_fit(void **state)
{
	struct fake *f = fake_new();
	struct pm_text out = {0};
	f->parts.sections.it = sections;
	f->parts.sections.n = 2;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_written(m, pmfs_add_sections, &out);
	pm_text_char(&out, '\0');
	assert_string_equal(out.p,
		"\nSlowest traces\n"
		"     duration    calls  method\n"
		"      1.500 s       -3  GET /αβγ?id=1\n"
		"          3 s           a b\n");
	pm_text_clear(&out);
	sections[0].table.a = 1000;
	assert_written(m, pmfs_add_sections, &out);
	sections[0].table.a = 2;
	size_t lines = 0;
	for (size_t i = 0; i < out.len; i++)
		lines += out.p[i] == '\n';
	assert_int_equal(lines, 3 + PMFS_SECTION_ROWS);
	pm_text_done(&out);
	views_done(m, f);
}

static void test_remarks_are_wrapped_at_words(void **state)
{
	struct fake *f = fake_new();
	struct pm_text out = {0};
	f->ops.remarks = add_remarks;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_written(m, pmfs_add_remarks, &out);
	pm_text_char(&out, '\0');
	assert_non_null(strstr(out.p, "note     word word"));
	assert_non_null(strstr(out.p, "word\n         word"));
	assert_non_null(strstr(out.p, "end.\nnote     Second.\n"));
	pm_text_done(&out);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections_have_names_units_and_no_more_rows_than_fit),
		cmocka_unit_test(test_remarks_are_wrapped_at_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
