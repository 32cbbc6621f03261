/*
 * Nodes refer to their module by id; those of 2009 by an address. Their module is the last one that
 * begins at or before the address, because sizes were not stored.
 */
#include "formats/hpcrun/modules.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"

static int by_vaddr(const void *a, const void *b, void *modules)
{
	const uint32_t *x = a, *y = b;
	const struct hpcrun_module *all = modules;
	if (all[*x].vaddr != all[*y].vaddr)
		return all[*x].vaddr < all[*y].vaddr ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

static int sort_addresses(struct hpcrun_finder *f)
{
	size_t n = f->modules->n;
	f->by_address = calloc(n + 1, sizeof(*f->by_address));
	if (!f->by_address)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		f->by_address[i] = (uint32_t)i;
	return pm_sort_with(f->by_address, n, sizeof(*f->by_address), by_vaddr, f->modules->items);
}

int hpcrun_finder_init(
	struct hpcrun_finder *f, const struct hpcrun_modules *modules, bool nodes_have_ids)
{
	bool is_new;
	*f = (struct hpcrun_finder){.modules = modules};
	if (!nodes_have_ids)
		return sort_addresses(f);
	f->in_order = true;
	for (size_t i = 0; i < modules->n; i++)
		f->in_order &= modules->items[i].id == i + 1;
	if (f->in_order)
		return 0;
	for (size_t i = 0; i < modules->n; i++)
		if (!pm_map_put(&f->by_id, modules->items[i].id, (uint32_t)i, &is_new))
			return -ENOMEM;
	return 0;
}

/* The last module that begins at or before the address. */
static uint32_t find_address(const struct hpcrun_finder *f, uint64_t address)
{
	size_t next = PM_LOWER_BOUND(
		i, 0, f->modules->n, f->modules->items[f->by_address[i]].vaddr <= address);
	return next ? f->by_address[next - 1] : UINT32_MAX;
}

uint32_t hpcrun_finder_find(const struct hpcrun_finder *f, const struct hpcrun_node *node)
{
	if (f->by_address)
		return find_address(f, node->ip);
	if (f->in_order)
		return node->module - 1 < f->modules->n ? node->module - 1 : UINT32_MAX;
	const uint32_t *index = pm_map_find(&f->by_id, node->module);
	return index ? *index : UINT32_MAX;
}

void hpcrun_finder_done(struct hpcrun_finder *f)
{
	pm_map_done(&f->by_id);
	free(f->by_address);
	*f = (struct hpcrun_finder){.modules = NULL};
}
