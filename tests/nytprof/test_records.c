/* formats/nytprof/stream.c: decoding, ends of streams, errors. */
#include "formats/nytprof/stream.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "tests/nytprof/writer.h"

static void drop(struct pm_bytes b)
{
	free((void *)(uintptr_t)b.p);
}

static void test_varint_of_every_length_reads_back(void **state)
{
	static const uint32_t values[] = {0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000,
		0xfffffff, 0x10000000, UINT32_MAX};
	static const size_t lengths[] = {1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct nytpw w = {.big = false};
		uint32_t got;
		nytpw_varint(&w, values[i]);
		struct pm_bytes b = nytpw_take(&w);
		assert_int_equal(b.len, lengths[i]);
		assert_int_equal(nytp_varint_decode(b.p, &got) - b.p, b.len);
		assert_int_equal(got, values[i]);
		drop(b);
	}
}

static void test_varint_may_be_longer_than_needed(void **state)
{
	static const uint8_t two[] = {0x80, 0x05}, four[] = {0xf0, 0, 0, 5},
			     five[] = {0xff, 0, 0, 0, 5};
	uint32_t got;
	assert_ptr_equal(nytp_varint_decode(two, &got), two + 2);
	assert_int_equal(got, 5);
	assert_ptr_equal(nytp_varint_decode(four, &got), four + 4);
	assert_int_equal(got, 5);
	assert_ptr_equal(nytp_varint_decode(five, &got), five + 5);
	assert_int_equal(got, 5);
}

/* The records of a stream as their tags, and how it ended. */
static int read_tags(struct pm_bytes file, char *tags, size_t room, struct nytp_break *why)
{
	struct nytp_stream s;
	struct nytp_record record;
	size_t n = 0, line;
	unsigned major;
	assert_true(nytp_first_line(file, &major, &line));
	assert_int_equal(nytp_stream_open(&s, file, line), 0);
	int r;
	while ((r = nytp_stream_next(&s, &record, why)) > 0)
		if (n + 1 < room && !strchr("#:!", record.tag))
			tags[n++] = (char)record.tag;
	tags[n] = 0;
	nytp_stream_close(&s);
	return r;
}

static const char rich_tags[] = "P@@@+*+<-+<+<-+<+<<SSSSsssssssccccccp";

static void test_stream_reads_all_records_plain_and_deflated(void **state)
{
	char tags[100];
	struct nytp_break why;
	for (int deflated = 0; deflated < 2; deflated++) {
		struct nytpw w = {.big = false};
		nytpw_rich(&w, 5, deflated);
		struct pm_bytes file = nytpw_take(&w);
		assert_int_equal(read_tags(file, tags, sizeof(tags), &why), 0);
		assert_string_equal(tags, rich_tags);
		drop(file);
	}
}

static void test_cut_stream_gives_the_whole_records_before_the_cut(void **state)
{
	char tags[100];
	struct nytp_break why;
	struct nytpw w = {.big = false};
	nytpw_rich(&w, 5, false);
	struct pm_bytes file = nytpw_take(&w);
	struct pm_bytes cut = {file.p, file.len - 3}; /* within the last record */
	assert_int_equal(read_tags(cut, tags, sizeof(tags), &why), -EINVAL);
	assert_int_equal(strlen(tags), strlen(rich_tags) - 1);
	assert_int_equal(why.offset, file.len - 10);
	assert_int_equal(why.bytes, 7);
	assert_true(why.cut);
	assert_string_equal(why.what, "the stream ends within a record");
	for (size_t len = file.len - 200; len < file.len; len++) {
		cut.len = len;
		if (read_tags(cut, tags, sizeof(tags), &why) != 0) /* not between two records */
			assert_string_equal(why.what, "the stream ends within a record");
	}
	drop(file);
}

static void test_deflated_stream_without_its_checksum_is_whole_and_broken(void **state)
{
	char tags[100];
	struct nytp_break why;
	struct nytpw w = {.big = false};
	nytpw_rich(&w, 5, true);
	struct pm_bytes file = nytpw_take(&w);
	struct pm_bytes cut = {file.p, file.len - 15 - 2};
	assert_int_equal(read_tags(cut, tags, sizeof(tags), &why), -EINVAL);
	assert_string_equal(tags, rich_tags);
	assert_int_equal(why.offset, cut.len);
	assert_true(why.cut);
	drop(file);
}

static void test_unknown_tag_ends_a_stream_where_it_stands(void **state)
{
	char tags[100];
	struct nytp_break why;
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	size_t at = w.out.len;
	pm_text_str(&w.out, "-\x01-");
	struct pm_bytes file = nytpw_take(&w);
	assert_int_equal(read_tags(file, tags, sizeof(tags), &why), -EINVAL);
	assert_string_equal(tags, "-");
	assert_int_equal(why.offset, at + 1);
	assert_false(why.cut);
	assert_string_equal(why.what, "no record begins with these bytes (tag 0x01)");
	drop(file);
}

static void test_string_longer_than_the_file_allocates_nothing(void **state)
{
	char tags[100];
	struct nytp_break why;
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	pm_text_str(&w.out, "S\x01\x01'");
	nytpw_varint(&w, UINT32_MAX);
	pm_text_str(&w.out, "text");
	struct pm_bytes file = nytpw_take(&w);
	assert_int_equal(read_tags(file, tags, sizeof(tags), &why), -EINVAL);
	assert_string_equal(tags, "");
	assert_true(why.cut);
	drop(file);
}

static void test_long_string_crosses_windows(void **state)
{
	enum { LEN = 700000 };
	struct nytp_break why;
	struct nytpw w = {.big = false};
	char tags[100];
	char *text = malloc(LEN + 1);
	assert_non_null(text);
	memset(text, 'x', LEN);
	text[LEN] = 0;
	nytpw_header(&w, 5);
	nytpw_deflate(&w);
	for (uint32_t i = 0; i < 3; i++)
		nytpw_source(&w, 1, i, text);
	struct pm_bytes file = nytpw_take(&w);
	assert_int_equal(read_tags(file, tags, sizeof(tags), &why), 0);
	assert_string_equal(tags, "SSS");
	drop(file);
	free(text);
}

static void test_first_line_may_end_with_crlf_and_must_end(void **state)
{
	unsigned major;
	size_t len;
	assert_true(nytp_first_line(pm_bytes_of("NYTProf 5 0\r\nrest"), &major, &len));
	assert_int_equal(major, 5);
	assert_int_equal(len, 13);
	assert_true(nytp_first_line(pm_bytes_of("NYTProf 2 1\n"), &major, &len));
	assert_int_equal(major, 2);
	assert_false(nytp_first_line(pm_bytes_of("NYTProf 5 0"), &major, &len));
	assert_false(nytp_first_line(pm_bytes_of("NYTProf\n"), &major, &len));
	assert_false(nytp_first_line((struct pm_bytes){NULL, 0}, &major, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varint_of_every_length_reads_back),
		cmocka_unit_test(test_varint_may_be_longer_than_needed),
		cmocka_unit_test(test_stream_reads_all_records_plain_and_deflated),
		cmocka_unit_test(test_cut_stream_gives_the_whole_records_before_the_cut),
		cmocka_unit_test(test_deflated_stream_without_its_checksum_is_whole_and_broken),
		cmocka_unit_test(test_unknown_tag_ends_a_stream_where_it_stands),
		cmocka_unit_test(test_string_longer_than_the_file_allocates_nothing),
		cmocka_unit_test(test_long_string_crosses_windows),
		cmocka_unit_test(test_first_line_may_end_with_crlf_and_must_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
