#include "fs/tree/paths.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"

static uint32_t node_add(struct pmfs_paths *p, uint32_t parent, struct pm_bytes name)
{
	if (p->n >= PM_NONE - 1 || pm_list_room(&p->nodes, p->n, &p->room, sizeof(*p->nodes)) < 0)
		return PM_NONE;
	p->nodes[p->n] = (struct pmfs_path){.name = name, .parent = parent};
	return p->n++;
}

/*
 * The child of that name while building: a hash of parent and name finds the first node of
 * that hash; on a collision the next key is tried.
 */
static uint32_t child_of(struct pmfs_paths *p, uint32_t parent, struct pm_bytes name)
{
	uint64_t key = pm_hash_bytes(name) ^ pm_hash_u64(parent);
	for (;; key = pm_hash_u64(key + 1)) {
		bool fresh;
		uint32_t *node = pm_map_put(p->found, key, p->n, &fresh);
		if (!node)
			return PM_NONE;
		if (fresh)
			return node_add(p, parent, name);
		const struct pmfs_path *there = &p->nodes[*node];
		if (there->parent == parent && pm_bytes_equal(there->name, name))
			return *node;
	}
}

int pmfs_paths_add(
	struct pmfs_paths *p, const char *path, enum pmfs_payload payload, uint32_t index)
{
	if (!p->found && !(p->found = calloc(1, sizeof(*p->found))))
		return -ENOMEM;
	if (p->n == 0 && node_add(p, PM_NONE, pm_bytes_of("")) == PM_NONE)
		return -ENOMEM;
	uint32_t node = 0;
	while (*path) {
		size_t len = strcspn(path, "/");
		if (len > 0)
			node = child_of(p, node, (struct pm_bytes){(const uint8_t *)path, len});
		if (node == PM_NONE)
			return -ENOMEM;
		path += len + (path[len] == '/');
	}
	if (payload == PMFS_PAYLOAD_NONE)
		return 0;
	if (p->nodes[node].payload != PMFS_PAYLOAD_NONE)
		return -EEXIST;
	p->nodes[node].payload = payload;
	p->nodes[node].index = index;
	return 0;
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct pmfs_paths *p = context;
	const uint32_t *x = a, *y = b;
	return pm_bytes_compare(p->nodes[*x].name, p->nodes[*y].name);
}

int pmfs_paths_freeze(struct pmfs_paths *p)
{
	if (p->n == 0) {
		int r = pmfs_paths_add(p, "", PMFS_PAYLOAD_NONE, 0);
		if (r < 0)
			return r;
	}
	p->order = calloc(p->n, sizeof(*p->order));
	p->sorted = calloc(p->n, sizeof(*p->sorted));
	if (!p->order || !p->sorted)
		return -ENOMEM;
	for (uint32_t i = 1; i < p->n; i++)
		p->nodes[p->nodes[i].parent].n++;
	for (uint32_t i = 0, first = 0; i < p->n; i++) {
		p->nodes[i].first = first;
		first += p->nodes[i].n;
		p->nodes[i].n = 0;
	}
	for (uint32_t i = 1; i < p->n; i++) {
		struct pmfs_path *parent = &p->nodes[p->nodes[i].parent];
		p->order[parent->first + parent->n++] = i;
	}
	memcpy(p->sorted, p->order, p->n * sizeof(*p->sorted));
	for (uint32_t i = 0; i < p->n; i++)
		if (pm_sort_with(p->sorted + p->nodes[i].first, p->nodes[i].n, sizeof(*p->sorted),
			    by_name, p) < 0)
			return -ENOMEM;
	pm_map_done(p->found);
	free(p->found);
	p->found = NULL;
	return 0;
}

uint32_t pmfs_paths_find(const struct pmfs_paths *p, uint32_t node, struct pm_bytes name)
{
	uint32_t first = p->nodes[node].first, end = first + p->nodes[node].n;
	uint32_t at = PM_LOWER_BOUND(
		i, first, end, pm_bytes_compare(p->nodes[p->sorted[i]].name, name) < 0);
	bool found = at < end && pm_bytes_compare(p->nodes[p->sorted[at]].name, name) == 0;
	return found ? p->sorted[at] : PM_NONE;
}

void pmfs_paths_done(struct pmfs_paths *p)
{
	if (p->found)
		pm_map_done(p->found);
	free(p->found);
	free(p->nodes);
	free(p->order);
	free(p->sorted);
	*p = (struct pmfs_paths){.nodes = NULL};
}
