/* Nesting, labels, time order and costs of calls. */
#include "tests/htdump/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"

/* What a call should become. */
struct want {
	uint64_t start, duration;
	int64_t self;
	uint32_t depth;
	const char *label;
};

static void assert_trace(
	const struct pm_profile *p, uint32_t thread, const struct want *want, size_t n)
{
	const struct pm_tree *tree;
	struct pm_sample got[64];
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(p->ops->samples(p, thread, 0, got, 64, NULL), n);
	for (size_t i = 0; i < n; i++) {
		uint32_t context = pm_tree_find(tree, got[i].context);
		struct pm_bytes name = tree->texts[pm_tree_frame(tree, context)->name];
		assert_int_equal(got[i].time_ns, want[i].start);
		assert_int_equal(got[i].duration_ns, want[i].duration);
		assert_int_equal((int64_t)got[i].self_ns, want[i].self);
		assert_int_equal(tree->depth[context], want[i].depth);
		assert_true(pm_bytes_equal(name, pm_bytes_of(want[i].label)));
	}
	assert_null(stream_drain(p));
}

#define T UINT64_C(2000000000)

static void test_calls_nest_by_start_and_duration(void **state)
{
	static const struct want want[] = {
		{T, 100, 75, 0, "root"},
		{T + 10, 20, 15, 1, "f"},
		{T + 12, 5, 5, 2, "g"},
		{T + 40, 5, 5, 1, "g"},
		{T + 100, 0, 0, 1, "at the end"},
		{T + 200, 1, 1, 0, "next"},
	};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, T + 12, 5, "g");
	htdw_call_text(&w, 1, T + 10, 20, "f");
	htdw_call_text(&w, 1, T + 40, 5, "g");
	htdw_call_text(&w, 1, T, 100, "root");
	htdw_call_text(&w, 1, T + 100, 0, "at the end");
	htdw_call_text(&w, 1, T + 200, 1, "next");
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 6);
	assert_row(&p, "labels.csv", 0, "1|100|75|100|100|100|100|100|100|100|root");
	assert_row(&p, "labels.csv", 2, "2|10|10|5|5|5|5|5|5|5|g");
	stream_close(&p);
	htdw_done(&w);
}

static void test_equal_starts_nest_by_id(void **state)
{
	static const struct want want[] = {
		{T, 100, 0, 0, "outer"}, {T, 100, 0, 1, "middle"}, {T, 100, 100, 2, "inner"}};
	static const char *const labels[] = {"inner", "middle", "outer"};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	for (int i = 0; i < 3; i++) {
		htdw_event_at(&w, HTDW_CALL_TEXT, T, (uint64_t)(1000 - i));
		htdw_number(&w, 100, 8);
		htdw_number(&w, 1, 4);
		htdw_text(&w, labels[i]);
	}
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 3);
	stream_close(&p);
	htdw_done(&w);
}

static void test_overlapping_calls_are_shown_and_counted(void **state)
{
	static const struct want want[] = {
		{T, 50, 50, 0, "a"}, {T + 20, 60, 50, 0, "b"}, {T + 30, 10, 10, 1, "c"}};
	struct htdw w = {.p = NULL};
	const struct pm_fact *facts;
	size_t n;
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, T + 30, 10, "c");
	htdw_call_text(&w, 1, T, 50, "a");
	htdw_call_text(&w, 1, T + 20, 60, "b");
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 3);
	assert_int_equal(pm_profile_facts(&p, &facts, &n, NULL), 0);
	assert_string_equal(facts[n - 1].key, "overlapping_calls");
	assert_int_equal(facts[n - 1].value.u, 1);
	stream_close(&p);
	htdw_done(&w);
}

static void test_ends_beyond_64_bits_do_not_wrap(void **state)
{
	static const struct want want[] = {{UINT64_MAX - 4, 100, 90, 0, "far"},
		{UINT64_MAX - 2, 10, 10, 1, "in it"}, {UINT64_MAX, 200, 200, 0, "last"}};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, UINT64_MAX - 2, 10, "in it");
	htdw_call_text(&w, 1, UINT64_MAX - 4, 100, "far");
	htdw_call_text(&w, 1, UINT64_MAX, 200, "last");
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 3);
	stream_close(&p);
	htdw_done(&w);
}

static void test_self_times_that_no_sign_fits_are_unknown(void **state)
{
	static const struct want want[] = {{1, INT64_MAX, INT64_MAX - 5, 0, "fits"},
		{2, 5, 5, 1, "child"}, {3, UINT64_MAX, INT64_MIN, 0, "never ends"},
		{4, UINT64_C(1) << 63, INT64_MIN, 1, "long"}, {5, 7, 7, 2, "child"}};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		htdw_call_text(&w, 1, want[i].start, want[i].duration, want[i].label);
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, sizeof(want) / sizeof(*want));
	stream_close(&p);
	htdw_done(&w);
}

/* Three children overlap, so that together they take longer than any sign fits. */
static void test_self_times_less_than_any_sign_fits_are_unknown(void **state)
{
	enum { LESS = 10 };
	static const uint64_t most = INT64_MAX;
	static const struct want want[] = {{1, INT64_MAX, INT64_MIN, 0, "parent"},
		{2, INT64_MAX - LESS, INT64_MAX - LESS, 1, "a"},
		{3, INT64_MAX - LESS, INT64_MAX - LESS, 1, "b"},
		{4, INT64_MAX - LESS, INT64_MAX - LESS, 1, "c"}};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, 1, most, "parent");
	for (uint64_t i = 0; i < 3; i++)
		htdw_call_text(&w, 1, 2 + i, most - LESS, want[1 + i].label);
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 4);
	stream_close(&p);
	htdw_done(&w);
}

static void test_sums_beyond_64_bits_do_not_wrap(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, 1, UINT64_MAX, "x");
	htdw_call_text(&w, 2, 1, UINT64_MAX, "x");
	struct pm_profile p = written_open(&w);
	assert_row(&p, "labels.csv", 0,
		"2|3.68935e+19|3.68935e+19|18446744073709551615|18446744073709551615|"
		"18446744073709551615|18446744073709551615|18446744073709551615|"
		"18446744073709551615|18446744073709551615|x");
	stream_close(&p);
	htdw_done(&w);
}

static int by_duration(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The last of the first `percent` of the calls, as quantile_disc has it. */
static uint64_t quantile(const uint64_t *sorted, size_t n, size_t percent)
{
	size_t rank = (n * percent + 99) / 100;
	return sorted[rank ? rank - 1 : 0];
}

enum { MANY = 30000, FEW = 7 };
static const size_t counts[] = {MANY, FEW};

/* The percentiles of the functions are those of the sorted durations, as in labels.csv. */
static void assert_call_times(const struct pm_profile *p, uint64_t durations[2][MANY])
{
	const struct pm_call_times *times;
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_call_times(p, &times, NULL), 0);
	for (uint32_t i = 0; i < tree->n_functions; i++) {
		bool few = pm_bytes_equal(tree->texts[tree->functions[i].name], pm_bytes_of("few"));
		size_t n = counts[few];
		assert_true(times[i].known);
		assert_int_equal(times[i].p50_ns, quantile(durations[few], n, 50));
		assert_int_equal(times[i].p90_ns, quantile(durations[few], n, 90));
		assert_int_equal(times[i].p99_ns, quantile(durations[few], n, 99));
		assert_int_equal(times[i].max_ns, durations[few][n - 1]);
	}
}

/*
 * Many calls of most different durations, half of them equal; and few. Durations of `most` calls
 * are counted at once.
 */
static void assert_percentiles(size_t most)
{
	static const char *const names[] = {"many", "few"};
	static uint64_t durations[2][MANY];
	struct htdw w = {.p = NULL};
	uint64_t start = T, random = 1;
	pm_durations_most = most;
	htdw_begin(&w, false, false);
	for (size_t label = 0; label < 2; label++)
		for (size_t i = 0; i < counts[label]; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint64_t ns = i % 2 ? 777 : random >> (24 + random % 40);
			htdw_call_text(&w, 1 + (uint32_t)(i % 3), start, ns, names[label]);
			durations[label][i] = ns;
			start += ns + 1;
		}
	struct pm_profile p = written_open(&w);
	for (uint64_t row = 0; row < 2; row++) {
		struct pm_doc doc;
		char got[512], want[512];
		assert_true(stream_document(&p, "labels.csv", &doc));
		assert_true(stream_row(&doc.table, row, got, sizeof(got)));
		size_t label = strstr(got, "few") != NULL, n = counts[label];
		qsort(durations[label], n, sizeof(uint64_t), by_duration);
		snprintf(want, sizeof(want), "|%llu|%llu|%llu|%llu|%llu|%s",
			(unsigned long long)quantile(durations[label], n, 50),
			(unsigned long long)quantile(durations[label], n, 90),
			(unsigned long long)quantile(durations[label], n, 95),
			(unsigned long long)quantile(durations[label], n, 99),
			(unsigned long long)durations[label][n - 1], names[label]);
		assert_non_null(strstr(got, want));
	}
	assert_call_times(&p, durations);
	stream_close(&p);
	htdw_done(&w);
}

static void test_percentiles_are_those_of_the_sorted_durations(void **state)
{
	const size_t saved = pm_durations_most;
	assert_percentiles(saved);
	for (size_t most = 1; most <= MANY; most *= 30)
		assert_percentiles(most);
	pm_durations_most = saved;
}

static void test_sums_that_no_double_holds_are_exact(void **state)
{
	const uint64_t long_ns = (UINT64_C(1) << 53) + 1;
	struct pm_value values[3];
	struct pm_error err;
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 1, T, long_ns, "x");
	htdw_call_text(&w, 2, T, long_ns, "x");
	htdw_call_text(&w, 2, T + long_ns + 1, 3, "x");
	struct pm_profile p = written_open(&w);
	assert_int_equal(p.ops->run_costs(&p, 0, values, 3, &err), 3);
	assert_true(values[0].whole && values[0].u == 2 * long_ns + 3);
	assert_int_equal(p.ops->values(&p, (struct pm_values_of){PM_OF_THREAD, 0, false}, 1, values,
				 1, &err),
		1);
	assert_true(values[0].whole && values[0].u == long_ns);
	stream_close(&p);
	htdw_done(&w);
}

static void test_labels_follow_the_mapping_in_force(void **state)
{
	static const struct want want[] = {{T, 5, 5, 0, "one"}, {T + 10, 5, 5, 0, "one"},
		{T + 20, 5, 5, 0, "two"}, {T + 30, 5, 5, 0, "8"}, {T + 40, 5, 5, 0, ""}};
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_call_int(&w, 1, T, 5, 7); /* before its mapping */
	htdw_mapping(&w, 7, "one");
	htdw_mapping(&w, 7, "one");
	htdw_call_int(&w, 1, T + 10, 5, 7);
	htdw_mapping(&w, 7, "two");
	htdw_call_int(&w, 1, T + 20, 5, 7);
	htdw_call_int(&w, 1, T + 30, 5, 8);
	htdw_event_at(&w, HTDW_CALL_BASE, T + 40, w.id++);
	htdw_number(&w, 5, 8);
	htdw_number(&w, 1, 4);
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, want, 5);
	stream_close(&p);
	htdw_done(&w);
}

/* A class of calls with a `name` in the place of a `label`; as a text it is the label. */
static void check_own_call(enum htdw_type type, const char *want)
{
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	htdw_klass(&w, HTDW_OWN, "Task", 2);
	htdw_field(&w, HTDW_OWN, "HT_CallstackBaseEvent", "base", 0, HTDW_STRUCT);
	htdw_field(&w, HTDW_OWN, "name_t", "name", 8, type);
	htdw_event_at(&w, HTDW_OWN, T, 77);
	htdw_number(&w, 5, 8);
	htdw_number(&w, 1, 4);
	if (type == HTDW_STRING)
		htdw_text(&w, "load");
	else
		htdw_number(&w, 3, 8);
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, &(struct want){T, 5, 5, 0, want}, 1);
	stream_close(&p);
	htdw_done(&w);
}

static void test_a_name_is_the_label_of_calls_without_one(void **state)
{
	(void)state;
	check_own_call(HTDW_STRING, "load");
	check_own_call(HTDW_UNSIGNED, "");
}

/* Only classes of the program can have them. */
static void test_negative_calls_are_only_counted(void **state)
{
	static const int64_t duration[] = {5, -5, 5, -5}, thread[] = {1, 1, -1, -1};
	struct htdw w = {.p = NULL};
	const struct pm_fact *facts;
	size_t n;
	htdw_begin(&w, false, false);
	htdw_klass(&w, HTDW_OWN, "Task", 4);
	htdw_field(&w, HTDW_OWN, "HT_Event", "base", 0, HTDW_STRUCT);
	htdw_field(&w, HTDW_OWN, "int64_t", "duration", 8, HTDW_INTEGER);
	htdw_field(&w, HTDW_OWN, "int32_t", "thread_id", 4, HTDW_INTEGER);
	htdw_field(&w, HTDW_OWN, "const char*", "label", 8, HTDW_STRING);
	for (size_t i = 0; i < 4; i++) {
		htdw_event_at(&w, HTDW_OWN, T + i, 77 + i);
		htdw_number(&w, (uint64_t)duration[i], 8);
		htdw_number(&w, (uint64_t)thread[i], 4);
		htdw_text(&w, "load");
	}
	struct pm_profile p = written_open(&w);
	assert_trace(&p, 0, &(struct want){T, 5, 5, 0, "load"}, 1);
	assert_int_equal(pm_profile_facts(&p, &facts, &n, NULL), 0);
	assert_string_equal(facts[n - 2].key, "negative_calls");
	assert_int_equal(facts[n - 2].value.u, 3);
	stream_close(&p);
	htdw_done(&w);
}

static void test_threads_come_in_order_of_their_numbers(void **state)
{
	struct htdw w = {.p = NULL};
	const struct pm_threads *threads;
	htdw_begin(&w, false, false);
	htdw_call_text(&w, 4294967295u, T, 1, "a");
	htdw_call_text(&w, 2, T, 1, "b");
	htdw_call_text(&w, 2, T + 5, 1, "b");
	struct pm_profile p = written_open(&w);
	assert_int_equal(pm_profile_threads(&p, &threads, NULL), 0);
	assert_int_equal(threads->n, 2);
	assert_int_equal(threads->threads[0].identity[0].value, 2);
	assert_int_equal(threads->threads[0].n_samples, 2);
	assert_int_equal(threads->threads[1].identity[0].value, 4294967295u);
	stream_close(&p);
	htdw_done(&w);
}

/* ---- against a plain sort, over many marks ---- */

struct plain {
	uint64_t start, duration, id, self;
};

static int plain_order(const void *a, const void *b)
{
	const struct plain *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool holds(const struct plain *a, const struct plain *b)
{
	return b->start >= a->start && b->start + b->duration <= a->start + a->duration;
}

static void plain_nest(struct plain *calls, size_t n)
{
	size_t *stack = calloc(n, sizeof(*stack)), depth = 0;
	qsort(calls, n, sizeof(*calls), plain_order);
	for (size_t i = 0; i < n; i++) {
		while (depth && !holds(&calls[stack[depth - 1]], &calls[i]))
			depth--;
		calls[i].self = calls[i].duration;
		if (depth)
			calls[stack[depth - 1]].self -= calls[i].duration;
		stack[depth++] = i;
	}
	free(stack);
}

static void assert_plain(const struct plain *calls, size_t n)
{
	struct htdw w = {.p = NULL};
	struct plain *want = calloc(n, sizeof(*want));
	struct pm_sample s;
	htdw_begin(&w, false, false);
	for (size_t i = 0; i < n; i++) {
		want[i] = calls[i];
		want[i].id = w.id;
		htdw_call_int(&w, 1, want[i].start, want[i].duration, i % 5);
		if (i % 3 == 0) /* another thread between them */
			htdw_call_int(&w, 2, T + i, 1, 9);
	}
	plain_nest(want, n);
	struct pm_profile p = written_open(&w);
	for (size_t i = 0; i < n; i += 1 + i % 7) {
		assert_int_equal(p.ops->samples(&p, 0, i, &s, 1, NULL), 1);
		assert_int_equal(s.time_ns, want[i].start);
		assert_int_equal(s.duration_ns, want[i].duration);
		assert_int_equal(s.self_ns, want[i].self);
	}
	assert_null(stream_drain(&p));
	stream_close(&p);
	htdw_done(&w);
	free(want);
}

static void test_shuffled_calls_are_in_time_order(void **state)
{
	enum { N = 6000 };
	struct plain *calls = calloc(N, sizeof(*calls));
	uint64_t random = 1;
	for (size_t i = 0; i < N; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		calls[i].start = T + (random >> 33) % 20000;
		calls[i].duration = (random >> 50) % 300;
	}
	assert_plain(calls, N);
	free(calls);
}

/* Post-order, as recorded: children before the call that holds them. */
static void test_deep_calls_keep_their_self_times_across_marks(void **state)
{
	enum { N = 5000, DEPTH = 1500 };
	struct plain *calls = calloc(N, sizeof(*calls));
	for (size_t i = 0; i < N; i++) {
		uint64_t tower = i / DEPTH, level = DEPTH - 1 - i % DEPTH;
		calls[i].start = T + tower * 100000 + level;
		calls[i].duration = 10000 - 2 * level;
	}
	assert_plain(calls, N);
	free(calls);
}

static void io_call(struct htdw *w, uint32_t thread, uint64_t start, uint64_t duration,
	int64_t bytes, double rate)
{
	htdw_event_at(w, HTDW_OWN, start, w->id++);
	htdw_number(w, duration, 8);
	htdw_number(w, thread, 4);
	htdw_number(w, (uint64_t)bytes, 8);
	htdw_real(w, rate, 8);
	htdw_text(w, "read");
}

/* root calls read on one thread; on the other one there is too much for 64 bits. */
static void io_calls(struct htdw *w)
{
	htdw_begin(w, false, false);
	htdw_klass(w, HTDW_OWN, "Io", 6);
	htdw_field(w, HTDW_OWN, "HT_Event", "base", 0, HTDW_STRUCT);
	htdw_field(w, HTDW_OWN, "uint64_t", "duration", 8, HTDW_UNSIGNED);
	htdw_field(w, HTDW_OWN, "uint32_t", "thread_id", 4, HTDW_UNSIGNED);
	htdw_field(w, HTDW_OWN, "int64_t", "bytes", 8, HTDW_INTEGER);
	htdw_field(w, HTDW_OWN, "double", "rate", 8, HTDW_DOUBLE);
	htdw_field(w, HTDW_OWN, "const char*", "label", 8, HTDW_STRING);
	io_call(w, 1, T + 10, 20, 10, 1.5);
	io_call(w, 1, T + 12, 5, -2, 0);
	io_call(w, 1, T + 40, 5, -4, 0.25);
	htdw_call_text(w, 1, T, 100, "root");
	io_call(w, 2, T, 5, INT64_MAX, NAN);
	io_call(w, 2, T + 10, 5, 1, INFINITY);
}

/* Appends `metric=value ` of each, those of calls apart. */
static void show_values(struct pm_text *out, const struct pm_value *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		const struct pm_value *v = &values[i];
		if (v->metric < PM_CALLS_N_METRICS)
			continue;
		pm_text_printf(out, "%u=", v->metric);
		if (v->whole)
			pm_text_i64(out, v->i);
		else
			pm_text_printf(out, "%g", v->f);
		pm_text_char(out, ' ');
	}
}

static void test_numbers_of_calls_are_quantities(void **state)
{
	static const char *const of_run[] = {"0 root 3=4 5=1.75 ", "1 read 3=4 4=6 5=1.75 6=1.75 ",
		"2 read 3=-2 4=-2 5=0 6=0 ", "0 read 3=9.22337e+18 4=9.22337e+18 "};
	static const char *const of_thread[] = {
		"5=1.75 3=4 5=1.75 6=1.75 3=4 4=6 5=0 6=0 3=-2 4=-2 ", /* integers last */
		"3=9.22337e+18 4=9.22337e+18 "};
	struct htdw w = {.p = NULL};
	struct pm_profile p;
	struct pm_error err;
	struct pm_text text = {.p = NULL};
	const struct pm_tree *tree;
	const struct pm_metrics *metrics;
	struct pm_value values[32];
	io_calls(&w);
	assert_int_equal(stream_open_values(w.p, w.len, "bytes,rate", &p, &err), 0);
	assert_int_equal(pm_profile_metrics(&p, &metrics, NULL), 0);
	assert_int_equal(metrics->n, 7);
	assert_true(pm_bytes_equal(metrics->metrics[6].name, pm_bytes_of("rate")));
	assert_int_equal(pm_profile_tree(&p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct pm_bytes name = tree->texts[pm_tree_frame(tree, i)->name];
		pm_text_clear(&text);
		pm_text_printf(
			&text, "%u %.*s ", tree->depth[i], (int)name.len, (const char *)name.p);
		show_values(&text, values, p.ops->run_costs(&p, i, values, 32, NULL));
		pm_text_char(&text, '\0');
		assert_string_equal(text.p, of_run[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		pm_text_clear(&text);
		show_values(&text, values,
			p.ops->values(&p, (struct pm_values_of){PM_OF_THREAD, i, false}, 0, values,
				32, NULL));
		pm_text_char(&text, '\0');
		assert_string_equal(text.p, of_thread[i]);
	}
	/* By label; `read` in `read` counts once. */
	assert_row(&p, "labels.csv", 0, "1|100|75|100|100|100|100|100|100|100|4||1.75||root");
	assert_row(&p, "labels.csv", 1,
		"5|35|35|5|20|5|20|20|20|20|9.22337e+18|9.22337e+18|1.75|1.75|read");
	assert_null(stream_drain(&p));
	stream_close(&p);
	assert_int_equal(stream_open_values(w.p, w.len, "bytes,size", &p, &err), -EINVAL);
	assert_string_equal(err.text,
		"no call has a number `size`, for -o values; there are: duration, thread_id, bytes, "
		"rate");
	assert_int_equal(stream_open_values(w.p, w.len, ",", &p, &err), -EINVAL);
	pm_text_done(&text);
	htdw_done(&w);
}

/* The same stack across the calls between two marks, more threads than one. */
static void test_numbers_of_many_calls(void **state)
{
	enum { N = 3000 };
	struct htdw w = {.p = NULL};
	struct pm_profile p;
	struct pm_error err;
	struct pm_value values[8];
	io_calls(&w);
	for (uint64_t i = 0; i < N; i++)
		io_call(&w, 1 + i % 3, T + 1000 + 10 * i, 5, 7, 0);
	assert_int_equal(stream_open_values(w.p, w.len, "bytes", &p, &err), 0);
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(&p, &tree, NULL), 0);
	uint32_t read = 0;
	while (tree->depth[read] != 0 ||
		!pm_bytes_equal(tree->texts[pm_tree_frame(tree, read)->name], pm_bytes_of("read")))
		read++;
	int64_t n = p.ops->values(
		&p, (struct pm_values_of){PM_OF_CONTEXT, read, false}, 0, values, 8, NULL);
	assert_true(n >= 5);
	assert_int_equal(values[4].metric, 4);
	assert_int_equal(values[4].i, 7 * N / 3);
	stream_close(&p);
	htdw_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_nest_by_start_and_duration),
		cmocka_unit_test(test_equal_starts_nest_by_id),
		cmocka_unit_test(test_overlapping_calls_are_shown_and_counted),
		cmocka_unit_test(test_ends_beyond_64_bits_do_not_wrap),
		cmocka_unit_test(test_self_times_that_no_sign_fits_are_unknown),
		cmocka_unit_test(test_self_times_less_than_any_sign_fits_are_unknown),
		cmocka_unit_test(test_sums_beyond_64_bits_do_not_wrap),
		cmocka_unit_test(test_percentiles_are_those_of_the_sorted_durations),
		cmocka_unit_test(test_sums_that_no_double_holds_are_exact),
		cmocka_unit_test(test_labels_follow_the_mapping_in_force),
		cmocka_unit_test(test_a_name_is_the_label_of_calls_without_one),
		cmocka_unit_test(test_negative_calls_are_only_counted),
		cmocka_unit_test(test_threads_come_in_order_of_their_numbers),
		cmocka_unit_test(test_shuffled_calls_are_in_time_order),
		cmocka_unit_test(test_deep_calls_keep_their_self_times_across_marks),
		cmocka_unit_test(test_numbers_of_calls_are_quantities),
		cmocka_unit_test(test_numbers_of_many_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
