/* Operations of a profile that has none of the data. */
#include "formats/common/nothing.h"

int pm_nothing_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	static const struct pm_bytes text = {(const uint8_t *)"", 0};
	static const struct pm_tree empty = {.ordered_by = PM_NONE, .n_texts = 1, .texts = &text};
	(void)p;
	(void)err;
	*ret = &empty;
	return 0;
}

int pm_nothing_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	static const struct pm_metrics none;
	(void)p;
	(void)err;
	*ret = &none;
	return 0;
}

int64_t pm_nothing_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	(void)p;
	(void)context;
	(void)ret;
	(void)room;
	(void)err;
	return 0;
}

int pm_nothing_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	static const struct pm_damages none;
	(void)p;
	(void)err;
	*ret = &none;
	return 0;
}
