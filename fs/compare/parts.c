/* The parts of a comparison, which are built once. */
#include "fs/compare/internal.h"

struct part_build {
	struct pmfs_compare *compare;
	enum pmfs_compare_part which;
	const struct pmfs_compare_part_type *type;
};

static int build_part(void *context, struct pm_error *err)
{
	const struct part_build *b = context;
	struct pmfs_compare *c = b->compare;
	uint64_t bytes = 0;
	c->parts[b->which].free = b->type->free;
	int r = b->type->build(c, b->which, &c->parts[b->which].built, &bytes, err);
	if (r == 0)
		__atomic_add_fetch(&c->bytes, bytes, __ATOMIC_RELAXED);
	return r;
}

int pmfs_compare_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	const struct pmfs_compare_part_type *type, void *ret, struct pm_error *err)
{
	struct part_build b = {.compare = c, .which = which, .type = type};
	int r = pm_lazy_get(&c->parts[which].lazy, build_part, &b, err);
	void *built = r < 0 ? NULL : c->parts[which].built;
	memcpy(ret, &built, sizeof(built));
	return r;
}
