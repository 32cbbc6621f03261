/*
 * Iterations: the outermost calls of functions, labels or methods, which -o iterations names, one
 * or by a pattern, on the thread with most of them. Of samples, an iteration is as many in a row as
 * lie below it.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_ITERATIONS_H
#define PROFMOUNT_FS_VIEWS_SUMS_ITERATIONS_H

#include "fs/views/model/categories.h"

struct pmfs_iteration {
	uint64_t time_ns;          /* when it begins, as in samples */
	uint64_t first_ns, end_ns; /* what it covers: from the earliest of its samples to the end of
				      the latest, which differs where a clock was set */
	uint64_t duration_ns;      /* PM_NO_TIME: beyond 64 bits */
	uint64_t seq;              /* of a call: pm_sample.seq */
	/*
	 * Its time by category; adds up to its duration. PM_NO_SELF: int64 cannot hold it, or what
	 * it is made up of.
	 */
	int64_t own_ns[PMFS_N_CATEGORIES];
};

struct pmfs_iterations {
	uint32_t n;
	const struct pmfs_iteration *items; /* in the order of the trace */
	uint32_t thread;
	uint64_t origin_ns, run_ns; /* as of pm_profile_span; PM_NO_TIME: unknown */
};

/*
 * The window of an iteration, since the time origin: the part of what it covers that is inside the
 * run. False if there is none.
 */
bool pmfs_iteration_window(const struct pmfs_iterations *all, const struct pmfs_iteration *it,
	uint64_t *ret_start, uint64_t *ret_end);

/*
 * Found on the first call, in two passes over the traces; owned by the model. -ENOENT where nothing
 * of that name is called, -ENOTSUP where it is called more than PM_LIMIT_ITERATIONS times.
 */
int pmfs_iterations(struct pmfs_model *m, const struct pmfs_iterations **ret, struct pm_error *err);

/* Whether -o iterations was given. */
int pmfs_has_iterations(struct pmfs_model *m, uint32_t item, struct pm_error *err);

#endif
