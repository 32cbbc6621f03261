/* Source files copied into the database. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_SOURCES_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_SOURCES_H

#include "formats/hpctoolkit/parts.h"

/* As pm_profile_ops.sources. */
int hpctk_sources(const struct pm_profile *p, const struct pm_source **ret, size_t *ret_n,
	struct pm_error *err);

/* Whether there are any. 1, 0 or a negative errno; stops at the first. */
int hpctk_sources_any(struct hpctk_opened *db, struct pm_error *err);

/* Adds the copies that are there and cannot be opened. 0 or a negative errno. */
int hpctk_sources_scan(struct hpctk_opened *db, struct pm_damage_list *found, struct pm_error *err);

#endif
