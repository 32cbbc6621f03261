/* gpu.csv. */
#include "harness.h"

#include <string.h>

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
		cmocka_unit_test(test_it_is_there_where_a_gpu_was_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
