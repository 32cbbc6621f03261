/* Commands for README.txt. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_H

#include "fs/views/model/model.h"

/*
 * Appends lines with a question, each followed by `$ command` that answers it from the mount's
 * root: exits 0, prints something, writes nothing.
 */
int pmfs_add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err);

#endif
