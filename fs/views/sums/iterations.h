/*
 * Iterations: the calls of one function, label or method on the thread that calls it most often,
 * which -o iterations names. Of samples, an iteration is as many in a row as lie below it.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_ITERATIONS_H
#define PROFMOUNT_FS_VIEWS_SUMS_ITERATIONS_H

#include "fs/views/model/categories.h"

struct pmfs_iteration {
	uint64_t start_ns;    /* since the time origin */
	uint64_t duration_ns; /* PM_NO_TIME: beyond 64 bits */
	uint64_t seq;         /* of a call: pm_sample.seq */
	/*
	 * Its time by category; adds up to its duration. PM_NO_SELF: int64 cannot hold it, or what
	 * it is made up of.
	 */
	int64_t own_ns[PMFS_N_CATEGORIES];
};

/*
 * Whether it has a window in a run of that length (PM_NO_TIME: unknown), and the end of the window.
 */
static inline bool pmfs_iteration_has_window(
	const struct pmfs_iteration *it, uint64_t run_ns, uint64_t *ret_end)
{
	return it->duration_ns != 0 && run_ns != PM_NO_TIME &&
		!__builtin_add_overflow(it->start_ns, it->duration_ns, ret_end) &&
		*ret_end <= run_ns;
}

struct pmfs_iterations {
	uint32_t n;
	const struct pmfs_iteration *items; /* in the order of the trace */
	uint32_t thread;
};

/*
 * Found on the first call, in two passes over the traces; owned by the model. -ENOENT where nothing
 * of that name is called, -ENOTSUP where it is called more than PM_LIMIT_ITERATIONS times.
 */
int pmfs_iterations(struct pmfs_model *m, const struct pmfs_iterations **ret, struct pm_error *err);

/* Whether -o iterations was given. */
int pmfs_has_iterations(struct pmfs_model *m, uint32_t item, struct pm_error *err);

#endif
