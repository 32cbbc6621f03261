/*
 * The primary quantity is a group of metrics. Its columns come first in every table, siblings,
 * functions, lines and callers are ordered by its cost, and pictures and texts show it. It is
 * chosen here, once; other files see it as the first columns and the order of the tree.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_PRIMARY_H
#define PROFMOUNT_FS_VIEWS_MODEL_PRIMARY_H

#include "fs/views/model/model.h"

/*
 * The primary group, chosen by the stored values: see pm_quantity_leading. PM_NONE if no metric has
 * a column. Reads the costs of top-level contexts, and of all contexts only if a quantity without
 * inclusive cost could be primary. If the tree cannot be built, or the profile wants it so, names
 * and units decide.
 */
int pmfs_primary_by_rule(struct pmfs_model *m, uint32_t *ret, struct pm_error *err);

/*
 * The group with a column of this name or stem. -EINVAL if there is none; `err` then lists as many
 * of the valid stems as fit.
 */
int pmfs_primary_by_name(
	const struct pmfs_columns *c, const char *name, uint32_t *ret, struct pm_error *err);

/* Appends `there are a, b, c`: as many stems as an error has room for. */
void pmfs_list_stems(const struct pmfs_columns *c, struct pm_text *out);

#endif
