/*
 * The primary quantity is one group of metrics. It comes first in every table, and its cost
 * orders siblings, functions, lines and callers, and is what pictures and texts show. Chosen here,
 * once; everybody else sees it as the first columns and the order of the tree.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_PRIMARY_H
#define PROFMOUNT_FS_VIEWS_MODEL_PRIMARY_H

#include "fs/views/model/model.h"

/*
 * The primary group, chosen by what is stored: see pm_quantity_leading. PM_NONE where no metric
 * has a column. Reads the contexts at the top, and all of them only where a quantity without
 * inclusive cost could lead. Where the tree cannot be built, names and units alone decide.
 */
int pmfs_primary_by_rule(struct pmfs_model *m, uint32_t *ret, struct pm_error *err);

/*
 * The group that has a column of that name, or of that stem. -EINVAL where there is none: `err`
 * then lists the stems of those that there are, as far as it has room.
 */
int pmfs_primary_by_name(
	const struct pmfs_columns *c, const char *name, uint32_t *ret, struct pm_error *err);

#endif
