/*
 * Values, costs and sampled contexts of one thread, decoded from its file when needed;
 * hpcrun_decoded keeps the most recently used ones.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_COSTS_H
#define PROFMOUNT_FORMATS_HPCRUN_COSTS_H

#include "formats/common/cache.h"
#include "formats/hpcrun/contexts.h"

struct hpcrun_stored {
	uint64_t bits;
	uint32_t context; /* index in the tree */
	uint32_t group;
	double cost; /* NaN if it is not a number */
	bool real;
};

/* A thread's values as stored in its file. */
struct hpcrun_values_of_thread {
	struct pm_cached cached;
	struct hpcrun_stored *items; /* in stored order */
	size_t n;
};

/* Their costs, from hpcrun_cells_make. */
struct hpcrun_costs_of_thread {
	struct pm_cached cached;
	struct hpcrun_cells cells;
};

/* Maps node numbers in traces to contexts. */
struct hpcrun_link {
	uint32_t number, context;
};

struct hpcrun_links_of_thread {
	struct pm_cached cached;
	struct hpcrun_link *items; /* by number, each once */
	size_t n;
	uint32_t *starts; /* of equal ranges of numbers: the first item of each, and the end */
	unsigned shift;   /* a range has 2^shift numbers */
};

/* The source, for the functions below. */
struct hpcrun_run {
	const struct hpcrun_merged *merged;
	struct hpcrun_folder *folder;
};

/*
 * Each reads the thread's file: 0 or -ENOMEM. If a thread has no profile, or its file cannot be
 * read any more, the result is empty; in the latter case the folder is marked as changed. Free with
 * (*ret)->cached.free.
 */
int hpcrun_values_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_values_of_thread **ret);
int hpcrun_links_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_links_of_thread **ret);
int hpcrun_costs_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_costs_of_thread **ret);

/* The number of values, and of contexts with values. 0 or -ENOMEM. */
int hpcrun_values_count(const struct hpcrun_values_of_thread *values, const struct hpcrun_merged *m,
	struct pm_thread_counts *ret);

/* Converts a stored value to the format interface. */
struct pm_value hpcrun_stored_value(
	const struct hpcrun_merged *m, const struct hpcrun_stored *v, uint32_t thread);

/* Fills in starts and shift: about one range for each item. 0 or -ENOMEM. */
int hpcrun_links_index(struct hpcrun_links_of_thread *l);

/*
 * The context number for a node number in a trace, or UINT64_MAX. O(1) if numbers are evenly
 * distributed, as those of a counter are; at most O(log n).
 */
uint64_t hpcrun_links_find(
	const struct hpcrun_links_of_thread *l, const struct hpcrun_merged *m, uint32_t node);

#endif
