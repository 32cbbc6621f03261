/*
 * Decides whether a difference is more than noise: means of repetitions, Welch's test, and the
 * Benjamini-Hochberg procedure for many tests. docs/decisions/ explains why it is implemented here.
 */
#ifndef PROFMOUNT_FS_COMPARE_NOISE_H
#define PROFMOUNT_FS_COMPARE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "profmount/tree.h"

/* Running mean and variance (Welford): exact if all values are equal. Zeroed = no values. */
struct pmfs_sample {
	uint32_t n;
	pm_number mean;
	double squares; /* sum of squared distances from the mean */
};

void pmfs_sample_add(struct pmfs_sample *s, pm_number value);

/* Sample variance (n - 1); NaN with fewer than two. */
double pmfs_sample_variance(const struct pmfs_sample *s);

double pmfs_sample_stddev(const struct pmfs_sample *s);

/*
 * Welch's two-sided p: how often equal means would give a difference this large. NaN with fewer
 * than two values on a side, and if squares of the values are beyond doubles. Without variance: 1
 * if the means are equal, else 0.
 */
double pmfs_welch(const struct pmfs_sample *a, const struct pmfs_sample *b);

/* The regularised incomplete beta function I_x(a, b), for a, b > 0 and x from 0 to 1. */
double pmfs_incomplete_beta(double a, double b, double x);

/* A difference is called a change if its q is at most this. */
#define PMFS_FALSE_DISCOVERIES 0.05

/*
 * Adjusted p values: of those with q at most PMFS_FALSE_DISCOVERIES, that share is expected to be
 * noise. A p of NaN means no test, and gives a q of NaN. 0 or -ENOMEM. O(n log n).
 */
int pmfs_adjust(const pm_number *p, pm_number *q, size_t n);

#endif
