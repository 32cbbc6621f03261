/* Small files that claim large contents: the work is bounded by their size. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/zts/meta.h"
#include "formats/zts/texts.h"
#include "tests/zts/writer.h"

static void put_le32(struct pm_text *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		pm_text_char(out, (char)(value >> 8 * i));
}

/* An FM file of 1 kB whose text is n - 1 times the letter a: one block without data, and the end.
 */
static void put_run(struct pm_text *out, uint32_t n)
{
	const uint32_t blocks_end = 0x420 + 2 * 14;
	pm_text_str(out, "0MFZ");
	for (int i = 0; i < 7; i++)
		put_le32(out, (uint32_t[]){2, n, 0, 1, 0, 0, n - 1}[i]);
	for (unsigned v = 0; v < 256; v++)
		put_le32(out, v == 'a' ? n - 1 : v == 0);
	for (int i = 0; i < 2; i++) {
		put_le32(out, blocks_end);
		put_le32(out, i ? n - 1 : 0);
		put_le32(out, 0);
		pm_text_char(out, i ? 0 : 'a');
		pm_text_char(out, 0);
	}
}

/* Nothing is kept of an FM file without entries, and damage says why. */
static void expect_nothing(const struct pm_text *file, const char *what)
{
	struct zts_texts texts = {.n = 0};
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	assert_int_equal(zts_texts_add_fm(&texts, pm_text_view(file), &list, "text.fmi"), 0);
	assert_int_equal(texts.n, 0);
	assert_int_equal(texts.n_decoded, 0);
	struct pm_damages rows = pm_damage_rows(&list);
	assert_int_equal(rows.n, 1);
	assert_non_null(strstr(rows.rows[0].what, what));
	pm_damage_done(&list);
	zts_texts_done(&texts);
}

static void test_a_text_index_is_decoded_where_its_file_is_long_enough(void **state)
{
	static const uint32_t most = (1 << 16) + 64 * (0x420 + 2 * 14);
	static const struct {
		uint32_t length;
		const char *what;
	} runs[] = {
		{1u << 27, "claims a text of 134217728 bytes"},
		{most + 1, "claims a text"},
		{most, "1 entries of the text index are damaged"},
	};
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct pm_text file = {0};
		put_run(&file, runs[i].length);
		expect_nothing(&file, runs[i].what);
		pm_text_done(&file);
	}
}

/*
 * Three integers of nine bytes, and inside of them the mark of a record, its 17 integers and a map
 * of `pairs`, which goes on with the integers behind: each of n groups begins a record that reads
 * all that follow.
 */
static void put_nested(struct pm_text *out, size_t n, uint16_t pairs)
{
	const uint8_t group[] = {0x1b, 0x00, 0xd8, 0x41, 1, 1, 1, 1, 0x18, /* 0x18 takes … */
		0x1b, 1, 1, 1, 1, 1, 1, 1, 0x18,                           /* … the next 0x1b */
		0x1b, 1, 1, 1, 1, 0xb9, (uint8_t)(pairs >> 8), (uint8_t)pairs, 1};
	for (size_t i = 0; i < n; i++)
		pm_text_bytes(out, (struct pm_bytes){group, sizeof(group)});
}

static bool is_read_whole(const struct pm_text *file, size_t n)
{
	struct zts_spans spans = {.n = 0};
	bool whole = false;
	assert_int_equal(zts_meta_carve(&spans, pm_text_view(file), 0, 14, &whole), 0);
	assert_int_equal(spans.n, n);
	free(spans.items);
	return whole;
}

static void test_metadata_that_shares_its_bytes_is_read_as_far_as_they_go(void **state)
{
	struct pm_text file = {0};
	put_nested(&file, 1000, 18); /* 27 bytes a group, 18 pairs of it: within the file's bytes */
	assert_true(is_read_whole(&file, 0));
	pm_text_done(&file);
	put_nested(&file, 1000, 1000);
	assert_false(is_read_whole(&file, 0));
	pm_text_done(&file);
}

static void test_metadata_that_shares_nothing_is_read_whole(void **state)
{
	struct pm_text file = {0};
	for (int i = 0; i < 1000; i++)
		zts_put_meta(&file, &(struct zts_record){.timestamp_ns = 1 + (uint64_t)i});
	assert_true(is_read_whole(&file, 1000));
	pm_text_done(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_text_index_is_decoded_where_its_file_is_long_enough),
		cmocka_unit_test(test_metadata_that_shares_its_bytes_is_read_as_far_as_they_go),
		cmocka_unit_test(test_metadata_that_shares_nothing_is_read_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
