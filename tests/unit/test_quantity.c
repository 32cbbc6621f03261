/* Tests formats/common/quantity.c. */
#include "tests/unittest.h"

#include <math.h>

#include "formats/common/quantity.h"

static void test_classes_by_name_and_unit(void **state)
{
	static const struct {
		const char *name, *unit;
		enum pm_quantity class;
	} rows[] = {
		{"CPUTIME (sec)", "sec", PM_QUANTITY_TIME},
		{"REALTIME (usec)", "usec", PM_QUANTITY_TIME},
		{"WALLCLOCK", "", PM_QUANTITY_TIME},
		{"perf::task-clock", "", PM_QUANTITY_TIME},
		{"cpu-clock:u", "", PM_QUANTITY_TIME},
		{"time", "ns", PM_QUANTITY_TIME},
		{"GPUOP (sec)", "sec", PM_QUANTITY_GPU_WORK},
		{"GKER (sec)", "sec", PM_QUANTITY_GPU_TIME},
		{"GXCOPY (sec)", "sec", PM_QUANTITY_GPU_TIME},
		{"GSYNC:CTX (sec)", "sec", PM_QUANTITY_GPU_TIME},
		{"PAPI_TOT_CYC", "", PM_QUANTITY_CYCLES},
		{"cycles:pp", "", PM_QUANTITY_CYCLES},
		{"CPU_CLK_UNHALTED", "", PM_QUANTITY_CYCLES},
		{"GSAMP:PER (cyc)", "cyc", PM_QUANTITY_OTHER},
		{"instructions", "", PM_QUANTITY_INSTRUCTIONS},
		{"PAPI_TOT_INS", "", PM_QUANTITY_INSTRUCTIONS},
		{"GINS:STL_ANY", "", PM_QUANTITY_INSTRUCTIONS},
		{"GXCOPY:H2D (B)", "B", PM_QUANTITY_BYTES},
		{"bytes allocated", "bytes", PM_QUANTITY_BYTES},
		{"calls", "", PM_QUANTITY_OTHER},
		{"GKER:COUNT", "", PM_QUANTITY_OTHER},
		{"inspections", "", PM_QUANTITY_OTHER},
		{"", "", PM_QUANTITY_OTHER},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum pm_quantity class =
			pm_quantity_of(pm_bytes_of(rows[i].name), pm_bytes_of(rows[i].unit));
		if (class != rows[i].class)
			fail_msg("%s is of class %d", rows[i].name, class);
	}
}

static void test_units_of_time(void **state)
{
	assert_true(pm_unit_ns(pm_bytes_of("sec")) == 1e9);
	assert_true(pm_unit_ns(pm_bytes_of("us")) == 1e3);
	assert_true(pm_unit_ns(pm_bytes_of("ns")) == 1);
	assert_true(pm_unit_ns(pm_bytes_of("")) == 0);
	assert_true(pm_unit_ns(pm_bytes_of("seconds ago")) == 0);
}

#define METRIC(g, r, n, u)                                                                         \
	{                                                                                          \
		.group = (g), .role = (r), .in_tree = true, .has_values = true,                    \
		.name = {(const uint8_t *)(n), sizeof(n) - 1}, .unit = {                           \
			(const uint8_t *)(u),                                                      \
			sizeof(u) - 1                                                              \
		}                                                                                  \
	}

static void test_the_best_class_with_a_cost_leads(void **state)
{
	static const struct pm_metric list[] = {
		METRIC(0, PM_ROLE_COUNT, "launches", ""),
		METRIC(1, PM_ROLE_INCLUSIVE, "cycles", ""),
		METRIC(2, PM_ROLE_INCLUSIVE, "GKER (sec)", "sec"),
		METRIC(3, PM_ROLE_INCLUSIVE, "GMEM (sec)", "sec"),
		METRIC(4, PM_ROLE_INCLUSIVE, "CPUTIME (sec)", "sec"),
		METRIC(5, PM_ROLE_OTHER, "REALTIME (sec)", "sec"),
	};
	const struct pm_metrics m = {6, list};
	double whole[] = {7, 6, 5, 4, 3, 2};
	assert_int_equal(pm_metrics_groups(&m), 6);
	assert_int_equal(pm_quantity_leading(&m, whole), 4);
	whole[4] = 0;
	assert_int_equal(pm_quantity_leading(&m, whole), 2); /* the first of its class */
	whole[2] = NAN;
	assert_int_equal(pm_quantity_leading(&m, whole), 3);
	whole[3] = -1; /* of clipped calls: not nothing */
	assert_int_equal(pm_quantity_leading(&m, whole), 3);
	whole[3] = whole[1] = 0;
	assert_int_equal(pm_quantity_leading(&m, whole), 0);
	whole[0] = 0;
	assert_int_equal(pm_quantity_leading(&m, whole), PM_NONE);
	assert_int_equal(pm_quantity_leading(&m, NULL), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes_by_name_and_unit),
		cmocka_unit_test(test_units_of_time),
		cmocka_unit_test(test_the_best_class_with_a_cost_leads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
