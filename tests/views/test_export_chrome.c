/* trace.json: slices of samples and of calls. */
#include "exports.h"

#include <errno.h>
#include <string.h>

#include "fs/views/exports/export.h"
#include "profmount/limits.h"

#define CHROME "trace.json"
#define HEAD(title, more)                                                                          \
	"{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"title\":\"" title                          \
	"\",\"exporter\":\"" PMFS_EXPORTER "\",\"time_origin_ns\":\"1000\"" more                   \
	"},\n\"traceEvents\":["
#define TAIL "\n]}\n"

#define META(event, pid, tid, args)                                                                \
	"\n{\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"" event "\",\"args\":{" args   \
	"}}"
#define PROCESS(pid, name)                                                                         \
	META("process_name", pid, "0", "\"name\":\"" name "\"")                                    \
	"," META("process_sort_index", pid, "0", "\"sort_index\":" pid)
#define THREAD(pid, tid, name, place)                                                              \
	META("thread_name", pid, tid, "\"name\":\"" name "\"")                                     \
	"," META("thread_sort_index", pid, tid, "\"sort_index\":" place)
#define SLICE(pid, tid, ts, dur, name)                                                             \
	"\n{\"ph\":\"X\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur               \
	",\"name\":\"" name "\"}"
#define INSTANT(pid, tid, ts, name)                                                                \
	"\n{\"ph\":\"i\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts                               \
	",\"s\":\"t\",\"name\":\"" name "\"}"

static void test_common_frames_of_samples_stay_open(void **state)
{
	struct fake *f = fake_program();
	f->span.origin_ns = 1000;
	fake_sample(f, 0, 1000, 7);  /* main, io */
	fake_sample(f, 0, 1500, 4);  /* main, solve */
	fake_sample(f, 0, 3001, 5);  /* the same frames */
	fake_sample(f, 0, 3001, 6);  /* main, solve, solve */
	fake_sample(f, 0, 4000, 0);  /* nothing */
	fake_sample(f, 0, 5000, 99); /* unknown */
	fake_sample(f, 0, 6000, 3);  /* main */
	fake_sample(f, 0, 1000000000000, 1);
	fake_sample(f, 1, 1000, 8); /* the last one has no end */
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
#define SLICES                                                                                     \
	"," SLICE("3", "0", "0.000", "3.000", "main")                                              \
	"," SLICE("3", "0", "0.000", "0.500", "io")                                                \
	"," SLICE("3", "0", "0.500", "2.500", "solve")                                             \
	"," SLICE("3", "0", "2.001", "0.999", "solve")                                             \
	"," SLICE("3", "0", "5.000", "999999994.000", "main")
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("3", "rank 3")
		"," THREAD("3", "0", "thread 0", "0")
		"," THREAD("3", "1", "thread 1", "1")
		SLICES TAIL);
	assert_thread_export(m, CHROME, 0, PM_NONE,
		HEAD("app, rank=3/thread=0", "") PROCESS("3", "rank 3")
		"," THREAD("3", "0", "thread 0", "0")
		SLICES TAIL);
	/* clang-format on */
	views_done(m, f);
}

/* The trace of the first thread cannot be read after its first sample. */
static int64_t damaged_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake_thread *t = &((const struct fake *)p->self)->threads_data[thread];
	if (first >= t->n_samples)
		return 0;
	if (thread == 0 && first > 0)
		return pm_error_set(err, -EINVAL, "trace.db", 0, "is damaged");
	size_t n = thread == 0 ? 1 : t->n_samples - first;
	memcpy(ret, t->samples + first, n * sizeof(*ret));
	return (int64_t)n;
}

static void test_a_trace_that_cannot_be_read_takes_no_other_along(void **state)
{
	struct fake *f = fake_program();
	struct pm_text out;
	f->span.origin_ns = 1000;
	fake_sample(f, 0, 1000, 7);
	fake_sample(f, 0, 1500, 4);
	fake_sample(f, 0, 2000, 0);
	fake_sample(f, 1, 1000, 8);
	fake_sample(f, 1, 1500, 0);
	f->ops.samples = damaged_samples;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("3", "rank 3")
		"," THREAD("3", "0", "thread 0", "0")
		"," THREAD("3", "1", "thread 1", "1")
		"," SLICE("3", "0", "0.000", "0.500", "main")
		"," SLICE("3", "0", "0.000", "0.500", "io")
		"," SLICE("3", "1", "0.000", "0.500", "main")
		"," SLICE("3", "1", "0.000", "0.500", "init") TAIL);
	/* clang-format on */
	assert_int_equal(
		render_export(m, PMFS_PLACE_THREAD_EXPORT, CHROME, 0, PM_NONE, &out), -EINVAL);
	pm_text_done(&out);
	views_done(m, f);
}

/* Calls: when, how long, of which context. */
static void add_calls(struct fake *f, const uint64_t (*calls)[3], size_t n)
{
	for (size_t i = 0; i < n; i++)
		fake_sample(f, 0, calls[i][0], calls[i][2]);
	for (size_t i = 0; i < n; i++)
		f->threads_data[0].samples[i].duration_ns = calls[i][1];
}

static void test_calls_that_overlap_stand_on_lanes(void **state)
{
	static const uint64_t calls[][3] = {
		{1000, 10, 2},  /* inside of the next, which stores call later */
		{1000, 100, 1}, /* outermost */
		{1050, 100, 3}, /* overlaps it */
		{1060, 0, 2},   /* takes no time, and lies in both */
		{1070, 30, 2}, {2000, UINT64_MAX - 1, 1}, /* ends with time itself */
	};
	struct fake *f = fake_with_thread();
	f->span.origin_ns = 1000;
	f->profile.traces_are_calls = true;
	f->profile.has_modules = false;
	fake_timed(f, 1, 0, "outer", 100);
	fake_timed(f, 2, 1, "inner", 40);
	fake_timed(f, 3, 0, "async", 50);
	add_calls(f, calls, sizeof(calls) / sizeof(*calls));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("0", "rank 0")
		"," THREAD("0", "0", "thread 0", "0")
		"," THREAD("0", "1", "thread 0 (2)", "0")
		"," SLICE("0", "0", "0.000", "0.100", "outer")
		"," SLICE("0", "0", "0.000", "0.010", "inner")
		"," SLICE("0", "1", "0.050", "0.100", "async")
		"," INSTANT("0", "0", "0.060", "inner")
		"," SLICE("0", "0", "0.070", "0.030", "inner")
		"," SLICE("0", "0", "1.000", "18446744073709549.615", "outer") TAIL);
	/* clang-format on */
	views_done(m, f);
}

/* A child that ends one unit of the clock after its parent stays in it: not two, nor others. */
static void test_children_may_end_a_unit_late(void **state)
{
	static const uint64_t calls[][3] = {
		{1000, 10000, 1}, {5000, 7000, 2}, {21000, 10000, 1}, {25000, 8000, 2}};
	struct fake *f = fake_with_thread();
	f->span.origin_ns = 1000;
	f->profile.traces_are_calls = true;
	f->profile.has_modules = false;
	fake_timed(f, 1, 0, "outer", 100);
	fake_timed(f, 2, 1, "inner", 40);
	add_calls(f, calls, sizeof(calls) / sizeof(*calls));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("0", "rank 0")
		"," THREAD("0", "0", "thread 0", "0")
		"," THREAD("0", "1", "thread 0 (2)", "0")
		"," SLICE("0", "0", "0.000", "10.000", "outer")
		"," SLICE("0", "0", "4.000", "7.000", "inner")
		"," SLICE("0", "0", "20.000", "10.000", "outer")
		"," SLICE("0", "1", "24.000", "8.000", "inner") TAIL);
	/* clang-format on */
	views_done(m, f);
}

/* Async calls are begun and ended by events with an id, so that they are async where it is read. */
static void test_async_calls_stay_async(void **state)
{
	static const char *const keys[] = {"rank", "async"};
	static const uint64_t calls[][3] = {
		{1000, 10, 1}, {1002, 3, 2}, {1006, 0, 2}, {1020, 5, 1}};
	struct fake *f = fake_with_thread();
	f->span.origin_ns = 1000;
	f->profile.traces_are_calls = true;
	f->profile.has_modules = false;
	f->threads.keys = keys;
	fake_lane(f, 0);
	fake_timed(f, 1, 0, "req", 100);
	fake_timed(f, 2, 1, "dns", 40);
	add_calls(f, calls, sizeof(calls) / sizeof(*calls));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
#define ASYNC(phase, ts, name)                                                                     \
	"\n{\"ph\":\"" phase "\",\"pid\":0,\"tid\":0,\"ts\":" ts ",\"id\":1,\"name\":\"" name "\"}"
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("0", "rank 0")
		"," THREAD("0", "0", "async 0", "0")
		"," ASYNC("b", "0.000", "req") "," ASYNC("b", "0.002", "dns")
		"," ASYNC("e", "0.005", "dns") "," ASYNC("b", "0.006", "dns")
		"," ASYNC("e", "0.006", "dns") "," ASYNC("e", "0.010", "req")
		"," ASYNC("b", "0.020", "req") "," ASYNC("e", "0.025", "req") TAIL);
	/* clang-format on */
	views_done(m, f);
}

/* ---- what stands beside calls ---- */

/* Rows seq, time, number, text: row i at i us; a: their number, b: the first one's seq. */
static int series_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	if (rows->at >= rows->table->a)
		return 0;
	cells[0] = pm_cell_u64(rows->table->b + rows->at);
	cells[1] = pm_cell_u64(rows->at * 1000);
	cells[2] = pm_cell_i64(-(int64_t)rows->at);
	cells[3] = rows->at % 2 ? pm_cell_empty() : pm_cell_str("a \"b\"");
	rows->at++;
	return 1;
}

static const struct pm_table_type series_type = {.next = series_next};
static const char *const series_columns[] = {"seq", "time_ns", "n", "text"};
static const bool number_only[] = {false, false, true, false};
static const bool both[] = {false, false, true, true};
static struct pm_series series[3];

static struct pm_series series_of(
	enum pm_series_kind kind, const char *name, uint64_t n, const bool *fields)
{
	return (struct pm_series){kind, pm_bytes_of(name),
		{&series_type, series_columns, 4, NULL, n, 7, 0}, n, 0, 1, fields};
}

static void test_counters_instants_and_fields_stand_beside_calls(void **state)
{
	static const uint64_t calls[][3] = {{1000, 100, 1}, {1010, 30, 2}};
	struct fake *f = fake_with_thread();
	f->span.origin_ns = 1000;
	f->profile.traces_are_calls = true;
	f->parts.series.it = series;
	f->parts.series.n = 3;
	series[0] = series_of(PM_SERIES_COUNTER, "Load", 2, number_only);
	series[1] = series_of(PM_SERIES_INSTANT, "Mark", 1, both);
	series[2] = series_of(PM_SERIES_CALLS, "Io", 2, both);
	fake_timed(f, 1, 0, "outer", 100);
	fake_timed(f, 2, 1, "inner", 40);
	add_calls(f, calls, 2);
	f->threads_data[0].samples[0].seq = 3; /* has no fields */
	f->threads_data[0].samples[1].seq = 8;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("0", "rank 0")
		"," THREAD("0", "0", "thread 0", "0")
		",\n{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"dur\":0.100,\"cat\":\"/bin/app\",\"name\":\"outer\"}"
		",\n{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":0.010,\"dur\":0.030,\"cat\":\"/bin/app\",\"name\":\"inner\",\"args\":{\"n\":-1}}"
		",\n{\"ph\":\"C\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"name\":\"Load\",\"args\":{\"n\":0}}"
		",\n{\"ph\":\"C\",\"pid\":0,\"tid\":0,\"ts\":1.000,\"name\":\"Load\",\"args\":{\"n\":-1}}"
		",\n{\"ph\":\"i\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"s\":\"p\",\"name\":\"Mark\",\"args\":{\"n\":0,\"text\":\"a \\\"b\\\"\"}}"
		TAIL);
	/* clang-format on */
	views_done(m, f);
}

static size_t count_text(const struct pm_text *text, const char *what)
{
	size_t n = 0, len = strlen(what);
	for (size_t i = 0; i + len <= text->len; i++)
		n += memcmp(text->p + i, what, len) == 0;
	return n;
}

static void test_of_too_many_counters_every_nth_stands(void **state)
{
	static const uint64_t calls[][3] = {{1000, 100, 1}};
	struct fake *f = fake_with_thread();
	struct pm_text text;
	f->profile.traces_are_calls = true;
	f->parts.series.it = series;
	f->parts.series.n = 3;
	series[0] = series_of(PM_SERIES_COUNTER, "Load", 150000, number_only);
	series[1] = series_of(PM_SERIES_INSTANT, "Mark", 90000, both);
	series[2] = series_of(PM_SERIES_CALLS, "Io", 0, both);
	fake_timed(f, 1, 0, "outer", 100);
	add_calls(f, calls, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, CHROME, 0, PM_NONE, &text), 0);
	assert_int_equal(count_text(&text, "{\"ph\":\"C\""), 50000);
	assert_int_equal(count_text(&text, "{\"ph\":\"i\""), 30000);
	assert_int_equal(count_text(&text, "\"counters_and_instants_one_of\":3"), 1);
	pm_text_done(&text);
	views_done(m, f);
}

static size_t count_slices(const struct pm_text *text)
{
	static const char start[] = "\n{\"ph\":\"X\"";
	size_t n = 0, len = sizeof(start) - 1;
	for (size_t i = 0; i + len <= text->len; i++)
		n += text->p[i] == '\n' && memcmp(text->p + i, start, len) == 0;
	return n;
}

/* main and below it, by turns, a and b: one slice of main, two for each pair of samples. */
static void test_too_many_slices_lose_the_deepest_levels(void **state)
{
	enum { PAIRS = PM_LIMIT_TRACE_SLICES / 2 };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	fake_timed(f, 1, 0, "main", 3);
	fake_timed(f, 2, 1, "a", 2);
	fake_timed(f, 3, 1, "b", 1);
	for (uint64_t i = 0; i < PAIRS; i++) {
		fake_sample(f, 0, 20 * i, 2);
		fake_sample(f, 0, 20 * i + 10, 3);
	}
	fake_sample(f, 0, 20 * (uint64_t)PAIRS, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, CHROME, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, ",\"max_depth\":1}"));
	assert_int_equal(count_slices(&text), 1);
	assert_non_null(strstr(text.p, "\"ts\":0.000,\"dur\":2000.000,\"name\":\"main\"}"));
	pm_text_done(&text);
	views_done(m, f);
}

static void test_too_many_slices_at_the_top_are_counted(void **state)
{
	struct fake *f = fake_with_thread();
	struct pm_text text;
	fake_timed(f, 1, 0, "main", 3);
	for (uint64_t i = 0; i < PM_LIMIT_TRACE_SLICES + 5; i++) {
		fake_sample(f, 0, 20 * i, 1);
		fake_sample(f, 0, 20 * i + 10, 0);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, CHROME, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, ",\"slices_left_out\":5}"));
	assert_int_equal(count_slices(&text), PM_LIMIT_TRACE_SLICES);
	pm_text_done(&text);
	views_done(m, f);
}

/* Two samples, one far below the other: what is too deep counts as the frame above it. */
static void test_samples_show_their_topmost_levels(void **state)
{
	enum { DEPTH = PM_LIMIT_SAMPLE_LEVELS + 10 };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	for (uint32_t i = 1; i <= DEPTH; i++)
		fake_timed(f, i, i - 1, "f", 1);
	fake_sample(f, 0, 0, DEPTH);
	fake_sample(f, 0, 10, PM_LIMIT_SAMPLE_LEVELS - 1);
	fake_sample(f, 0, 20, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, CHROME, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, ",\"max_depth\":1000}"));
	assert_int_equal(count_slices(&text), PM_LIMIT_SAMPLE_LEVELS);
	pm_text_done(&text);
	views_done(m, f);
}

static void test_numbers_that_clash_are_replaced(void **state)
{
	static const char *const keys[] = {"node", "rank", "gpustream", "thread"};
	static const struct pm_identity identity[4][4] = {
		{{0, 0}, {1, 7}, {2, 4}, {3, 1}},
		{{0, 1}, {1, 7}},
		{{0, 0}, {1, 7}, {3, 4}},
		{{0, 0}, {1, 7}, {2, 4}},
	};
	static const uint32_t levels[] = {4, 2, 3, 3};
	struct fake *f = fake_with_thread();
	f->span.origin_ns = 1000;
	f->threads.keys = keys;
	f->threads.n_keys = 4;
	for (uint32_t i = 0; i < 4; i++) {
		if (i > 0)
			fake_thread(f, 0, 0);
		struct pm_thread *t = (struct pm_thread *)(uintptr_t)&f->threads.threads[i];
		t->n_identity = levels[i];
		t->identity = identity[i];
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	/* clang-format off */
	assert_export(m, CHROME, PM_NONE,
		HEAD("app", "") PROCESS("0", "node 0 rank 7")
		"," PROCESS("1", "node 1 rank 7")
		"," THREAD("0", "5", "gpustream 4 thread 1", "5")
		"," THREAD("1", "0", "main", "0")
		"," THREAD("0", "4", "thread 4", "4")
		"," THREAD("0", "6", "gpustream 4", "6") TAIL);
	/* clang-format on */
	views_done(m, f);
}

static void test_without_traces_it_is_absent(void **state)
{
	struct fake *f = fake_with_thread();
	const struct pmfs_view *of_run = view_named(PMFS_PLACE_EXPORT, CHROME);
	const struct pmfs_view *of_thread = view_named(PMFS_PLACE_THREAD_EXPORT, CHROME);
	fake_thread(f, 0, 1);
	struct pm_thread *threads = (struct pm_thread *)(uintptr_t)f->threads.threads;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	threads[0].has_trace = false;
	assert_true(of_run->present(m, 0, NULL));
	assert_false(of_thread->present(m, 0, NULL));
	assert_true(of_thread->present(m, 1, NULL));
	threads[1].has_trace = false;
	assert_false(of_run->present(m, 0, NULL));
	fake_without_threads(f);
	assert_false(of_run->present(m, 0, NULL));
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common_frames_of_samples_stay_open),
		cmocka_unit_test(test_a_trace_that_cannot_be_read_takes_no_other_along),
		cmocka_unit_test(test_calls_that_overlap_stand_on_lanes),
		cmocka_unit_test(test_children_may_end_a_unit_late),
		cmocka_unit_test(test_async_calls_stay_async),
		cmocka_unit_test(test_counters_instants_and_fields_stand_beside_calls),
		cmocka_unit_test(test_of_too_many_counters_every_nth_stands),
		cmocka_unit_test(test_too_many_slices_lose_the_deepest_levels),
		cmocka_unit_test(test_too_many_slices_at_the_top_are_counted),
		cmocka_unit_test(test_samples_show_their_topmost_levels),
		cmocka_unit_test(test_numbers_that_clash_are_replaced),
		cmocka_unit_test(test_without_traces_it_is_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
