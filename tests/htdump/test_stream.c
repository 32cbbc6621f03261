/* Variants of the stream, its index, and its facts. */
#include "tests/htdump/test.h"

#include <string.h>

#include "formats/htdump/htdump.h"
#include "formats/htdump/klass.h"

static int dialect_of(const struct htdw *w, struct htd_dialect *ret)
{
	return htd_dialect_detect((struct pm_bytes){w->p, w->len}, ret);
}

static void test_layouts_and_byte_orders_are_told_apart(void **state)
{
	for (int variant = 0; variant < 8; variant++) {
		bool timestamp_first = variant & 1, big = variant & 2, cut = variant & 4;
		struct htdw w = {.p = NULL};
		struct htd_dialect d;
		htdw_everything(&w, timestamp_first, big);
		struct htdw seen = w;
		if (cut) { /* no byte order event */
			seen.p += 21;
			seen.len -= 21;
		}
		assert_in_range(dialect_of(&seen, &d), 80, 100);
		assert_int_equal(d.timestamp_first, timestamp_first);
		assert_int_equal(d.big, big);
		struct pm_profile p = written_open(&seen);
		assert_null(stream_drain(&p));
		assert_int_equal(damages_of(&p).n, 0);
		assert_row(&p, "classes/All/events.csv", 1,
			cut ? "47|1000004300|46|200|-1|0.25|0.125|0x1001|7|semi;colon|inner|[0,1,2]"
			    : "48|1000004300|46|200|-1|0.25|0.125|0x1001|7|semi;colon|inner|[0,1,2]");
		stream_close(&p);
		htdw_done(&w);
	}
}

static void test_numbering_of_release_06_is_recognised(void **state)
{
	struct htdw w = {.time = 1000};
	struct htd_dialect d;
	htdw_event_at(&w, 2, 0, 0);
	htdw_number(&w, 0, 1);
	htdw_event(&w, 3);
	htdw_number(&w, 10, 4);
	htdw_text(&w, "Own");
	htdw_number(&w, 1, 1);
	htdw_event(&w, 4);
	htdw_number(&w, 10, 4);
	htdw_text(&w, "uint8_t");
	htdw_text(&w, "x");
	htdw_number(&w, 1, 8);
	htdw_number(&w, 99, 1);
	htdw_event(&w, 10);
	htdw_number(&w, 5, 1);
	assert_int_equal(dialect_of(&w, &d), 95);
	assert_int_equal(d.ids.endianness, 2);
	struct pm_profile p = written_open(&w);
	assert_int_equal(damages_of(&p).n, 0);
	assert_row(&p, "raw/classes.csv", 0, "1|0||HT_Event");
	assert_row(&p, "raw/classes.csv", 1, "2|2|HT_Event|HT_EndiannessInfoEvent");
	assert_row(&p, "raw/events.csv", 3, "3|93|10|1300|2|Own|x=5");
	stream_close(&p);
	htdw_done(&w);
}

static void test_other_files_are_not_recognised(void **state)
{
	static const char *const others[] = {"", "x", "some text that is longer than a header is",
		"\x02\0\0\0 and then nothing that is a name\x01"};
	struct htd_dialect d;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(htd_dialect_detect(pm_bytes_of(others[i]), &d), 0);
	static const uint8_t zeros[4096];
	assert_int_equal(htd_dialect_detect((struct pm_bytes){zeros, sizeof(zeros)}, &d), 0);
}

static void test_stream_without_an_event_is_refused(void **state)
{
	static const uint8_t zeros[100];
	struct pm_profile p;
	struct pm_error err;
	for (size_t n = 0; n < sizeof(zeros); n++)
		assert_int_equal(stream_open(zeros, n, &p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no readable event"));
}

static void test_byte_order_changes_where_a_dump_is_appended(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, 2000000000, 10, "little");
	htdw_begin(&w, false, true);
	htdw_call_text(&w, 1, 2000000100, 10, "big");
	struct pm_profile p = written_open(&w);
	assert_int_equal(damages_of(&p).n, 0);
	assert_null(stream_drain(&p));
	assert_row(&p, "classes/HT_CallstackStringEvent/events.csv", 1,
		"51|2000000100|47|100|10|1|big");
	assert_rows(&p, "raw/classes.csv", 9);
	stream_close(&p);
	htdw_done(&w);
}

static void test_any_event_is_found_through_the_index(void **state)
{
	enum { N = 5000 };
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	for (unsigned i = 0; i < N; i++)
		htdw_call_text(&w, 1, 2000000000u + 10 * i, 5, i % 3 ? "a" : "longer label");
	struct pm_profile p = written_open(&w);
	const struct htd_stream *s = &htd_opened_of(&p)->stream;
	assert_int_equal(htd_scan_get(htd_opened_of(&p), NULL), 0);
	struct htd_walk all, one;
	struct htd_event a, b;
	htd_walk_start(&all, s, 0);
	for (uint64_t seq = 0; htd_walk_next(&all, &a); seq++) {
		if (seq % 101)
			continue;
		htd_walk_start(&one, s, seq);
		assert_true(htd_walk_next(&one, &b));
		assert_int_equal(b.at, a.at);
		assert_int_equal(htd_stream_seq(s, htd_place_of(a.at, seq)), seq);
	}
	assert_int_equal(all.seq, s->n_events);
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
}

/* Opening reads the head; the second thread of a long stream is seen without all of it. */
static void test_opening_does_not_scan(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_int(&w, 1, 2000000000u, 5, 1);
	htdw_call_int(&w, 2, 2000000010u, 5, 1);
	for (unsigned i = 0; i < 5000; i++)
		htdw_call_int(&w, 1, 2000000020u + 10 * i, 5, i % 10);
	struct pm_profile p = written_open(&w);
	struct htd_opened *src = htd_opened_of(&p);
	const struct pm_collection *collections;
	const struct pm_named_doc *docs;
	size_t n;
	assert_int_equal(p.ops->has(&p, PM_HAS_SEVERAL_THREADS, NULL), 1);
	assert_int_equal(pm_profile_documents(&p, &docs, &n, NULL), 0);
	assert_int_equal(pm_profile_collections(&p, &collections, &n, NULL), 0);
	assert_int_equal(src->stream.n_events, 0);
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(&p, &threads, NULL), 0);
	assert_int_equal(threads->n, 2);
	assert_true(src->stream.n_events > 5000);
	stream_close(&p);
	htdw_done(&w);
}

static void test_memory_of_an_opened_stream_is_small(void **state)
{
	enum { N = 200000 };
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	for (unsigned i = 0; i < N; i++)
		htdw_call_int(&w, i / 25 % 4, 2000000000u + 10 * i, 5, i % 10);
	struct pm_profile p = written_open(&w);
	const struct htd_stream *s = &htd_opened_of(&p)->stream;
	assert_int_equal(htd_scan_get(htd_opened_of(&p), NULL), 0);
	size_t runs = 0;
	for (size_t i = 0; i < s->n_threads; i++)
		runs += s->threads[i].calls.n;
	for (size_t i = 0; i < s->table.n_klasses; i++)
		runs += s->table.klasses[i].events.n;
	assert_in_range((runs + s->n_index) * 8, 1, w.len / 40); /* 2.5 % */
	stream_close(&p);
	htdw_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts_and_byte_orders_are_told_apart),
		cmocka_unit_test(test_numbering_of_release_06_is_recognised),
		cmocka_unit_test(test_other_files_are_not_recognised),
		cmocka_unit_test(test_stream_without_an_event_is_refused),
		cmocka_unit_test(test_byte_order_changes_where_a_dump_is_appended),
		cmocka_unit_test(test_any_event_is_found_through_the_index),
		cmocka_unit_test(test_opening_does_not_scan),
		cmocka_unit_test(test_memory_of_an_opened_stream_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
