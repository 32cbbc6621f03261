/* fs/document/body.c, measure.c: sizes and windows of tables against their whole text. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/document/body.h"

/* A table of n positions; every `gap`-th position begins a row, its text length varies. */
struct numbers {
	uint64_t n, gap;
	uint64_t fail_at;   /* the row at this position cannot be read */
	uint8_t *long_text; /* if not NULL: of all rows */
	size_t long_len;
};

static int numbers_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const char text[] = "a name, with \"quotes\" and a comma, now and then";
	const struct numbers *t = rows->table->self;
	uint64_t row = (rows->at + t->gap - 1) / t->gap * t->gap;
	if (row >= t->n)
		return 0;
	if (row == t->fail_at)
		return pm_error_set(err, -EIO, "input", row, "as ordered");
	rows->row = row;
	rows->at = row + 1;
	cells[0] = pm_cell_u64(row * row);
	cells[1] = pm_cell_text((struct pm_bytes){(const uint8_t *)text, row * 7 % sizeof(text)});
	if (t->long_text)
		cells[1] = pm_cell_text((struct pm_bytes){t->long_text, t->long_len});
	return 1;
}

static const struct pm_table_type dense_type = {.next = numbers_next, .dense = true};
static const struct pm_table_type plain_type = {.next = numbers_next};
static const char *const columns[] = {"square", "text"};

static struct pm_doc doc_of(const struct numbers *t, bool dense)
{
	return pm_doc_csv((struct pm_table){.type = dense ? &dense_type : &plain_type,
		.columns = columns,
		.n_columns = 2,
		.self = t,
		.end = t->n});
}

/* The whole text, straight from the rows. */
static struct pm_text whole_of(const struct pm_doc *doc)
{
	struct pm_text out = {.p = NULL};
	struct pm_cell cells[2];
	struct pm_rows rows;
	pm_row_header(&out, PM_CSV, &doc->table);
	assert_int_equal(pm_rows_start(&rows, &doc->table, 0, NULL), 0);
	while (pm_rows_next(&rows, cells, NULL) > 0)
		pm_row_render(&out, PM_CSV, cells, 2);
	pm_rows_done(&rows);
	return out;
}

static void check_window(struct pmfs_body *body, const struct pm_doc *doc,
	const struct pm_text *whole, uint64_t off, size_t len)
{
	struct pm_text got = {.p = NULL};
	size_t left = off < whole->len ? whole->len - (size_t)off : 0;
	assert_int_equal(pmfs_body_window(body, doc, off, len, &got, NULL), 0);
	assert_int_equal(got.len, len < left ? len : left);
	if (got.len)
		assert_memory_equal(got.p, whole->p + off, got.len);
	pm_text_done(&got);
}

static void check_body(const struct numbers *t, bool dense)
{
	struct pm_doc doc = doc_of(t, dense);
	struct pm_text whole = whole_of(&doc);
	struct pmfs_body *body;
	assert_int_equal(pmfs_body_build(&doc, NULL, 0, &body, NULL), 0);
	assert_int_equal(body->size, whole.len);
	if (body->whole) {
		assert_memory_equal(body->text.p, whole.p, whole.len);
	} else {
		srand(3);
		check_window(body, &doc, &whole, 0, 20);
		check_window(body, &doc, &whole, body->text.len, 20);
		check_window(body, &doc, &whole, whole.len - 1, 20);
		check_window(body, &doc, &whole, whole.len, 20);
		check_window(body, &doc, &whole, whole.len + 1000, 20);
		for (int i = 0; i < 300; i++)
			check_window(body, &doc, &whole, (size_t)rand() % whole.len,
				(size_t)rand() % 300000);
		for (uint64_t off = 0; off < whole.len; off += 131072)
			check_window(body, &doc, &whole, off, 131072);
	}
	body->cached.free(&body->cached);
	pm_text_done(&whole);
}

static void test_small_tables_are_kept_whole(void **state)
{
	check_body(&(struct numbers){.n = 0, .gap = 1, .fail_at = UINT64_MAX}, true);
	check_body(&(struct numbers){.n = 500, .gap = 1, .fail_at = UINT64_MAX}, true);
}

/* Each window of a long row would render all of it. */
static void test_few_long_rows_are_kept_whole(void **state)
{
	static const struct {
		uint64_t rows;
		size_t len;
		bool whole;
	} cases[] = {
		{1, 1 << 20, true}, {15, 100000, true}, {3, 1 << 20, false}, {17, 100000, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct numbers t = {.n = cases[i].rows, .gap = 1, .fail_at = UINT64_MAX};
		struct pm_doc doc = doc_of(&t, true);
		struct pmfs_body *body;
		t.long_text = malloc(cases[i].len);
		assert_non_null(t.long_text);
		memset(t.long_text, 'x', cases[i].len);
		t.long_len = cases[i].len;
		assert_int_equal(pmfs_body_build(&doc, NULL, 0, &body, NULL), 0);
		assert_int_equal(body->whole, cases[i].whole);
		body->cached.free(&body->cached);
		check_body(&t, true);
		free(t.long_text);
	}
}

static void test_windows_of_large_tables_are_slices_of_the_whole(void **state)
{
	check_body(&(struct numbers){.n = 20000, .gap = 1, .fail_at = UINT64_MAX}, true);
	check_body(&(struct numbers){.n = 20000, .gap = 1, .fail_at = UINT64_MAX}, false);
}

static void test_measuring_in_segments_gives_the_same(void **state)
{
	check_body(&(struct numbers){.n = 500000, .gap = 1, .fail_at = UINT64_MAX}, true);
	check_body(&(struct numbers){.n = 500000, .gap = 7, .fail_at = UINT64_MAX}, true);
	check_body(&(struct numbers){.n = 1000000, .gap = 131072 - 1, .fail_at = UINT64_MAX}, true);
}

static void test_a_row_that_fails_fails_the_table_with_its_reason(void **state)
{
	struct numbers early = {.n = 500000, .gap = 1, .fail_at = 3};
	struct numbers late = {.n = 500000, .gap = 1, .fail_at = 400001};
	const struct numbers *tables[] = {&early, &late};
	for (int i = 0; i < 2; i++) {
		struct pm_doc doc = doc_of(tables[i], true);
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_body *body;
		assert_int_equal(pmfs_body_build(&doc, NULL, 0, &body, &err), -EIO);
		assert_string_equal(err.text, "as ordered");
		assert_int_equal(err.offset, tables[i]->fail_at);
	}
}

static void test_nobody_measures_for_nobody(void **state)
{
	struct numbers t = {.n = 500000, .gap = 1, .fail_at = UINT64_MAX};
	struct pm_doc doc = doc_of(&t, true);
	struct pm_work work = {.cancelled = true};
	struct pmfs_body *body;
	pm_work_enter(&work);
	assert_int_equal(pmfs_body_build(&doc, NULL, 0, &body, NULL), -ENOMEM);
	pm_work_enter(NULL);
	assert_true(work.gave_up);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_tables_are_kept_whole),
		cmocka_unit_test(test_few_long_rows_are_kept_whole),
		cmocka_unit_test(test_windows_of_large_tables_are_slices_of_the_whole),
		cmocka_unit_test(test_measuring_in_segments_gives_the_same),
		cmocka_unit_test(test_a_row_that_fails_fails_the_table_with_its_reason),
		cmocka_unit_test(test_nobody_measures_for_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
