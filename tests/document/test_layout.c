/* fs/document: tables whose size as Parquet follows from the number of rows. */
#include "mounted.h"

#include <stdio.h>

#include "formats/common/cursor.h"
#include "fs/document/layout.h"
#include "profmount/profile.h"

enum { ROWS = 3 * PMFS_GROUP_ROWS + 1000, N_TEXTS = 300 };

/* What a table does otherwise than it says. */
static struct {
	uint64_t ends_at;   /* row */
	uint64_t strange;   /* row whose text is unknown */
	uint64_t beyond;    /* row whose time no INT64 holds */
	uint32_t long_text; /* bytes of one text more */
} fault;

static bool is_decoded;                     /* pm_table.decoded */
static uint64_t n_rows_made, n_bounds_read; /* atomic */
static uint64_t n_cells_made[3];            /* by column, of strips; atomic */
static char texts[N_TEXTS][16];
static char long_text[2 << 20];

static int next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	if (rows->at >= fault.ends_at)
		return 0;
	__atomic_add_fetch(&n_rows_made, 1, __ATOMIC_RELAXED);
	uint64_t i = rows->at++;
	pm_set_u64(&cells[0], i == fault.beyond ? UINT64_MAX : i * 1000);
	if (i % 3 == 0)
		pm_set_u64(&cells[1], i);
	else
		pm_set_empty(&cells[1]);
	pm_set_text(&cells[2], pm_bytes_of(i == fault.strange ? "strange" : texts[i % N_TEXTS]));
	return 1;
}

static int tell_texts(
	const struct pm_table *table, pm_text_fn *each, void *context, struct pm_error *err)
{
	int r = 0;
	(void)table;
	(void)err;
	for (uint32_t i = 0; r == 0 && i < N_TEXTS; i++)
		r = each(context, 2, i, pm_bytes_of(texts[i]));
	struct pm_bytes more = {(const uint8_t *)long_text, fault.long_text};
	return r < 0 ? r : each(context, 2, N_TEXTS, more);
}

static int strips(const struct pm_table *table, uint64_t from, uint64_t to,
	const struct pm_strip *ret, struct pm_error *err)
{
	(void)table;
	if (to > fault.ends_at || (from <= fault.beyond && fault.beyond < to))
		return pm_error_plain(err, -EIO);
	for (uint64_t i = from; i < to; i++) {
		const int64_t values[] = {
			(int64_t)i * 1000, (int64_t)i, i == fault.strange ? 1 << 20 : i % N_TEXTS};
		for (uint32_t c = 0; c < 3; c++) {
			if (!ret[c].values)
				continue;
			ret[c].values[i - from] = values[c];
			ret[c].known[i - from] = c != 1 || i % 3 == 0;
			__atomic_add_fetch(&n_cells_made[c], 1, __ATOMIC_RELAXED);
		}
	}
	return 0;
}

static int bounds(const struct pm_table *table, uint64_t from, uint64_t to, struct pm_cell *least,
	struct pm_cell *greatest, struct pm_error *err)
{
	(void)table;
	(void)err;
	__atomic_add_fetch(&n_bounds_read, 1, __ATOMIC_RELAXED);
	pm_set_u64(&least[0], from * 1000);
	pm_set_u64(&greatest[0], (to - 1) * 1000);
	return 0;
}

static const struct pm_table_type type = {
	.next = next, .texts = tell_texts, .strips = strips, .bounds = bounds, .dense = true};
static const char *const columns[] = {"time_ns", "line", "name"};
static const struct pm_profile_ops ops = {.changed = NULL};
static const struct pm_profile profile = {.ops = &ops, .source = "source", .format = "format"};

static void mount_begin(struct mount *m, uint64_t limit, uint64_t rows)
{
	const struct pm_doc doc = {.kind = PM_DOC_PARQUET,
		.of = &profile,
		.table = {.type = &type,
			.columns = columns,
			.n_columns = 3,
			.end = rows,
			.decoded = is_decoded}};
	n_rows_made = n_bounds_read = 0;
	memset(n_cells_made, 0, sizeof(n_cells_made));
	mount_doc(m, &doc, limit);
}

static int setup(void **state)
{
	fault = (typeof(fault)){ROWS, UINT64_MAX, UINT64_MAX, 0};
	is_decoded = false;
	for (size_t i = 0; i < N_TEXTS; i++)
		snprintf(texts[i], sizeof(texts[i]), "name %zu", i);
	memset(long_text, 'x', sizeof(long_text));
	return 0;
}

/* ---- tests ---- */

static void test_the_size_needs_no_row(void **state)
{
	struct mount m;
	mount_begin(&m, 256 << 20, ROWS);
	assert_int_equal(n_rows_made, 0);
	assert_int_equal(n_bounds_read, 0);
	char *all = read_all(&m);
	assert_memory_equal(all, "PAR1", 4);
	assert_memory_equal(all + m.size - 4, "PAR1", 4);
	free(all);
	assert_int_equal(n_rows_made, 0);
	for (uint32_t c = 0; c < 3; c++)
		assert_int_equal(n_cells_made[c], ROWS);
	assert_int_equal(n_bounds_read, 4);
	mount_end(&m);
}

static void test_the_footer_needs_no_row(void **state)
{
	char end[4096];
	struct mount m;
	mount_begin(&m, 256 << 20, ROWS);
	assert_int_equal(read_at(&m, m.size - 8, 8, end), 8);
	assert_int_equal(n_rows_made + n_cells_made[0] + n_cells_made[1] + n_cells_made[2], 0);
	mount_end(&m);
}

/* The first columns of all row groups come before the second ones. */
static void test_a_window_needs_a_column_of_a_row_group(void **state)
{
	char window[4096];
	struct mount m;
	mount_begin(&m, 256 << 20, ROWS);
	assert_int_equal(read_at(&m, 12 * PMFS_GROUP_ROWS, sizeof(window), window), sizeof(window));
	assert_int_equal(n_cells_made[0], PMFS_GROUP_ROWS);
	assert_int_equal(n_cells_made[1], 0);
	assert_int_equal(n_cells_made[2], 0);
	assert_int_equal(read_at(&m, 32 * PMFS_GROUP_ROWS, sizeof(window), window), sizeof(window));
	assert_int_equal(n_cells_made[0], PMFS_GROUP_ROWS);
	assert_int_equal(n_cells_made[1], PMFS_GROUP_ROWS);
	assert_int_equal(n_cells_made[2], 0);
	mount_end(&m);
}

/* All columns of a row group are made at once, and come before the next row group's. */
static void test_rows_that_are_decoded_are_decoded_once(void **state)
{
	char window[4096];
	struct mount m;
	is_decoded = true;
	mount_begin(&m, 256 << 20, ROWS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(read_at(&m, 4 * PMFS_GROUP_ROWS * i, sizeof(window), window),
			sizeof(window));
	for (uint32_t c = 0; c < 3; c++)
		assert_int_equal(n_cells_made[c], PMFS_GROUP_ROWS);
	mount_end(&m);
}

static void check_windows(void)
{
	static const uint64_t limits[] = {256 << 20, 4 << 20, 1};
	struct mount whole, m;
	char window[5000];
	mount_begin(&whole, 256 << 20, ROWS);
	char *all = read_all(&whole);
	for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++) {
		mount_begin(&m, limits[k], ROWS);
		assert_int_equal(m.size, whole.size);
		for (uint64_t i = 0, at = 12345; i < 20; i++, at = at * 6364136223846793005u + 1) {
			uint64_t off = i == 0 ? m.size - 3000 : (at >> 20) % m.size;
			size_t n = read_at(&m, off, sizeof(window), window);
			assert_int_equal(
				n, m.size - off < sizeof(window) ? m.size - off : sizeof(window));
			assert_memory_equal(window, all + off, n);
		}
		mount_end(&m);
	}
	free(all);
	mount_end(&whole);
}

static void test_windows_in_any_order_are_the_same_bytes(void **state)
{
	check_windows();
	is_decoded = true;
	check_windows();
}

/* ---- places ---- */

static struct pmfs_parquet *layout_of(struct mount *m, struct pm_arena *a)
{
	struct pmfs_parquet *p = pmfs_parquet_build(a, &m->doc, m->cache, 2, NULL);
	assert_non_null(p->layout);
	return p;
}

static bool is_found(const struct pmfs_parquet *p, uint64_t offset, size_t group, uint32_t column)
{
	size_t found_group;
	uint32_t found_column;
	pmfs_layout_find(p, offset, &found_group, &found_column);
	return found_group == group && found_column == column;
}

static void check_places(const struct pmfs_parquet *p)
{
	uint64_t bytes = PMFS_PARQUET_BEGIN;
	for (size_t g = 0; g < p->n; g++) {
		for (uint32_t c = 0; c < p->n_columns; c++) {
			uint64_t at = pmfs_layout_offset(p, g, c);
			uint64_t n = p->groups[g].columns[c].bytes;
			assert_true(is_found(p, at, g, c) && is_found(p, at + n - 1, g, c));
			bytes += n;
		}
	}
	assert_int_equal(bytes, p->footer_at);
}

/* The values of times come last in their chunk. */
static void check_first_time(struct mount *m, const struct pmfs_parquet *p, size_t group)
{
	uint64_t bytes = p->groups[group].columns[0].bytes;
	uint64_t values = pmfs_layout_offset(p, group, 0) + bytes - p->groups[group].rows * 8ull;
	char window[sizeof(uint64_t)];
	assert_int_equal(read_at(m, values, sizeof(window), window), sizeof(window));
	assert_int_equal(
		pm_le64((const uint8_t *)window), (uint64_t)group * PMFS_GROUP_ROWS * 1000);
}

/* More row groups than a block has: each column is where the formula has it. */
static void test_columns_of_several_blocks(void **state)
{
	enum { GROUPS = 70, PER_BLOCK = 32 };
	uint64_t rows = (uint64_t)GROUPS * PMFS_GROUP_ROWS - 100;
	struct mount m;
	struct pm_arena arena = {.block = NULL};
	fault.ends_at = rows;
	mount_begin(&m, 256 << 20, rows);
	struct pmfs_parquet *p = layout_of(&m, &arena);
	check_places(p);
	for (size_t g = 0; g < GROUPS; g += 23)
		check_first_time(&m, p, g);
	assert_int_equal(n_cells_made[1] + n_cells_made[2], 0);
	assert_int_equal(pmfs_layout_offset(p, 1, 0),
		pmfs_layout_offset(p, 0, 0) + p->groups[0].columns[0].bytes);
	assert_true(pmfs_layout_offset(p, PER_BLOCK, 0) > pmfs_layout_offset(p, PER_BLOCK - 1, 2));
	pm_arena_done(&arena);
	mount_end(&m);
}

static void test_few_rows_are_measured(void **state)
{
	struct mount m;
	fault.ends_at = PMFS_GROUP_ROWS;
	mount_begin(&m, 256 << 20, PMFS_GROUP_ROWS);
	assert_in_range(n_rows_made, PMFS_GROUP_ROWS, PMFS_GROUP_ROWS + 1);
	mount_end(&m);
}

static void test_many_texts_are_measured(void **state)
{
	struct mount m;
	fault.long_text = sizeof(long_text);
	mount_begin(&m, 256 << 20, ROWS);
	assert_in_range(n_rows_made, ROWS, ROWS + 8);
	mount_end(&m);
}

/* A column of the first row group is as it should be, that of the second one cannot be read. */
static void check_second_group_fails(uint32_t column)
{
	char window[4096];
	size_t n;
	struct mount m;
	struct pm_arena arena = {.block = NULL};
	mount_begin(&m, 256 << 20, ROWS);
	struct pmfs_parquet *p = layout_of(&m, &arena);
	uint64_t first = pmfs_layout_offset(p, 0, column),
		 second = pmfs_layout_offset(p, 1, column);
	assert_int_equal(try_read(&m, first + 100, sizeof(window), window, &n), 0);
	assert_int_equal(try_read(&m, second + 100, sizeof(window), window, &n), -EIO);
	pm_arena_done(&arena);
	mount_end(&m);
}

static void test_what_has_no_room_is_an_error(void **state)
{
	fault.ends_at = ROWS;
	fault.beyond = PMFS_GROUP_ROWS;
	check_second_group_fails(0);
	fault.beyond = UINT64_MAX;
	fault.strange = PMFS_GROUP_ROWS;
	check_second_group_fails(2);
	fault.strange = UINT64_MAX;
	fault.ends_at = PMFS_GROUP_ROWS + 1;
	check_second_group_fails(0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_size_needs_no_row, setup),
		cmocka_unit_test_setup(test_the_footer_needs_no_row, setup),
		cmocka_unit_test_setup(test_a_window_needs_a_column_of_a_row_group, setup),
		cmocka_unit_test_setup(test_rows_that_are_decoded_are_decoded_once, setup),
		cmocka_unit_test_setup(test_windows_in_any_order_are_the_same_bytes, setup),
		cmocka_unit_test_setup(test_columns_of_several_blocks, setup),
		cmocka_unit_test_setup(test_few_rows_are_measured, setup),
		cmocka_unit_test_setup(test_many_texts_are_measured, setup),
		cmocka_unit_test_setup(test_what_has_no_room_is_an_error, setup),
	};
	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
