/* gpu.csv. */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "formats/common/work.h"
#include "fs/views/sums/gpu.h"

/* A kernel of 3 us whose launches are in the trace, one that is not, and a copy of 4000 B. */
static struct fake *fake_of_kernels(bool counted)
{
	static const char *const keys[] = {"gpucontext", "gpustream"};
	struct fake *f = fake_new();
	f->profile.has_modules = true;
	uint32_t kernels = fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "GKER (sec)", "sec");
	uint32_t copies = fake_metric(f, PM_ROLE_EXCLUSIVE, 1, "GXCOPY (sec)", "sec");
	uint32_t bytes = fake_metric(f, PM_ROLE_EXCLUSIVE, 2, "GXCOPY:H2D (B)", "B");
	uint32_t had = fake_metric(f, PM_ROLE_EXCLUSIVE, 3, "GKER:LMEM_ACUMU (B)", "B");
	fake_thread(f, 1, 7);
	f->threads.keys = keys;
	fake_call(f, 1, 0, fake_function(f, "saxpy", NULL, 0));
	fake_call(f, 2, 0, fake_function(f, "dot", NULL, 0));
	fake_call(f, 3, 0, fake_function(f, "<gpu copyin>", NULL, 0));
	fake_value(f, 0, 1, kernels, 3e-6);
	fake_value(f, 0, 1, had, 77);
	if (counted)
		fake_value(f, 0, 1, fake_metric(f, PM_ROLE_EXCLUSIVE, 4, "GKER:COUNT", ""), 4);
	fake_value(f, 0, 2, kernels, 9e-6);
	fake_value(f, 0, 3, copies, 2e-6);
	fake_value(f, 0, 3, bytes, 4000);
	fake_sample(f, 0, 1000, 1);
	fake_sample(f, 0, 2000, 0);
	fake_sample(f, 0, 3000, 1);
	fake_sample(f, 0, 5000, 2);
	fake_sample(f, 0, 6000, 0);
	return f;
}

#define HEADER                                                                                     \
	"launches|total_ns|mean_ns|max_ns|share|bytes|bytes_per_sec|operation|module|kernel\n"

static void test_launches_are_counted_or_seen(void **state)
{
	for (int counted = 0; counted < 2; counted++) {
		struct fake *f = fake_of_kernels(counted);
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		assert_view(m, PMFS_PLACE_ROOT, "gpu.csv", 0,
			counted ? HEADER
				"|9000|||0.6428571428571429|||kernel|/bin/app|dot\n"
				"4|3000|750|2000|0.21428571428571427|||kernel|/bin/app|saxpy\n"
				"|2000|||0.14285714285714285|4000|2000000000|copy|/bin/app|"
				"<gpu copyin>\n"
				: HEADER
				"|9000|||0.6428571428571429|||kernel|/bin/app|dot\n"
				"2|3000|1500|2000|0.21428571428571427|||kernel|/bin/app|saxpy\n"
				"|2000|||0.14285714285714285|4000|2000000000|copy|/bin/app|"
				"<gpu copyin>\n");
		pmfs_model_free(m);
		fake_free(f);
	}
}

/* Idle from 2 to 3 us, while the host reads; what is idle at the ends is no gap. */
static void test_gaps_are_between_two_operations(void **state)
{
	struct fake *f = fake_of_kernels(true);
	fake_call(f, 4, 0, fake_function(f, "read_input", NULL, 0));
	fake_thread(f, 0, 0);
	((struct pm_thread *)(uintptr_t)f->threads.threads)[1].n_identity = 0;
	fake_sample(f, 1, 1000, 2);
	fake_sample(f, 1, 2400, 4);
	fake_sample(f, 1, 2600, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(view_named(PMFS_PLACE_ROOT, "gpu-gaps.csv")->present(m, 0, NULL), 1);
	assert_view(m, PMFS_PLACE_ROOT, "gpu-gaps.csv", 0,
		"time_ns|duration_ns|host_context_id|stream|before_id|after_id|before|after\n"
		"2000|1000|4|threads/gpucontext=1/gpustream=7|2|2|saxpy|saxpy\n");
	views_done(m, f);
}

/* No metric measures GPUs: a copy that began before the window, two kernels, idle time. */
static void test_without_metrics_traces_say_what_ran(void **state)
{
	static const char *const keys[] = {"gpucontext", "gpustream"};
	struct pm_frame nothing = {.kind = PM_KIND_PLACEHOLDER,
		.function = PM_NONE,
		.is_idle = true,
		.is_nothing = true};
	struct fake *f = fake_with_time();
	f->profile.has_modules = true;
	uint32_t stream = fake_thread(f, 1, 7);
	f->threads.keys = keys;
	fake_call(f, 11, 0, fake_function(f, "<gpu copyout>", NULL, 0));
	fake_call(f, 12, 11, fake_function(f, "<gpu kernel>", NULL, 0));
	fake_call(f, 13, 12, fake_function(f, "saxpy", NULL, 0));
	fake_call(f, 14, 0, fake_function(f, "dot", NULL, 0));
	fake_call(f, 15, 0, fake_function(f, "<gpu trace>", NULL, 0));
	nothing.name = fake_text(f, "<no activity>");
	fake_context(f, 16, 0, &nothing);
	fake_sample(f, stream, 1000, 11);
	fake_sample(f, stream, 4000, 13);
	fake_sample(f, stream, 5000, 16);
	fake_sample(f, stream, 9000, 14);
	fake_sample(f, stream, 9500, 15);
	fake_sample(f, stream, 9600, 13);
	fake_sample(f, stream, 10600, 0);
	f->threads_data[stream].samples[0].is_rest = true;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(view_named(PMFS_PLACE_WINDOW, "gpu.csv")->present(m, 0, NULL), 1);
	assert_view(m, PMFS_PLACE_WINDOW, "gpu.csv", 0,
		HEADER "0|3000||3000|0.5357142857142857|||copy|/bin/app|<gpu copyout>\n"
		       "2|2000|1000|1000|0.35714285714285715|||kernel|/bin/app|saxpy\n"
		       "1|500|500|500|0.08928571428571429|||kernel|/bin/app|dot\n"
		       "1|100|100|100|0.017857142857142856||||/bin/app|<gpu trace>\n");
	views_done(m, f);
}

static int64_t unreadable_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	return pm_error_set(err, -EINVAL, "trace.db", 0, "is damaged");
}

static void test_a_stream_that_cannot_be_read_is_left_out(void **state)
{
	struct fake *f = fake_of_kernels(true);
	f->ops.samples = unreadable_samples;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, PMFS_PLACE_ROOT, "gpu.csv", 0,
		HEADER "|9000|||0.6428571428571429|||kernel|/bin/app|dot\n"
		       "4|3000|750||0.21428571428571427|||kernel|/bin/app|saxpy\n"
		       "|2000|||0.14285714285714285|4000|2000000000|copy|/bin/app|<gpu copyin>\n");
	views_done(m, f);
}

/* Nobody wants them any more when the first ones are read. */
static int64_t unwanted_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	assert_int_equal(first, 0);
	pm_work_cancel(pm_work_current());
	for (size_t i = 0; i < room; i++)
		ret[i] = (struct pm_sample){.time_ns = i, .duration_ns = 1, .context = 1};
	return (int64_t)room;
}

static void test_reading_streams_ends_when_it_is_cancelled(void **state)
{
	struct fake *f = fake_of_kernels(true);
	struct pm_work work = {.cancelled = false};
	const struct pmfs_gpu *gpu;
	f->ops.samples = unwanted_samples;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_work *before = pm_work_enter(&work);
	assert_int_equal(pmfs_gpu(m, &gpu, NULL), -ENOMEM);
	pm_work_enter(before);
	views_done(m, f);
}

static int is_there(struct fake *f)
{
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	int r = view_named(PMFS_PLACE_ROOT, "gpu.csv")->present(m, 0, NULL);
	views_done(m, f);
	return r;
}

static void test_it_is_there_where_a_gpu_was_measured(void **state)
{
	struct fake *counts = fake_with_time();
	counts->profile.has_modules = true;
	fake_metric(counts, PM_ROLE_EXCLUSIVE, 2, "GKER:COUNT", "");
	fake_metric(counts, PM_ROLE_EXCLUSIVE, 3, "GKERNELS (sec)", "sec");
	assert_int_equal(is_there(fake_of_kernels(false)), 1);
	assert_int_equal(is_there(counts), 0);
	assert_int_equal(is_there(fake_with_time()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launches_are_counted_or_seen),
		cmocka_unit_test(test_gaps_are_between_two_operations),
		cmocka_unit_test(test_without_metrics_traces_say_what_ran),
		cmocka_unit_test(test_a_stream_that_cannot_be_read_is_left_out),
		cmocka_unit_test(test_reading_streams_ends_when_it_is_cancelled),
		cmocka_unit_test(test_it_is_there_where_a_gpu_was_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
