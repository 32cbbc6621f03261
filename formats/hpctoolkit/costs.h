/* Costs of the whole run, of a thread (profile.db), and of a context over threads (cct.db). */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_COSTS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_COSTS_H

#include "profmount/profile.h"

/* As in pm_profile_ops. */
int64_t hpctk_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err);
int64_t hpctk_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);

#endif
