/* Commands for recipes.txt. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_H

#include "fs/views/model/model.h"

/*
 * Appends questions, each followed by a line `$ command` that answers it in the root of the mount:
 * the command exits with 0, prints something, and writes no files.
 */
int pmfs_add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err);

#endif
