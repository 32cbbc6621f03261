#include "formats/common/part.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct building {
	struct pm_part *part;
	const struct pm_part_type *type;
	void *owner;
};

static int build(void *context, struct pm_error *err)
{
	const struct building *b = context;
	void *thing = calloc(1, b->type->size);
	int r = thing ? b->type->fill(b->owner, thing, err) : -ENOMEM;
	if (r < 0) {
		if (thing)
			b->type->done(thing);
		free(thing);
		return pm_error_set(
			err, r, b->type->file, PM_NO_OFFSET, "no memory for %s", b->type->what);
	}
	b->part->type = b->type;
	b->part->built = thing;
	return 0;
}

int pm_part_get_sized(struct pm_part *part, const struct pm_part_type *type, void *owner, void *ret,
	size_t size, struct pm_error *err)
{
	assert(size > 1 && size <= type->size); /* 1: a pointer to void */
	(void)size;
	struct building b = {part, type, owner};
	int r = pm_lazy_get(&part->lazy, build, &b, err);
	void *thing = r < 0 ? NULL : part->built;
	memcpy(ret, &thing, sizeof(thing)); /* avoids aliasing */
	return r;
}

void pm_part_done(struct pm_part *part)
{
	if (!part->built)
		return;
	part->type->done(part->built);
	free(part->built);
	part->built = NULL;
}
