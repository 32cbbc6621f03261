/* Format-specific parts of texts: short tables and remarks. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SECTIONS_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SECTIONS_H

#include "fs/views/model/model.h"

/*
 * Appends the format's sections (pm_parts.sections), at most PMFS_SECTION_ROWS rows of each,
 * lines of at most PMFS_SCREEN_WIDTH. Sections without rows are left out. Returns the number of
 * sections written, or a negative errno.
 */
enum { PMFS_SECTION_ROWS = 8 };
int pmfs_add_sections(struct pm_text *out, struct pmfs_model *m, struct pm_error *err);

/* Appends the format's remarks (pm_profile_ops.remarks), wrapped, each after `note`. */
int pmfs_add_remarks(struct pm_text *out, struct pmfs_model *m, struct pm_error *err);

#endif
