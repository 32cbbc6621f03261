/* timeline.svg, of one thread and of all, and the data behind it. */
#include "harness.h"

#include <string.h>

#include "fs/views/model/catalog.h"
#include "fs/views/pictures/timeline.h"
#include "profmount/limits.h"
#include "xml.h"

#define EXPORT PMFS_PLACE_EXPORT

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no `%s`", part);
}

/* Well-formed, within the limit, and the same each time. NUL-terminated, for free(). */
static char *draw(struct pmfs_model *m, enum pmfs_place place, uint32_t item)
{
	char *svg = view_text(m, place, "timeline.svg", item);
	char *again = view_text(m, place, "timeline.svg", item);
	assert_xml(svg);
	assert_true(count_of(svg, "<rect") <= PM_LIMIT_SVG_RECTS);
	assert_string_equal(svg, again);
	free(again);
	return svg;
}

/* Contexts: 1 main → 2 loop line → 3 solve → 4 dot; 1 main → 5 write. */
static struct fake *fake_with_paths(void)
{
	struct fake *f = fake_with_time();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 1));
	fake_line(f, 2, 1, "main.c", 9);
	fake_call(f, 3, 2, fake_function(f, "solve", NULL, 1));
	fake_call(f, 4, 3, fake_function(f, "dot", NULL, 1));
	fake_call(f, 5, 1, fake_function(f, "write", NULL, 1));
	f->span.origin_ns = 1000000;
	return f;
}

static void test_a_thread_is_its_call_path_over_time(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, 3, 0);
	fake_sample(f, t, 1000000, 3);
	fake_sample(f, t, 1400000, 4);
	fake_sample(f, t, 1600000, 0);
	fake_sample(f, t, 1800000, 5);
	fake_sample(f, t, 2000000, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, PMFS_PLACE_THREAD, t);
	assert_int_equal(count_of(svg, "class=\"box run\""), 5); /* main twice */
	assert_has(svg, "<title>main\n0 s – 600 µs, 600 µs</title>");
	assert_has(svg, "<title>solve\n0 s – 600 µs, 600 µs</title>");
	assert_has(svg, "<title>dot\n400 µs – 600 µs, 200 µs</title>");
	assert_has(svg, "<title>write\n800 µs – 1 ms, 200 µs</title>");
	assert_has(svg, ">40%</text>"); /* the legend: innermost functions */
	assert_has(svg, ">0.2 ms</text>");
	assert_has(svg, "rank=3/thread=0");
	free(svg);
	views_done(m, f);
}

static void test_all_threads_show_the_innermost_functions(void **state)
{
	struct fake *f = fake_with_paths();
	for (uint32_t t = 0; t < 2; t++) {
		fake_thread(f, 1 - t, 0); /* not in the order of identities */
		fake_sample(f, t, 1000000, t ? 3 : 4);
		fake_sample(f, t, 1500000, 5);
		fake_sample(f, t, 2000000, 1);
	}
	fake_thread(f, 7, 0); /* without samples */
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, EXPORT, 0);
	assert_has(svg, "The innermost function that has 1% or more");
	assert_has(svg, "2 threads");
	assert_int_equal(count_of(svg, "<title>solve\n0 s – 500 µs, 500 µs</title>"), 1);
	assert_int_equal(count_of(svg, "<title>dot\n0 s – 500 µs, 500 µs</title>"), 1);
	assert_int_equal(count_of(svg, "<title>write\n500 µs – 1 ms, 500 µs</title>"), 2);
	assert_true(strstr(svg, ">rank=0/thread=0<") < strstr(svg, ">rank=1/thread=0<"));
	assert_null(strstr(svg, "rank=7"));
	free(svg);
	views_done(m, f);
}

/* solve waits for 30 % of its time, and calls a little something for 0.5 %, which is solve. */
static void test_waiting_below_a_busy_function_is_waiting(void **state)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "solve", NULL, 0));
	fake_call(f, 3, 2, fake_function(f, "MPI_Wait", NULL, 0));
	fake_call(f, 4, 2, fake_function(f, "little", NULL, 0));
	fake_thread(f, 0, 0);
	fake_sample(f, 0, 0, 2);
	fake_sample(f, 0, 400000, 4);
	fake_sample(f, 0, 405000, 2);
	fake_sample(f, 0, 700000, 3);
	fake_sample(f, 0, 1000000, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, EXPORT, 0);
	assert_int_equal(count_of(svg, "<title>solve\n0 s – 700 µs, 700 µs</title>"), 1);
	assert_int_equal(count_of(svg, "<title>MPI_Wait\n700 µs – 1 ms, 300 µs</title>"), 1);
	assert_int_equal(count_of(svg, "little"), 0);
	assert_has(svg, ">30%<");
	assert_has(svg, ">70%<");
	free(svg);
	views_done(m, f);
}

static void test_threads_that_run_one_function_show_it(void **state)
{
	struct fake *f = fake_with_paths();
	for (uint32_t t = 0; t < 2; t++) {
		fake_thread(f, t, 0);
		fake_sample(f, t, 1000000, 3);
		fake_sample(f, t, 2000000, 0);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, EXPORT, 0);
	assert_has(svg, "The innermost function that has 1% or more");
	assert_int_equal(count_of(svg, "<title>solve\n0 s – 1 ms, 1 ms</title>"), 2);
	free(svg);
	views_done(m, f);
}

static int counts_of_calls(const struct pm_profile *p, uint32_t thread,
	struct pm_thread_counts *ret, struct pm_error *err)
{
	(void)p;
	(void)thread;
	(void)err;
	*ret = (struct pm_thread_counts){.last_ns = 2000000};
	return 0;
}

static void test_calls_lie_within_each_other(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, 0, 0);
	static const struct pm_sample calls[] = {
		{.time_ns = 1000000, .duration_ns = 1000000, .context = 1},
		{.time_ns = 1200000, .duration_ns = 600000, .context = 3},
		{.time_ns = 1300000, .duration_ns = 100000, .context = 4},
		{.time_ns = 1350000, .duration_ns = 0, .context = 4},
	};
	f->profile.traces_are_calls = true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		fake_sample(f, t, calls[i].time_ns, calls[i].context);
	memcpy(f->threads_data[t].samples, calls, sizeof(calls));
	f->ops.thread_counts = counts_of_calls; /* the last to begin is not the last to end */
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, PMFS_PLACE_THREAD_EXPORT, t);
	assert_has(svg, "<title>main\n0 s – 1 ms, 1 ms</title>");
	assert_has(svg, "<title>solve\n200 µs – 800 µs, 600 µs</title>");
	assert_has(svg, "<title>dot\n300 µs – 400 µs, 100 µs</title>");
	free(svg);
	views_done(m, f);
}

static void test_what_is_too_short_is_seen_but_not_counted(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, 0, 0);
	for (uint32_t i = 0; i < 9; i++) { /* 1 ns in an idle ms: half a point is 5000 ns */
		fake_sample(f, t, 1000000 + i * 1000000 + 1000, 3);
		fake_sample(f, t, 1000000 + i * 1000000 + 1001, 0);
	}
	fake_sample(f, t, 11001000, 0);
	for (int calls = 0; calls < 2; calls++) {
		f->profile.traces_are_calls = calls;
		for (uint32_t i = 1; calls && i < 18; i += 2) /* calls leave gaps */
			f->threads_data[t].samples[i].duration_ns = 0;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *svg = draw(m, PMFS_PLACE_THREAD, t);
		assert_int_equal(count_of(svg, "<title>solve\n"), 9);
		assert_has(svg, "widened to be seen");
		assert_has(svg, calls ? ">nothing</text>" : ">100%</text>");
		free(svg);
		pmfs_model_free(m);
	}
	fake_free(f);
}

/* ---- long traces ---- */

static uint64_t n_reads, n_read;

/* Sample i is at i ns; two functions, each for a tenth of the time. */
static int64_t endless_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake *f = p->self;
	uint64_t n = f->threads.threads[thread].n_samples;
	size_t i = 0;
	(void)err;
	n_reads++;
	for (; i < room && first + i < n; i++)
		ret[i] = (struct pm_sample){.time_ns = first + i,
			.duration_ns = first + i + 1 < n ? 1 : PM_NO_TIME,
			.context = (first + i) / (n / 10) % 2 ? 5 : 3};
	n_read += i;
	return (int64_t)i;
}

static void test_a_long_trace_is_searched_and_not_read(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, 0, 0);
	f->ops.samples = endless_samples;
	((struct pm_thread *)(uintptr_t)f->threads.threads)[t].n_samples = 100000000001;
	f->span.origin_ns = 0;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	n_reads = n_read = 0;
	char *svg = draw(m, PMFS_PLACE_THREAD, t);
	assert_true(n_reads < 200000 && n_read < 1000000);
	assert_int_equal(count_of(svg, "<title>solve\n"), 5);
	assert_has(svg, "<title>solve\n20 s – 30 s, 10 s</title>");
	free(svg);
	views_done(m, f);
}

static void test_of_many_threads_some_are_shown(void **state)
{
	struct fake *f = fake_with_paths();
	for (uint32_t t = 0; t < 450; t++) {
		fake_thread(f, t, 0);
		for (uint32_t i = 0; i <= 1000; i++)
			fake_sample(f, t, 1000000 + i * 1000, i & 1 ? 5 : 3);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, EXPORT, 0);
	assert_has(svg, "150 of 450 threads");
	assert_has(svg, "; a block shows one of ");
	free(svg);
	views_done(m, f);
}

static uint32_t count_cells(const uint32_t *cells, uint32_t name)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < PMFS_TIMELINE_POINTS; i++)
		n += cells[i] == name;
	return n;
}

/* Two bands of a stack, whose functions alternate: half of the time each, also where cells are
 * joined. */
static void test_joined_cells_keep_shares_and_levels(void **state)
{
	uint32_t *cells = malloc(2 * PMFS_TIMELINE_POINTS * sizeof(*cells));
	struct pmfs_bands b = {.n_rows = 2, .name = cells};
	assert_non_null(cells);
	for (uint32_t i = 0; i < PMFS_TIMELINE_POINTS; i++) {
		cells[i] = 7 + i % 2;
		cells[PMFS_TIMELINE_POINTS + i] = 17 + i % 2;
	}
	assert_int_equal(pmfs_bands_fit(&b, 2 * PMFS_TIMELINE_POINTS), 1);
	assert_int_equal(count_cells(cells, 8), PMFS_TIMELINE_POINTS / 2);
	assert_true(pmfs_bands_fit(&b, PMFS_TIMELINE_POINTS / 4) >= 4);
	assert_in_range(count_cells(cells, 8), PMFS_TIMELINE_POINTS * 4 / 10,
		PMFS_TIMELINE_POINTS * 6 / 10);
	for (uint32_t i = 0; i < PMFS_TIMELINE_POINTS; i++)
		assert_int_equal(cells[PMFS_TIMELINE_POINTS + i], cells[i] + 10);
	free(cells);
}

/* ---- traces that are none ---- */

static void test_no_time_and_no_samples_are_said(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t once = fake_thread(f, 0, 0), never = fake_thread(f, 1, 0);
	fake_sample(f, once, UINT64_MAX, 3);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	for (uint32_t t = once; t <= never; t++) {
		char *svg = draw(m, PMFS_PLACE_THREAD, t);
		assert_has(svg, "There is nothing to draw.");
		free(svg);
	}
	char *svg = draw(m, EXPORT, 0);
	assert_has(svg, "There is nothing to draw.");
	free(svg);
	views_done(m, f);
}

static void test_times_without_order_and_end_do_no_harm(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, UINT64_MAX, UINT64_MAX);
	static const uint64_t times[] = {5, UINT64_MAX, 0, 7, UINT64_MAX - 1, 3, UINT64_MAX};
	for (uint32_t i = 0; i < 7; i++)
		fake_sample(f, t, times[i], i == 3 ? UINT64_MAX : 1 + i % 5);
	for (int calls = 0; calls < 2; calls++) {
		f->profile.traces_are_calls = calls;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		free(draw(m, PMFS_PLACE_THREAD, t));
		free(draw(m, EXPORT, 0));
		pmfs_model_free(m);
	}
	fake_free(f);
}

static void test_hostile_names_and_deep_paths_are_drawn(void **state)
{
	struct fake *f = fake_with_time();
	uint32_t t = fake_thread(f, 0, 0);
	uint32_t function = fake_function(f, "]]></script>\x01\xff<&\"\n", NULL, 1);
	for (uint32_t i = 1; i <= 5000; i++)
		fake_call(f, i, i - 1, function);
	for (uint32_t i = 0; i < 100; i++)
		fake_sample(f, t, i, 1 + i * 50);
	f->profile.title = pm_bytes_of("<t>\xc3");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = draw(m, PMFS_PLACE_THREAD, t);
	assert_has(svg, "<title>]]&gt;&lt;/script&gt;");
	free(svg);
	free(draw(m, EXPORT, 0));
	views_done(m, f);
}

static void test_only_threads_with_a_trace_have_a_timeline(void **state)
{
	struct fake *f = fake_with_paths();
	const struct pmfs_view *all = view_named(EXPORT, "timeline.svg");
	const struct pmfs_view *one = view_named(PMFS_PLACE_THREAD, "timeline.svg");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_false(all->present(m, 0, NULL));
	fake_thread(f, 0, 0);
	assert_true(all->present(m, 0, NULL));
	assert_true(one->present(m, 0, NULL));
	((struct pm_thread *)(uintptr_t)f->threads.threads)[0].has_trace = false;
	assert_false(all->present(m, 0, NULL));
	assert_false(one->present(m, 0, NULL));
	views_done(m, f);
}

/* It is no empty picture; that of all threads is there without it. */
static void test_a_trace_that_cannot_be_read_is_an_error(void **state)
{
	struct fake *f = fake_with_paths();
	uint32_t t = fake_thread(f, 0, 0);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_text out = {.p = NULL};
	f->ops.samples = fake_no_samples;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_doc doc = {.kind = PM_DOC_TEXT, .text = {.self = m, .a = t, .c = PMFS_OF_THREAD}};
	assert_int_equal(pmfs_timeline_render(&doc, &out, &err), -EINVAL);
	assert_true(err.text[0]);
	doc.text.c = PMFS_OF_RUN;
	assert_int_equal(pmfs_timeline_render(&doc, &out, NULL), 0);
	pm_text_done(&out);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_is_its_call_path_over_time),
		cmocka_unit_test(test_all_threads_show_the_innermost_functions),
		cmocka_unit_test(test_waiting_below_a_busy_function_is_waiting),
		cmocka_unit_test(test_threads_that_run_one_function_show_it),
		cmocka_unit_test(test_calls_lie_within_each_other),
		cmocka_unit_test(test_what_is_too_short_is_seen_but_not_counted),
		cmocka_unit_test(test_a_long_trace_is_searched_and_not_read),
		cmocka_unit_test(test_of_many_threads_some_are_shown),
		cmocka_unit_test(test_joined_cells_keep_shares_and_levels),
		cmocka_unit_test(test_no_time_and_no_samples_are_said),
		cmocka_unit_test(test_times_without_order_and_end_do_no_harm),
		cmocka_unit_test(test_a_trace_that_cannot_be_read_is_an_error),
		cmocka_unit_test(test_hostile_names_and_deep_paths_are_drawn),
		cmocka_unit_test(test_only_threads_with_a_trace_have_a_timeline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
