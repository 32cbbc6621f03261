/* Finds the load module of a node. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_MODULES_H
#define PROFMOUNT_FORMATS_HPCRUN_MODULES_H

#include "formats/common/map.h"
#include "formats/hpcrun/records.h"

struct hpcrun_finder {
	const struct hpcrun_modules *modules;
	bool in_order; /* ids are 1, 2, 3 …, as real ones are: no map is needed */
	struct pm_map by_id;
	uint32_t *by_address; /* indexes by vaddr, later ones last; NULL where nodes name ids */
};

/* 0 or -ENOMEM. `modules` must outlive it. */
int hpcrun_finder_init(
	struct hpcrun_finder *f, const struct hpcrun_modules *modules, bool nodes_have_ids);

/* The module's index in the load map, or UINT32_MAX. */
uint32_t hpcrun_finder_find(const struct hpcrun_finder *f, const struct hpcrun_node *node);

/* Also for a zeroed one. */
void hpcrun_finder_done(struct hpcrun_finder *f);

#endif
