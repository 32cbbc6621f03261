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
 * From the top down, by an inclusive column, in a build of the arena: `*ret_n` steps, none if
 * nothing has a cost or the column is PM_NONE.
 */
struct pmfs_hot *pmfs_hotpath(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	uint32_t *ret_n, struct pm_error *err);

#endif
