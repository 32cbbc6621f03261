/* Format-specific parts of texts: short tables and remarks. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SECTIONS_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SECTIONS_H

#include "fs/views/model/views.h"

/*
 * Appends the format's sections (pm_parts.sections), at most PMFS_SECTION_ROWS rows of each,
 * lines of at most PMFS_SCREEN_WIDTH. Sections without rows are left out.
 */
enum { PMFS_SECTION_ROWS = 8 };
void pmfs_add_sections(const struct pmfs_writing *w);

/* Appends the format's remarks (pm_profile_ops.remarks), wrapped, each after `note`. */
void pmfs_add_remarks(const struct pmfs_writing *w);

#endif
