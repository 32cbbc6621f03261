/* What could not be read. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_DAMAGE_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_DAMAGE_H

#include "formats/hpctoolkit/parts.h"

/* Like pm_profile_ops.damage: reads everything on the first call. */
int hpctk_damage(const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);

#endif
