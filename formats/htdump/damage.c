/* What could not be read of a stream; reads all of it. */
#include <errno.h>

#include "formats/htdump/parts.h"

/* The findings of the scan, and calls that cannot be used. */
static int damage_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	const struct htd_calls *calls;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = htd_calls_get(src, &calls, &why);
	if (r < 0 && r != -ENOTSUP)
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	if (r < 0)
		pm_damage_add(&src->damage_list, src->input.name, PM_NO_OFFSET, PM_NO_OFFSET,
			"%s: they are not presented as contexts", why.text);
	src->damages = pm_damage_rows(&src->damage_list);
	return 0;
}

int htd_damage(const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct htd_opened *src = htd_opened_of(p);
	*ret = &src->damages;
	return pm_lazy_get(&src->damage_lazy, damage_build, src, err);
}
