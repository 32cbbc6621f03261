/* A comparison of two runs. */
#include "fs/compare/compare.h"

int pmfs_compare_new(const struct pmfs_comparison *c, struct pm_profile **ret, struct pm_error *err)
{
	*ret = NULL;
	return pm_error_set(err, -ENOTSUP, c->name, PM_NO_OFFSET, "cannot be compared yet");
}

int pmfs_compare_contexts(
	const struct pm_profile *p, const struct pmfs_union **ret, struct pm_error *err)
{
	*ret = NULL;
	return pm_error_set(err, -ENOTSUP, p->source, PM_NO_OFFSET, "cannot be compared yet");
}

int pmfs_compare_summary_lines(
	const struct pm_profile *p, unsigned most, struct pm_text *out, struct pm_error *err)
{
	(void)most;
	(void)out;
	return pm_error_set(err, -ENOTSUP, p->source, PM_NO_OFFSET, "cannot be compared yet");
}
