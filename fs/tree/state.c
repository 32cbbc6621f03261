/* The state of a tree: creating and freeing it, and functions used by all kinds of directories. */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "fs/tree/presences.h"

static int reserve_names(struct pmfs_tree *t)
{
	uint32_t n;
	const struct pmfs_view *views = pmfs_views(PMFS_PLACE_CONTEXT, &n);
	const char **at = calloc(2 * (size_t)n + 2, sizeof(*at));
	t->context_reserved = at;
	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		*at++ = views[i].name;
		if (views[i].twin)
			*at++ = views[i].twin;
	}
	*at = "metrics";
	return 0;
}

struct pmfs_tree *pmfs_tree_make(const struct pmfs_dir *const *dirs, struct pmfs_model *model,
	struct pm_cache *cache, const struct pmfs_shape *shape)
{
	struct pmfs_tree *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->top = t;
	t->dirs = dirs;
	t->shape = shape;
	t->model = model;
	t->profile = pmfs_model_profile(model);
	t->cache = cache;
	t->presences = pmfs_presences_new();
	if (shape->folders & PMFS_FOLDER_WINDOWS)
		t->windows = pmfs_windows_new(t->profile);
	bool whole = !(shape->folders & PMFS_FOLDER_WINDOWS) || t->windows;
	if (!whole || !t->presences || reserve_names(t) < 0) {
		pmfs_presences_free(t->presences);
		pmfs_windows_free(t->windows);
		free(t);
		return NULL;
	}
	pthread_mutex_init(&t->spaces_lock, NULL);
	if (t->windows) {
		const struct pm_tap tap = pmfs_windows_tap(t->windows);
		pmfs_model_set_tap(model, &tap);
	}
	return t;
}

int pmfs_tree_key(const struct pmfs_tree *t, pm_node dir, uint64_t *ret, struct pm_error *err)
{
	if (t->space == 0) {
		*ret = dir;
		return 0;
	}
	if (pmfs_node_nest(t->space, dir, ret))
		return 0;
	return pm_error_set(err, -EOVERFLOW, t->profile->source, PM_NO_OFFSET,
		"is too large to be shown as one of several profiles");
}

void pmfs_tree_free(struct pmfs_tree *t)
{
	if (!t)
		return;
	if (t->windows)
		pmfs_model_set_tap(t->model, NULL);
	pmfs_paths_done(&t->paths);
	pm_part_done(&t->sources);
	pm_part_done(&t->threads);
	free(t->context_reserved);
	pthread_mutex_destroy(&t->spaces_lock);
	pm_map_done(&t->spaces_known);
	for (uint32_t i = 1; i < t->n_spaces; i++)
		pmfs_unlisted_free(t->space_items[i].unlisted);
	if (t->top == t)
		pmfs_unlisted_free(t->unlisted);
	free(t->space_items);
	pmfs_presences_free(t->presences);
	pmfs_windows_free(t->windows);
	pmfs_filters_free(t->filters);
	free(t->own_docs);
	free(t->own_collections);
	free(t);
}

int pmfs_entry_fill(struct pmfs_entry *ret, struct pm_bytes name, pm_node node, enum pmfs_type type)
{
	ret->len = name.len < PMFS_NAME_SIZE ? name.len : PMFS_NAME_SIZE - 1;
	memcpy(ret->name, name.p, ret->len);
	ret->node = node;
	ret->type = type;
	ret->is_unlisted = false;
	ret->generation = 0;
	return 1;
}
