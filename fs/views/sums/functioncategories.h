/* The category of each function. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONCATEGORIES_H
#define PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONCATEGORIES_H

#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"

/*
 * By function: the category with most of its exclusive cost of the primary quantity, or that of its
 * first context if it has no cost. The caller frees `*ret`. 0, or a negative errno.
 */
int pmfs_function_categories(struct pmfs_model *m, uint8_t **ret, struct pm_error *err);

#endif
