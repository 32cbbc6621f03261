/* Tests formats/hpcrun/trace.c: headers, records, times. */
#include "tests/unittest.h"

#include "formats/hpcrun/hpcrun.h"
#include "tests/hpcrun/fixture.h"

static const struct hpcrun_report silent = {.file = "made.hpctrace"};

static uint64_t bits_of(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static void test_every_version_has_its_records(void **state)
{
	const struct fixture_sample times[] = {{1700, 12, 5}, {1800, 14, 6}};
	const struct fixture_sample reals[] = {
		{bits_of(1.25e15 + 0.5), 12, 0}, {bits_of(1.26e15), 14, 0}};
	const struct {
		enum fixture_trace version;
		uint64_t flags;
		const struct fixture_sample *samples;
		size_t size;
	} traces[] = {
		{FIXTURE_TRACE_BARE, 0, reals, 12},
		{FIXTURE_TRACE_0100, 0, times, 12},
		{FIXTURE_TRACE_0101, 0, times, 12},
		{FIXTURE_TRACE_0101, 1, times, 16},
		{FIXTURE_TRACE_0101, 6, times, 12},
	};
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		struct pm_text t = {.p = NULL};
		struct hpcrun_trace trace;
		struct hpcrun_sample sample;
		fixture_trace_write(traces[i].version, traces[i].flags, traces[i].samples, 2, &t);
		assert_int_equal(hpcrun_trace_read(&trace, pm_text_view(&t), &silent, NULL), 0);
		assert_int_equal(trace.size, traces[i].size);
		assert_int_equal(trace.n, 2);
		assert_int_equal(trace.leftover, 0);
		hpcrun_trace_decode(
			&trace, hpcrun_trace_records(&trace, pm_text_view(&t)), 1, &sample);
		assert_true(sample.time == traces[i].samples[1].time);
		assert_int_equal(sample.node, 14);
		assert_int_equal(sample.metric, traces[i].flags & 1 ? 6 : 0);
		pm_text_done(&t);
	}
}

static void test_times_become_ns(void **state)
{
	struct hpcrun_trace integers = {.is_real = false}, reals = {.is_real = true};
	assert_true(hpcrun_trace_ns(&integers, 1700, false) == 1700);
	assert_true(hpcrun_trace_ns(&integers, 1700, true) == 1700000);
	assert_true(hpcrun_trace_ns(&reals, bits_of(1.25e15 + 0.5), true) == 1250000000000000500);
}

static void test_a_cut_record_is_left_over(void **state)
{
	const struct fixture_sample samples[] = {{1700, 12, 0}, {1800, 14, 0}};
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	struct hpcrun_report report = {.list = &list, .file = "made.hpctrace"};
	struct pm_text t = {.p = NULL};
	struct hpcrun_trace trace;
	fixture_trace_write(FIXTURE_TRACE_0101, 0, samples, 2, &t);
	struct pm_bytes cut = {pm_text_view(&t).p, t.len - 5};
	assert_int_equal(hpcrun_trace_read(&trace, cut, &report, NULL), 0);
	assert_int_equal(trace.n, 1);
	assert_int_equal(trace.leftover, 7);
	struct pm_damages damages = pm_damage_rows(&list);
	assert_int_equal(damages.n, 1);
	assert_int_equal(damages.rows[0].offset, 44);
	assert_int_equal(damages.rows[0].bytes, 7);
	pm_damage_done(&list);
	pm_text_done(&t);
}

static void test_what_is_no_trace_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int code;
	} files[] = {
		{"", 0, -EINVAL},
		{"HPCRUN-trace", 12, -EINVAL},
		{"HPCRUN-trace______", 18, -EINVAL},
		{"HPCRUN-trace______01.01b", 24, -EINVAL},
		{"HPCRUN-trace______01.01b\xff\xff\xff\xff\xff\xff\xff\xff", 32, -EINVAL},
		{"HPCRUN-trace______02.00b\0\0\0\0\0\0\0\0", 32, -ENOTSUP},
		{"something else entirely", 23, -EINVAL},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct pm_bytes b = {(const uint8_t *)files[i].bytes, files[i].len};
		struct pm_error err = {.code = 0};
		struct hpcrun_trace trace;
		assert_int_equal(hpcrun_trace_read(&trace, b, &silent, &err), files[i].code);
		assert_int_equal(err.code, files[i].code);
		assert_int_equal(trace.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_version_has_its_records),
		cmocka_unit_test(test_times_become_ns),
		cmocka_unit_test(test_a_cut_record_is_left_over),
		cmocka_unit_test(test_what_is_no_trace_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
