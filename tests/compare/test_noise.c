/* fs/compare/noise.c against published tables. */
#include "tests/unittest.h"
#include <math.h>

#include "fs/compare/noise.h"

static void assert_near(double got, double want, double slack)
{
	if (!(fabs(got - want) <= slack))
		fail_msg("%.17g, expected %.17g", got, want);
}

/* Critical values of Student's t, two-sided. */
static void test_t_distribution(void **state)
{
	static const double rows[][3] = {{2.228139, 10, 0.05}, {12.706205, 1, 0.05},
		{4.5868939, 10, 0.001}, {1.9599640, 1e7, 0.05}, {0, 3, 1}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double t = rows[i][0], df = rows[i][1];
		assert_near(pmfs_incomplete_beta(df / 2, 0.5, df / (df + t * t)), rows[i][2], 1e-7);
	}
	assert_near(pmfs_incomplete_beta(2, 3, 0.5), 0.6875, 1e-15);
	assert_near(pmfs_incomplete_beta(2, 3, 0), 0, 0);
	assert_near(pmfs_incomplete_beta(2, 3, 1), 1, 0);
}

static struct pmfs_sample sample_of(const double *values, size_t n)
{
	struct pmfs_sample s = {.n = 0};
	for (size_t i = 0; i < n; i++)
		pmfs_sample_add(&s, values[i]);
	return s;
}

static void test_samples(void **state)
{
	static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct pmfs_sample s = sample_of(values, 8);
	assert_near(s.mean, 5, 1e-15);
	assert_near(pmfs_sample_variance(&s), 32.0 / 7, 1e-14);
	s = sample_of(values, 1);
	assert_true(s.mean == 2);
	assert_true(isnan(pmfs_sample_stddev(&s)));
}

static void test_welch(void **state)
{
	static const double a[] = {116, 114}, b[] = {154, 158}, same[] = {3, 3, 3},
			    other[] = {4, 4, 4};
	struct pmfs_sample x = sample_of(a, 2), y = sample_of(b, 2);
	/* t = 41 / sqrt(5) with 25 / 17 degrees of freedom. */
	assert_near(pmfs_welch(&x, &y), 0.01029971455714518, 1e-12);
	assert_near(pmfs_welch(&y, &x), pmfs_welch(&x, &y), 0);
	x = sample_of(same, 3);
	y = sample_of(other, 3);
	assert_true(pmfs_welch(&x, &x) == 1);
	assert_true(pmfs_welch(&x, &y) == 0);
	y = sample_of(other, 1);
	assert_true(isnan(pmfs_welch(&x, &y)));
}

/* Nothing is known about a difference whose variance, or square, is beyond doubles. */
static void test_welch_of_huge_values(void **state)
{
	static const double plain[] = {1, 2}, wide[] = {-1e160, 1e160}, huge[] = {1e200, 1e200},
			    infinite[] = {1, INFINITY};
	struct pmfs_sample x = sample_of(plain, 2);
	const double *rows[] = {wide, huge, infinite};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pmfs_sample y = sample_of(rows[i], 2);
		assert_true(isnan(pmfs_welch(&x, &y)));
		assert_true(isnan(pmfs_welch(&y, &x)));
	}
}

/* Equal variances and sizes: Welch's test is Student's, t = 2.228139 with 10 degrees. */
static void test_welch_is_students(void **state)
{
	double a[6] = {-1, 1, -1, 1, -1, 1}, b[6];
	double shift = 2.228139 * sqrt(1.2 / 6 * 2);
	for (size_t i = 0; i < 6; i++)
		b[i] = a[i] + shift;
	struct pmfs_sample x = sample_of(a, 6), y = sample_of(b, 6);
	assert_near(pmfs_welch(&x, &y), 0.05, 1e-7);
}

static void test_false_discoveries(void **state)
{
	pm_number p[] = {0.9, 0.01, NAN, 0.02, 0.03}, q[5];
	assert_int_equal(pmfs_adjust(p, q, 5), 0);
	assert_near(q[0], 0.9, 1e-15);
	assert_near(q[1], 0.04, 1e-15);
	assert_near(q[3], 0.04, 1e-15);
	assert_near(q[4], 0.04, 1e-15);
	assert_true(isnan(q[2]));
	assert_int_equal(pmfs_adjust(p, q, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t_distribution),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_welch),
		cmocka_unit_test(test_welch_of_huge_values),
		cmocka_unit_test(test_welch_is_students),
		cmocka_unit_test(test_false_discoveries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
