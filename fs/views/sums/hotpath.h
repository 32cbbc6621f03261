/* The path of the most expensive contexts. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_HOTPATH_H
#define PROFMOUNT_FS_VIEWS_SUMS_HOTPATH_H

#include "formats/common/arena.h"
#include "fs/views/model/model.h"

/* One step: a context and its inclusive cost. */
struct pmfs_hot {
	uint32_t context;
	double value;
};

/*
 * From the top down, by the inclusive column of the primary quantity. `*ret`, in the arena, or to
 * be freed if that is NULL, has
 * `*ret_n` steps, none if nothing has an inclusive cost.
 */
int pmfs_hotpath(struct pm_arena *a, struct pmfs_model *m, struct pmfs_hot **ret, uint32_t *ret_n,
	struct pm_error *err);

/* The same by any column. */
int pmfs_hotpath_by(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	struct pmfs_hot **ret, uint32_t *ret_n, struct pm_error *err);

#endif
