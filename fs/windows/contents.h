/* What ran in a window: the rows of its traces, its tree, and the costs. */
#ifndef PROFMOUNT_FS_WINDOWS_CONTENTS_H
#define PROFMOUNT_FS_WINDOWS_CONTENTS_H

#include "formats/common/costs.h"
#include "formats/common/damage.h"
#include "fs/windows/cut.h"

struct pmfs_contents {
	struct pmfs_index *x;
	struct pmfs_span span;
	uint32_t first, n; /* threads of the run */
	/* Made: */
	struct pm_threads threads;
	struct pm_thread *items; /* of threads */
	struct pmfs_cut *cuts;   /* by thread */
	struct pm_tree *tree;
	struct pm_callcosts costs;
	struct pm_costs weighed; /* instead, of samples with a weight: in the run's metrics */
	struct pm_damage_list damage;
	struct pm_damages damages; /* threads whose trace cannot be read */
};

/*
 * Fills in what is made; before, only the members above and an empty damage list are set. O(n) for
 * the threads, and for the rows at the edges (index.h). 0 or a negative errno, with nothing left:
 * also if no trace can be read. End with pmfs_contents_drop in any case.
 */
int pmfs_contents_make(struct pmfs_contents *c, struct pm_error *err);

/* Frees what was made; it can be made again. */
void pmfs_contents_drop(struct pmfs_contents *c);

/* The memory of what was made. */
uint64_t pmfs_contents_bytes(const struct pmfs_contents *c);

/*
 * instants.c: the rows of a thread, and then the tree and the costs, of samples with a weight: sums
 * over those that lie inside, exact until they leave 64 bits. O(log n) and O(rows). 0 or a negative
 * errno.
 */
int pmfs_instants_cut(struct pmfs_contents *c, uint32_t i, struct pm_error *err);
int pmfs_instants_gather(struct pmfs_contents *c, struct pm_error *err);

/* As pm_profile_ops.run_costs, of such a window. */
int64_t pmfs_instants_of_run(const struct pmfs_contents *c, const struct pm_metrics *metrics,
	uint32_t context, struct pm_value *ret, size_t room);

/* 0, or of a thread whose trace cannot be read the errno, with the reason. */
int pmfs_contents_check(const struct pmfs_contents *c, uint32_t thread, struct pm_error *err);

#endif
