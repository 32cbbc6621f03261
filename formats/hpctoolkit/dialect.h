/*
 * Determines which of the layouts with version 4.0 a database has, and its byte order. The version
 * field is the same for all of them, so the stored sizes of structures and the positions of tables
 * decide.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_DIALECT_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_DIALECT_H

#include "formats/hpctoolkit/parts.h"

/*
 * Fills db->layout from the open files. Unreadable optional files are removed from db->present and
 * reported as damage; -EINVAL if files contradict each other.
 */
int hpctk_layout_detect(struct hpctk_opened *db, struct pm_error *err);

/* 4.0, 4.0-draft-2022-06, 4.0-draft-2022-04, 4.0-first-draft */
const char *hpctk_layout_name(const struct hpctk_layout *l);

#endif
