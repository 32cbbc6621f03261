/* The metric values of a profile, one after the other. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_STREAM_H
#define PROFMOUNT_FORMATS_HPCRUN_STREAM_H

#include "formats/hpcrun/profile.h"

/* A stored value that is not zero. */
struct hpcrun_value {
	size_t epoch;
	int64_t node_id;
	uint64_t node;   /* index in the epoch's nodes; UINT64_MAX for SECTIONS, which have only the
			    id */
	uint32_t metric; /* may be beyond the table */
	uint64_t bits;
	uint64_t off; /* in the file */
};

/* Walks over the values in stored order. */
struct hpcrun_values {
	const struct hpcrun_profile *profile;
	uint64_t at;      /* position of the next value, an increasing number that can be stored */
	size_t epoch;     /* EPOCHS: the epoch that contains `at` … */
	uint64_t before;  /* … and the positions before it */
	uint64_t block;   /* SECTIONS: the block that contains `at` … */
	uint64_t covered; /* … and the end of the valid blocks before it */
};

/* Starts at an earlier value of `at`, or 0. O(epochs), or O(blocks) if `at` is not 0. */
struct hpcrun_values hpcrun_values_from(const struct hpcrun_profile *p, uint64_t at);

bool hpcrun_values_next(struct hpcrun_values *v, struct hpcrun_value *ret);

/* The value's metric, or NULL. */
const struct hpcrun_metric *hpcrun_value_metric(
	const struct hpcrun_profile *p, const struct hpcrun_value *v);

#endif
