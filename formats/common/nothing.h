/* Operations of profiles that lack the data: for those that consist of documents, or of a part. */
#ifndef PROFMOUNT_NOTHING_H
#define PROFMOUNT_NOTHING_H

#include "profmount/profile.h"

/* As in pm_profile_ops: an empty tree, an empty list, no costs, no damage. Cannot fail. */
int pm_nothing_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err);
int pm_nothing_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err);
int64_t pm_nothing_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err);
int pm_nothing_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);

#endif
