/* Means, Welch's test, and the control of false discoveries. */
#include "fs/compare/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/sort.h"

void pmfs_sample_add(struct pmfs_sample *s, pm_number value)
{
	double before = (double)(value - s->mean);
	s->n++;
	if (s->n == 1)
		s->mean = value;
	else if (before != 0)
		s->mean = (double)s->mean + before / s->n;
	s->squares += before * (value - s->mean);
}

double pmfs_sample_variance(const struct pmfs_sample *s)
{
	return s->n > 1 ? s->squares / (s->n - 1) : NAN;
}

double pmfs_sample_stddev(const struct pmfs_sample *s)
{
	return sqrt(pmfs_sample_variance(s));
}

/* ---- the t distribution ---- */

enum { MOST_STEPS = 10000 }; /* the fraction converges in about sqrt(max(a, b)) */

static double not_zero(double x)
{
	return x != 0 ? x : 1e-300;
}

/* The continued fraction of I_x(a, b), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
	for (int m = 1; m < MOST_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		value *= c * d;
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return value;
}

/* lgamma_r, because lgamma writes a global variable. */
static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

double pmfs_incomplete_beta(double a, double b, double x)
{
	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	double front =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pmfs_welch(const struct pmfs_sample *a, const struct pmfs_sample *b)
{
	if (a->n < 2 || b->n < 2)
		return NAN;
	double v = pmfs_sample_variance(a) / a->n, w = pmfs_sample_variance(b) / b->n;
	double difference = a->mean - b->mean;
	if (v + w == 0)
		return difference == 0 ? 1 : 0;
	if (!isfinite(v + w) || !isfinite(difference * difference))
		return NAN;
	/* As shares of v + w, because squares of small variances would underflow. */
	double share = v / (v + w);
	double freedom = 1 / (share * share / (a->n - 1) + (1 - share) * (1 - share) / (b->n - 1));
	double t2 = difference * difference / (v + w);
	return pmfs_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t2));
}

/* ---- many tests at once ---- */

struct test {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct test *x = a, *y = b;
	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

int pmfs_adjust(const pm_number *p, pm_number *q, size_t n)
{
	struct test *tests = malloc((n + 1) * sizeof(*tests));
	size_t m = 0;
	if (!tests)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		q[i] = NAN;
		if (!isnan(p[i]))
			tests[m++] = (struct test){p[i], i};
	}
	int r = pm_sort(tests, m, sizeof(*tests), by_p);
	double least = 1;
	for (size_t i = m; r == 0 && i-- > 0;) {
		double adjusted = tests[i].p * (double)m / (double)(i + 1);
		if (adjusted < least)
			least = adjusted;
		q[tests[i].index] = least;
	}
	free(tests);
	return r;
}
