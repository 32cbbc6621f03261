/* fs/document: row groups are made once, windows are the same bytes, and what the metadata says. */
#include "mounted.h"

#include <sys/mman.h>
#include <unistd.h>

#include "formats/common/text.h"
#include "fs/document/thrift.h"
#include "profmount/profile.h"

enum { ROWS = 3 * PMFS_GROUP_ROWS + 1000 };

static uint64_t n_rows_made; /* atomic */

/* Row i has a number that all rows differ in, a fraction, a text of 300, and a cell in every third.
 */
static int next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	if (rows->at >= ROWS)
		return 0;
	__atomic_add_fetch(&n_rows_made, 1, __ATOMIC_RELAXED);
	uint64_t i = rows->at++;
	pm_text_clear(rows->scratch);
	pm_text_printf(rows->scratch, "name %u", (unsigned)(i % 300));
	pm_set_u64(&cells[0], i * 1000);
	pm_set_f64(&cells[1], (double)i / 8);
	pm_set_text(&cells[2], pm_text_view(rows->scratch));
	if (i % 3 == 0)
		pm_set_u64(&cells[3], i);
	else
		pm_set_empty(&cells[3]);
	return 1;
}

static const struct pm_table_type type = {.next = next, .dense = true};
static const char *const columns[] = {"time_ns", "share", "name", "line"};
static const struct pm_profile_ops ops = {.changed = NULL};
static const struct pm_profile profile = {.ops = &ops, .source = "source", .format = "format"};

static struct pm_doc document(void)
{
	return (struct pm_doc){.kind = PM_DOC_PARQUET,
		.of = &profile,
		.table = {.type = &type, .columns = columns, .n_columns = 4, .end = ROWS}};
}

static void mount_begin(struct mount *m, uint64_t limit)
{
	const struct pm_doc doc = document();
	n_rows_made = 0;
	mount_doc(m, &doc, limit);
}

static void test_a_cold_read_makes_each_row_group_once(void **state)
{
	struct mount m;
	mount_begin(&m, 256 << 20);
	free(read_all(&m));
	/* The piece of a processor ends when it sees the next piece's first row. */
	assert_in_range(n_rows_made, ROWS, ROWS + 8);
	mount_end(&m);
}

static void test_a_cache_without_room_keeps_no_row_group(void **state)
{
	struct mount m;
	mount_begin(&m, 1);
	assert_in_range(n_rows_made, ROWS, ROWS + 8);
	assert_true(pm_cache_bytes(m.cache) < 1 << 16);
	mount_end(&m);
}

static void test_windows_in_any_order_are_the_same_bytes(void **state)
{
	static const uint64_t limits[] = {256 << 20, 8 << 20, 1};
	struct mount whole, m;
	char window[5000];
	mount_begin(&whole, 256 << 20);
	char *all = read_all(&whole);
	for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++) {
		mount_begin(&m, limits[k]);
		assert_int_equal(m.size, whole.size);
		for (uint64_t i = 0, at = 12345; i < 20; i++, at = at * 6364136223846793005u + 1) {
			uint64_t off = (at >> 20) % m.size;
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

/* ---- a column ---- */

static void make(enum pmfs_storage storage, const struct pm_cell *cells, uint32_t n,
	struct pm_text *out, struct pmfs_chunk_facts *ret)
{
	struct pm_arena arena = {.block = NULL};
	struct pmfs_chunk c = {.n = 0};
	pmfs_chunk_begin(&arena, &c, storage);
	for (uint32_t i = 0; i < n; i++)
		pmfs_chunk_add(&c, &cells[i]);
	uint64_t most = pmfs_chunk_most(&c);
	pmfs_chunk_render(&c, out, ret);
	assert_false(out->failed);
	assert_in_range(most, out->len, out->len + 256);
	assert_int_equal(ret->bytes, out->len);
	pm_arena_done(&arena);
}

static void test_integers_stand_one_after_the_other(void **state)
{
	static const char expected[] =
		"\x15\x00\x15\x2c\x15\x2c\x2c\x15\x06\x15\x00\x15\x06\x15\x06\x00\x00" /* header */
		"\x02\x00\x00\x00\x03\x05"         /* levels: rows 0 and 2 */
		"\xff\xff\xff\xff\xff\xff\xff\xff" /* -1 */
		"\x07\x00\x00\x00\x00\x00\x00\x00";
	struct pm_cell cells[] = {pm_cell_empty(), pm_cell_empty(), pm_cell_u64(7)};
	struct pmfs_chunk_facts facts;
	struct pm_text out = {.p = NULL};
	pm_set_i64(&cells[0], -1);
	make(PMFS_STORE_I64, cells, 3, &out, &facts);
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(out.p, expected, out.len);
	assert_int_equal(facts.n_nulls, 1);
	assert_int_equal((int64_t)facts.min, -1);
	assert_int_equal(facts.max, 7);
	assert_int_equal(facts.seen & PMFS_SEEN_NEGATIVE, PMFS_SEEN_NEGATIVE);
	pm_text_done(&out);
}

static void test_equal_texts_stand_in_the_dictionary_once(void **state)
{
	const struct pm_cell cells[] = {pm_cell_str("one"), pm_cell_str("two"), pm_cell_str("one")};
	static const char dictionary[] = "\x03\0\0\0one\x03\0\0\0two";
	struct pmfs_chunk_facts facts;
	struct pm_text out = {.p = NULL};
	make(PMFS_STORE_TEXT, cells, 3, &out, &facts);
	assert_true(facts.dictionary > sizeof(dictionary) - 1);
	assert_memory_equal(out.p + facts.dictionary - (sizeof(dictionary) - 1), dictionary,
		sizeof(dictionary) - 1);
	assert_memory_equal(out.p + out.len - 3, "\x01\x03\x02", 3); /* width 1, 8 indexes, 0 1 0 */
	pm_text_done(&out);
}

static void bounds_of(const char *a, const char *b, struct pmfs_chunk_facts *ret)
{
	const struct pm_cell cells[] = {pm_cell_str(a), pm_cell_str(b)};
	struct pm_text out = {.p = NULL};
	make(PMFS_STORE_TEXT, cells, 2, &out, ret);
	pm_text_done(&out);
}

static void check_bound(const struct pmfs_bound *b, const char *text, bool is_exact)
{
	assert_int_equal(b->n, strlen(text));
	assert_memory_equal(b->p, text, b->n);
	assert_int_equal(b->is_exact, is_exact);
}

/* It is looked at once: later its page cannot be read. */
static void test_a_text_that_lasts_is_read_once(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct pm_arena arena = {.block = NULL};
	struct pmfs_chunk c = {.n = 0};
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, 'a', size);
	const struct pm_cell whole = pm_cell_lasting((struct pm_bytes){p, size});
	pmfs_chunk_begin(&arena, &c, PMFS_STORE_TEXT);
	pmfs_chunk_add(&c, &whole);
	assert_int_equal(mprotect(p, size, PROT_NONE), 0);
	pmfs_chunk_add(&c, &whole);
	assert_int_equal(mprotect(p, size, PROT_READ), 0);
	/* Another length at the same address is another text. */
	const struct pm_cell part = pm_cell_lasting((struct pm_bytes){p, size - 1});
	pmfs_chunk_add(&c, &part);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.texts.n, 2);
	assert_int_equal(c.values[1], 0);
	assert_int_equal(c.values[2], 1);
	pm_arena_done(&arena);
	munmap(p, size);
}

/* What is at the same address may be another text, if nobody says that it lasts. */
static void test_a_text_that_is_built_is_compared(void **state)
{
	uint8_t bytes[] = "one";
	const struct pm_cell cell = pm_cell_text((struct pm_bytes){bytes, 3});
	struct pm_arena arena = {.block = NULL};
	struct pmfs_chunk c = {.n = 0};
	pmfs_chunk_begin(&arena, &c, PMFS_STORE_TEXT);
	pmfs_chunk_add(&c, &cell);
	memcpy(bytes, "two", 3);
	pmfs_chunk_add(&c, &cell);
	assert_int_equal(c.texts.n, 2);
	pm_arena_done(&arena);
}

static void test_texts_have_bounds(void **state)
{
	struct pmfs_chunk_facts facts;
	bounds_of("mean", "main", &facts);
	check_bound(&facts.least, "main", true);
	check_bound(&facts.greatest, "mean", true);
	/* Longer than the room: the beginning, and what is greater than all that begin so. */
	bounds_of("0123456789012345678901234567890123", "0123456789012345678901234567890", &facts);
	check_bound(&facts.least, "0123456789012345678901234567890", true);
	check_bound(&facts.greatest, "01234567890123456789012345678902", false);
	/* A character is never torn apart, and only ASCII is counted up. */
	bounds_of("a012345678901234567890123456789\xc3\xa4z", "b", &facts);
	check_bound(&facts.least, "a012345678901234567890123456789", false);
	bounds_of(
		"a\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
		"a", &facts);
	check_bound(&facts.greatest, "b", false);
}

/* ---- Thrift ---- */

static void test_numbers_of_thrift(void **state)
{
	struct pm_text out = {.p = NULL};
	struct pmfs_thrift t = {.out = &out};
	pmfs_thrift_i32(&t, 1, 0);
	pmfs_thrift_i32(&t, 2, -1);
	pmfs_thrift_i64(&t, 5, 64);
	pmfs_thrift_i64(&t, 6, INT64_MIN);
	pmfs_thrift_bool(&t, 7, true);
	pmfs_thrift_bool(&t, 8, false);
	pmfs_thrift_str(&t, 9, "ab");
	pmfs_thrift_end(&t);
	static const char expected[] =
		"\x15\x00\x15\x01\x36\x80\x01\x16\xff\xff\xff\xff\xff\xff\xff"
		"\xff\xff\x01\x11\x12\x18\x02\x61\x62\x00";
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(out.p, expected, out.len);
	pm_text_done(&out);
}

static void test_lists_of_thrift(void **state)
{
	struct pm_text out = {.p = NULL};
	struct pmfs_thrift t = {.out = &out};
	pmfs_thrift_list(&t, 2, PMFS_THRIFT_STRUCT, 14);
	pmfs_thrift_list(&t, 3, PMFS_THRIFT_I32, 15);
	pmfs_thrift_list(&t, 4, PMFS_THRIFT_BINARY, 300);
	static const char expected[] = "\x29\xec\x19\xf5\x0f\x19\xf8\xac\x02";
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(out.p, expected, out.len);
	pm_text_done(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cold_read_makes_each_row_group_once),
		cmocka_unit_test(test_a_cache_without_room_keeps_no_row_group),
		cmocka_unit_test(test_windows_in_any_order_are_the_same_bytes),
		cmocka_unit_test(test_integers_stand_one_after_the_other),
		cmocka_unit_test(test_equal_texts_stand_in_the_dictionary_once),
		cmocka_unit_test(test_a_text_that_lasts_is_read_once),
		cmocka_unit_test(test_a_text_that_is_built_is_compared),
		cmocka_unit_test(test_texts_have_bounds),
		cmocka_unit_test(test_numbers_of_thrift),
		cmocka_unit_test(test_lists_of_thrift),
	};
	return cmocka_run_group_tests_name("parquet", tests, NULL, NULL);
}
