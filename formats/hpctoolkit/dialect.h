/*
 * Which of the layouts that call themselves 4.0 a database has, and in which byte order. The
 * version field cannot tell; stored sizes of structures and the place of tables can.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_DIALECT_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_DIALECT_H

#include "formats/hpctoolkit/parts.h"

/*
 * Fills db->layout from the files that are open. Optional files that make no sense are taken out
 * of db->present and put into damage; -EINVAL where files contradict each other.
 */
int hpctk_layout_detect(struct hpctk_parts *db, struct pm_error *err);

/* 4.0, 4.0-draft-2022-06, 4.0-draft-2022-04, 4.0-first-draft */
const char *hpctk_layout_name(const struct hpctk_layout *l);

#endif
