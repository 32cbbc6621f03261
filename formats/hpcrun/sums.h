/*
 * Sums by node and metric, when the number of both is not known in advance. The first metrics have
 * a cell for every node, which takes a few bytes per byte of a file with that many nodes; the
 * others have cells only for existing values.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SUMS_H
#define PROFMOUNT_FORMATS_HPCRUN_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HPCRUN_DENSE = 8 };

struct hpcrun_sum {
	uint32_t node, metric;
	double cost;
};

/* Zeroed = empty. */
struct hpcrun_sums {
	double *dense[HPCRUN_DENSE]; /* by metric, then node; NaN = nothing */
	uint32_t dense_n[HPCRUN_DENSE];
	struct hpcrun_sum *slots; /* of other metrics, open addressing; metric 0 = free */
	size_t n_sparse, n_slots;
};

/* 0 or -ENOMEM. O(1). */
int hpcrun_sums_add(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost);

/* Adds all of `from`, in which nodes and metrics have different numbers. 0 or -ENOMEM. */
int hpcrun_sums_join(struct hpcrun_sums *s, const struct hpcrun_sums *from, const uint32_t *nodes,
	const uint32_t *metrics);

/* All sums, by metric, then node: the caller's to free(). NULL if out of memory. */
struct hpcrun_sum *hpcrun_sums_list(const struct hpcrun_sums *s, size_t *ret_n);

/* Also for a zeroed one. */
void hpcrun_sums_done(struct hpcrun_sums *s);

#endif
