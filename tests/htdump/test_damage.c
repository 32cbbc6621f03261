/* Streams that end anywhere, and resynchronisation after broken bytes. */
#include "tests/htdump/test.h"

#include <stdio.h>
#include <string.h>

#include "profmount/limits.h"

enum { N = 40 };

/* N calls behind the metadata; ret_at[i] is where call i begins, ret_at[N] the end. */
static void calls_write(struct htdw *w, size_t *ret_at)
{
	htdw_begin(w, false, false);
	for (unsigned i = 0; i < N; i++) {
		ret_at[i] = w->len;
		htdw_call_int(w, 1, 1000005000u + 10 * i, 5, 77);
	}
	ret_at[N] = w->len;
}

static void bytes_move(struct htdw *w, size_t at, size_t from)
{
	memmove(w->p + at, w->p + from, w->len - from);
	w->len = w->len - from + at;
}

static void assert_damage(const struct htdw *w, uint64_t n_calls, size_t offset, size_t bytes)
{
	struct pm_profile p = written_open(w);
	struct pm_damages d = damages_of(&p);
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(&p, &threads, NULL), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.rows[0].offset, offset);
	assert_int_equal(d.rows[0].bytes, bytes);
	assert_int_equal(threads->n, 1);
	assert_int_equal(threads->threads[0].n_samples, n_calls);
	assert_null(stream_drain(&p));
	stream_close(&p);
}

static void test_cut_event_is_left_out(void **state)
{
	size_t at[N + 1];
	struct htdw w = {.p = NULL};
	calls_write(&w, at);
	for (w.len = at[N] - 1; w.len > at[N - 1]; w.len--)
		assert_damage(&w, N - 1, at[N - 1], w.len - at[N - 1]);
	htdw_done(&w);
}

enum { ROW = 256, ROWS = 256 };

/* Rows of raw/events.csv; ret_at[i] is where event i begins. Returns how many. */
static unsigned events_of(const struct htdw *w, char rows[ROWS][ROW], size_t *ret_at)
{
	struct pm_profile p = written_open(w);
	struct pm_doc doc;
	unsigned n = 0;
	unsigned long at;
	assert_true(stream_document(&p, "raw/events.csv", &doc));
	for (; stream_row(&doc.table, n, rows[n], ROW); n++) {
		assert_in_range(n, 0, ROWS - 2);
		assert_int_equal(sscanf(rows[n], "%*u|%lu", &at), 1);
		ret_at[n] = at;
	}
	ret_at[n] = w->len;
	stream_close(&p);
	return n;
}

/* Of two dumps, the second is cut anywhere; its byte order event needs what follows it. */
static void test_cut_leaves_every_whole_event(void **state)
{
	char rows[ROWS][ROW];
	size_t at[ROWS];
	for (int variant = 0; variant < 4; variant++) {
		struct htdw w = {.p = NULL};
		htdw_everything(&w, variant & 1, variant & 2);
		size_t second = w.len;
		htdw_everything(&w, variant & 1, variant & 2);
		unsigned whole = events_of(&w, rows, at) - 1;
		for (w.len--; w.len >= second; w.len--) {
			while (at[whole] > w.len)
				whole--;
			struct pm_profile p = written_open(&w);
			unsigned last = whole - (at[whole - 1] == second ? 2 : 1);
			assert_row(&p, "raw/events.csv", last, rows[last]);
			stream_close(&p);
		}
		htdw_done(&w);
	}
}

static void test_lost_byte_costs_one_call(void **state)
{
	size_t at[N + 1];
	for (size_t lost = 0; lost < 40; lost++) {
		struct htdw w = {.p = NULL};
		calls_write(&w, at);
		bytes_move(&w, at[20] + lost, at[20] + lost + 1);
		assert_damage(&w, N - 1, at[20], at[21] - at[20] - 1);
		htdw_done(&w);
	}
}

/* Nothing behind the damage is near to what was before it. */
static void test_a_pause_behind_damage_costs_one_call(void **state)
{
	const uint64_t pause = 2 * 3600 * UINT64_C(1000000000);
	for (size_t lost = 0; lost < 40; lost++)
		for (unsigned left = 3; left < N - 20; left++) {
			size_t at[N + 1];
			struct htdw w = {.p = NULL};
			htdw_begin(&w, false, false);
			for (unsigned i = 0; i < 21 + left; i++) {
				at[i] = w.len;
				htdw_call_int(
					&w, 1, 1000005000u + 10 * i + (i > 20 ? pause : 0), 5, 77);
			}
			bytes_move(&w, at[20] + lost, at[20] + lost + 1);
			assert_damage(&w, 20 + left, at[20], at[21] - at[20] - 1);
			htdw_done(&w);
		}
}

static void test_hole_of_zeros_makes_no_events(void **state)
{
	size_t at[N + 1];
	struct htdw w = {.p = NULL};
	calls_write(&w, at);
	memset(w.p + at[10], 0, at[20] - at[10]);
	assert_damage(&w, N - 10, at[10], at[20] - at[10]);
	htdw_done(&w);
}

static void test_unknown_class_is_skipped(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, 1000005000, 5, "before");
	size_t at = htdw_event(&w, 1234);
	htdw_text(&w, "what nobody described");
	size_t after = w.len;
	htdw_call_text(&w, 1, 1000006000, 5, "after");
	assert_damage(&w, 2, at, after - at);
	htdw_done(&w);
}

static void test_dump_behind_a_cut_one_is_read(void **state)
{
	size_t at[N + 1];
	struct htdw w = {.p = NULL};
	calls_write(&w, at);
	w.len -= 7;
	w.id = 0;
	size_t second = w.len;
	htdw_begin(&w, false, true);
	htdw_call_int(&w, 1, 5, 5, 77); /* of another run */
	assert_damage(&w, N, at[N - 1], second - at[N - 1]);
	htdw_done(&w);
}

static void test_call_of_impossible_length_next_to_damage_is_left_out(void **state)
{
	size_t at[N + 1];
	struct htdw w = {.p = NULL};
	calls_write(&w, at);
	memset(w.p + at[20] + 20, 0xee, 8);          /* its duration */
	memset(w.p + at[21], 0xee, at[22] - at[21]); /* and all of the next one */
	assert_damage(&w, N - 2, at[20], at[22] - at[20]);
	htdw_done(&w);
}

static void test_field_of_an_unknown_class_is_named(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	size_t at = w.len;
	htdw_field(&w, 999, "uint8_t", "ghost", 1, HTDW_UNSIGNED);
	size_t end = w.len;
	htdw_call_text(&w, 1, 1000005000, 5, "after");
	assert_damage(&w, 1, at, end - at);
	htdw_done(&w);
}

/* Each header begins a search for a NUL far behind; together they must take the time of one. */
static void test_far_ends_of_strings_are_searched_once(void **state)
{
	const uint64_t no_zero = 0x0101010101010101;
	for (int ends = 0; ends < 2; ends++) {
		struct htdw w = {.p = NULL};
		htdw_begin(&w, false, false);
		w.id = no_zero;
		htdw_klass(&w, (uint32_t)no_zero, "Text", 1);
		htdw_field(&w, (uint32_t)no_zero, "const char*", "s", 8, HTDW_STRING);
		htdw_event_at(&w, (uint32_t)no_zero, no_zero, no_zero);
		htdw_text(&w, "trusted");
		htdw_event_at(&w, 1234, no_zero, no_zero);
		for (int i = 0; i < (ends ? 50000 : 200000); i++)
			htdw_event_at(&w, (uint32_t)no_zero, no_zero, no_zero);
		if (ends)
			htdw_text(&w, "and something that is no event");
		struct pm_profile p = written_open(&w);
		assert_int_equal(damages_of(&p).n, 1);
		assert_null(stream_drain(&p));
		stream_close(&p);
		htdw_done(&w);
	}
}

static void test_calls_too_deep_for_a_tree_are_damage(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	for (uint64_t i = 0; i <= PM_LIMIT_DEPTH; i++)
		htdw_call_text(&w, 1, UINT64_C(2000000000) + i, 2 * (PM_LIMIT_DEPTH + 1 - i), "f");
	struct pm_profile p = written_open(&w);
	struct pm_damages d = damages_of(&p);
	assert_int_equal(d.n, 1);
	assert_non_null(strstr(d.rows[0].what, "deeper than 1000000 levels"));
	stream_close(&p);
	htdw_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_event_is_left_out),
		cmocka_unit_test(test_cut_leaves_every_whole_event),
		cmocka_unit_test(test_lost_byte_costs_one_call),
		cmocka_unit_test(test_a_pause_behind_damage_costs_one_call),
		cmocka_unit_test(test_hole_of_zeros_makes_no_events),
		cmocka_unit_test(test_unknown_class_is_skipped),
		cmocka_unit_test(test_dump_behind_a_cut_one_is_read),
		cmocka_unit_test(test_call_of_impossible_length_next_to_damage_is_left_out),
		cmocka_unit_test(test_field_of_an_unknown_class_is_named),
		cmocka_unit_test(test_far_ends_of_strings_are_searched_once),
		cmocka_unit_test(test_calls_too_deep_for_a_tree_are_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
