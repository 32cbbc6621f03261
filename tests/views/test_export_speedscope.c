/* profile.speedscope.json: one profile per metric, of the run and of threads. */
#include "exports.h"

#include <errno.h>
#include <string.h>

#include "fs/views/exports/export.h"

#define SPEEDSCOPE "profile.speedscope.json"
#define HEAD                                                                                                \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"" PMFS_EXPORTER \
	"\",\"activeProfileIndex\":0,"

static void test_run_and_threads_are_profiles(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, SPEEDSCOPE, PM_NONE,
		HEAD "\"profiles\":["
		     "{\"type\":\"sampled\",\"name\":\"time_ns\",\"unit\":\"nanoseconds\","
		     "\"startValue\":0,\"endValue\":100,"
		     "\"samples\":[[0],[0,1],[0,1,1],[0,2],[0,3]],\"weights\":[16,30,30,20,4]},"
		     "{\"type\":\"sampled\",\"name\":\"time_ns, rank=3/thread=0\","
		     "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":90,"
		     "\"samples\":[[0],[0,1],[0,1,1],[0,2],[0,3]],\"weights\":[16,30,20,20,4]},"
		     "{\"type\":\"sampled\",\"name\":\"time_ns, rank=3/thread=1\","
		     "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":10,"
		     "\"samples\":[[0,1,1]],\"weights\":[10]}],"
		     "\"shared\":{\"frames\":["
		     "{\"name\":\"main\",\"file\":\"/src/a.c\",\"line\":3},"
		     "{\"name\":\"solve\",\"file\":\"/src/b.c\",\"line\":7},"
		     "{\"name\":\"io\"},"
		     "{\"name\":\"init\",\"file\":\"/src/a.c\",\"line\":40}]},"
		     "\"name\":\"app\"}\n");
	views_done(m, f);
}

static int64_t (*sound_values)(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);

static int64_t values_but_of_the_first(const struct pm_profile *p, struct pm_values_of of,
	uint64_t first, struct pm_value *ret, size_t room, struct pm_error *err)
{
	if (of.what == PM_OF_THREAD && of.index == 0)
		return pm_error_set(err, -EINVAL, "profile.db", 0, "is damaged");
	return sound_values(p, of, first, ret, room, err);
}

static void test_a_thread_that_cannot_be_read_takes_no_other_along(void **state)
{
	struct fake *f = fake_program();
	struct pm_text text;
	sound_values = f->ops.values;
	f->ops.values = values_but_of_the_first;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, SPEEDSCOPE, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, "\"name\":\"time_ns\""));
	assert_null(strstr(text.p, "thread=0"));
	assert_non_null(strstr(text.p, "\"name\":\"time_ns, rank=3/thread=1\""));
	assert_non_null(
		strstr(text.p, "\"name\":\"app (without 1 threads: see their own export/)\"}\n"));
	pm_text_done(&text);
	assert_int_equal(
		render_export(m, PMFS_PLACE_THREAD_EXPORT, SPEEDSCOPE, 0, PM_NONE, &text), -EINVAL);
	pm_text_done(&text);
	views_done(m, f);
}

static void test_threads_beyond_the_limit_are_counted_in_the_name(void **state)
{
	struct fake *f = fake_with_thread();
	struct pm_text text;
	for (uint32_t i = 1; i < 60; i++)
		fake_thread(f, 0, i);
	fake_timed(f, 1, 0, "main", 1);
	for (uint32_t i = 1; i < 60; i++)
		fake_value(f, i, 1, 1, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, SPEEDSCOPE, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, "thread=49"));
	assert_null(strstr(text.p, "thread=50"));
	assert_non_null(
		strstr(text.p, "\"name\":\"app (without 10 threads: see their own export/)\"}\n"));
	pm_text_done(&text);
	views_done(m, f);
}

static void test_metrics_without_cost_are_left_out(void **state)
{
	struct fake *f = fake_with_thread();
	fake_metric(f, PM_ROLE_COUNT, 1, "faults", "");
	uint32_t bytes = fake_metric(f, PM_ROLE_COUNT, 2, "io", "bytes");
	fake_timed(f, 1, 0, "a \"b\" \\ \x01 \xff", 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
#define EMPTY                                                                                      \
	"{\"type\":\"sampled\",\"name\":\"time_ns\",\"unit\":\"nanoseconds\","                     \
	"\"startValue\":0,\"endValue\":0,\"samples\":[],\"weights\":[]}"
	assert_export(m, SPEEDSCOPE, PM_NONE,
		HEAD "\"profiles\":[" EMPTY "],\"shared\":{\"frames\":[]},\"name\":\"app\"}\n");
	fake_value(f, 0, 1, bytes, 5);
	assert_export(m, SPEEDSCOPE, PM_NONE,
		HEAD "\"profiles\":[{\"type\":\"sampled\",\"name\":\"io_bytes\","
		     "\"unit\":\"bytes\",\"startValue\":0,\"endValue\":5,\"samples\":[[0]],"
		     "\"weights\":[5]}],\"shared\":{\"frames\":["
		     "{\"name\":\"a \\\"b\\\" \\\\ \\u0001 \xef\xbf\xbd\"}]},"
		     "\"name\":\"app\"}\n");
	views_done(m, f);
}

static void test_calls_follow_in_order_of_time(void **state)
{
	static const uint64_t calls[][3] = {
		{1000, 100, 1}, /* outer; inner stands in it twice, once without length */
		{1010, 30, 2},
		{1040, 0, 2},
		{1050, 100, 3}, /* overlaps it: another lane */
		{1200, 5, 1},
	};
	enum { N = sizeof(calls) / sizeof(calls[0]) };
	struct fake *f = fake_with_thread();
	struct pm_text text;
	f->span.origin_ns = 1000;
	f->profile.traces_are_calls = true;
	fake_timed(f, 1, 0, "outer", 100);
	fake_timed(f, 2, 1, "inner", 40);
	fake_timed(f, 3, 0, "async", 50);
	for (size_t i = 0; i < N; i++)
		fake_sample(f, 0, calls[i][0], calls[i][2]);
	for (size_t i = 0; i < N; i++)
		f->threads_data[0].samples[i].duration_ns = calls[i][1];
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, SPEEDSCOPE, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
#define EVENT(type, frame, at) "{\"type\":\"" type "\",\"frame\":" frame ",\"at\":" at "}"
	/* clang-format off */
	assert_non_null(strstr(text.p,
		"{\"type\":\"evented\",\"name\":\"in order of time, rank=0/thread=0\","
		"\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":205,\"events\":["
		EVENT("O", "0", "0") "," EVENT("O", "1", "10") "," EVENT("C", "1", "40") ","
		EVENT("O", "1", "40") "," EVENT("C", "1", "40") "," EVENT("C", "0", "100") ","
		EVENT("O", "0", "200") "," EVENT("C", "0", "205") "]}"));
	assert_non_null(strstr(text.p,
		"rank=0/thread=0 (2)\",\"unit\":\"nanoseconds\",\"startValue\":50,\"endValue\":150,"
		"\"events\":[" EVENT("O", "2", "50") "," EVENT("C", "2", "150") "]}"));
	/* clang-format on */
	pm_text_done(&text);
	views_done(m, f);
}

/* Samples with times, too: frames that consecutive samples have in common stay open. */
static void test_samples_follow_in_order_of_time(void **state)
{
	struct fake *f = fake_with_thread();
	struct pm_text text;
	f->span.origin_ns = 1000;
	fake_timed(f, 1, 0, "main", 100);
	fake_timed(f, 2, 1, "work", 40);
	fake_sample(f, 0, 1000, 1);
	fake_sample(f, 0, 1010, 2);
	fake_sample(f, 0, 1030, 1);
	fake_sample(f, 0, 1040, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(render_export(m, PMFS_PLACE_EXPORT, SPEEDSCOPE, 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	/* clang-format off */
	assert_non_null(strstr(text.p,
		"{\"type\":\"evented\",\"name\":\"in order of time, rank=0/thread=0\","
		"\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":40,\"events\":["
		EVENT("O", "0", "0") "," EVENT("O", "1", "10") "," EVENT("C", "1", "30") ","
		EVENT("C", "0", "40") "]}"));
	/* clang-format on */
	pm_text_done(&text);
	views_done(m, f);
}

static void test_without_metrics_it_is_absent(void **state)
{
	struct fake *f = fake_new();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_false(view_named(PMFS_PLACE_EXPORT, SPEEDSCOPE)->present(m, 0, NULL));
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_and_threads_are_profiles),
		cmocka_unit_test(test_a_thread_that_cannot_be_read_takes_no_other_along),
		cmocka_unit_test(test_threads_beyond_the_limit_are_counted_in_the_name),
		cmocka_unit_test(test_metrics_without_cost_are_left_out),
		cmocka_unit_test(test_calls_follow_in_order_of_time),
		cmocka_unit_test(test_samples_follow_in_order_of_time),
		cmocka_unit_test(test_without_metrics_it_is_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
