#include "fs/tree/paths.h"

#include <errno.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"

static uint32_t node_add(struct pmfs_paths *p, uint32_t parent, struct pm_bytes name)
{
	if (p->n >= PM_NONE - 1)
		pm_build_fail(p->arena, -ENOMEM);
	pm_list_grow(p->arena, &p->nodes, p->n, &p->room, sizeof(*p->nodes));
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
		uint32_t node = *pm_map_put(&p->found, key, p->n, &fresh);
		if (fresh)
			return node_add(p, parent, name);
		const struct pmfs_path *there = &p->nodes[node];
		if (there->parent == parent && pm_bytes_equal(there->name, name))
			return node;
	}
}

struct pmfs_paths pmfs_paths_in(struct pm_arena *a)
{
	struct pmfs_paths p = {.arena = a, .found.arena = a};
	node_add(&p, PM_NONE, pm_bytes_of(""));
	return p;
}

bool pmfs_paths_add(
	struct pmfs_paths *p, const char *path, enum pmfs_payload payload, uint32_t index)
{
	uint32_t node = 0;
	while (*path) {
		size_t len = strcspn(path, "/");
		if (len > 0)
			node = child_of(p, node, (struct pm_bytes){(const uint8_t *)path, len});
		path += len + (path[len] == '/');
	}
	if (payload == PMFS_PAYLOAD_NONE)
		return true;
	if (p->nodes[node].payload != PMFS_PAYLOAD_NONE)
		return false;
	p->nodes[node].payload = payload;
	p->nodes[node].index = index;
	return true;
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct pmfs_paths *p = context;
	const uint32_t *x = a, *y = b;
	return pm_bytes_compare(p->nodes[*x].name, p->nodes[*y].name);
}

void pmfs_paths_freeze(struct pmfs_paths *p)
{
	p->order = pm_arena_array(p->arena, p->n, sizeof(*p->order));
	p->sorted = pm_arena_array(p->arena, p->n, sizeof(*p->sorted));
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
		pm_build_check(p->arena,
			pm_sort_with(p->sorted + p->nodes[i].first, p->nodes[i].n,
				sizeof(*p->sorted), by_name, p));
	pm_map_done(&p->found);
}

uint32_t pmfs_paths_find(const struct pmfs_paths *p, uint32_t node, struct pm_bytes name)
{
	uint32_t first = p->nodes[node].first, end = first + p->nodes[node].n;
	uint32_t at = PM_LOWER_BOUND(
		i, first, end, pm_bytes_compare(p->nodes[p->sorted[i]].name, name) < 0);
	bool found = at < end && pm_bytes_compare(p->nodes[p->sorted[at]].name, name) == 0;
	return found ? p->sorted[at] : PM_NONE;
}
