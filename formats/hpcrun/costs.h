/*
 * Values, costs and sampled contexts of one thread, decoded from its file each time they are needed
 * and kept for a while: hpcrun_decoded holds what was used last.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_COSTS_H
#define PROFMOUNT_FORMATS_HPCRUN_COSTS_H

#include "formats/common/cache.h"
#include "formats/hpcrun/contexts.h"

struct hpcrun_stored {
	uint64_t bits;
	uint32_t context; /* index in the tree */
	uint32_t group;
	double cost; /* NaN where it is no number */
	bool real;
};

/* A thread's values as its file has them. */
struct hpcrun_values_of_thread {
	struct pm_cached cached;
	struct hpcrun_stored *items; /* in stored order */
	size_t n;
};

/* What they cost, as hpcrun_cells_make has it. */
struct hpcrun_costs_of_thread {
	struct pm_cached cached;
	struct hpcrun_cells cells;
};

/* Which context a trace means by a node's number. */
struct hpcrun_link {
	uint32_t number, context;
};

struct hpcrun_links_of_thread {
	struct pm_cached cached;
	struct hpcrun_link *items; /* by number */
	size_t n;
};

/* The source, as those below need it. */
struct hpcrun_run {
	const struct hpcrun_merged *merged;
	struct hpcrun_folder *folder;
};

/*
 * Each reads the thread's file: 0 or -ENOMEM. A thread without a profile, or whose file cannot be
 * read any more, has nothing; the folder then says that it has changed. End with
 * (*ret)->cached.free.
 */
int hpcrun_values_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_values_of_thread **ret);
int hpcrun_links_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_links_of_thread **ret);
int hpcrun_costs_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_costs_of_thread **ret);

/* How many values there are, and contexts that have them. 0 or -ENOMEM. */
int hpcrun_values_count(const struct hpcrun_values_of_thread *values, const struct hpcrun_merged *m,
	struct pm_thread_counts *ret);

/* A stored value as the seam has it. */
struct pm_value hpcrun_stored_value(
	const struct hpcrun_merged *m, const struct hpcrun_stored *v, uint32_t thread);

/* The context's number that a trace means by a node, or UINT64_MAX. O(log n). */
uint64_t hpcrun_links_find(
	const struct hpcrun_links_of_thread *l, const struct hpcrun_merged *m, uint32_t node);

#endif
