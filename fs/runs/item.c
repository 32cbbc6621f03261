/*
 * A run as an item's profile: it forwards everything to the run except closing, so a run is opened
 * once for all its users.
 */
#include <stdlib.h>

#include "fs/runs/internal.h"

struct item {
	struct pm_profile profile;
	struct pm_profile_ops ops;
	struct pmfs_shelf *shelf;
	uint32_t run;
};

static void item_close(struct pm_profile *p)
{
	struct item *item = (struct item *)p; /* its first member */
	pmfs_shelf_release(item->shelf, item->run);
	free(item);
}

static uint64_t item_memory(const struct pm_profile *p)
{
	return pmfs_shelf_bytes(((const struct item *)p)->shelf, p);
}

int pmfs_run_profile(
	const struct pmfs_ensemble *e, uint32_t run, struct pm_profile **ret, struct pm_error *err)
{
	struct item *item = calloc(1, sizeof(*item));
	struct pmfs_model *model;
	if (!item)
		return pmfs_ensemble_no_memory(err);
	int r = pmfs_shelf_acquire(e->shelf, run, &model, err);
	if (r < 0) {
		free(item);
		return r;
	}
	item->profile = *pmfs_model_profile(model);
	item->ops = *item->profile.ops;
	item->ops.close = item_close;
	item->ops.memory = item_memory;
	item->profile.ops = &item->ops;
	item->shelf = e->shelf;
	item->run = run;
	*ret = &item->profile;
	return 0;
}
