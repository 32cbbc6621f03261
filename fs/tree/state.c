/*
 * The state of a tree: creating and freeing it, and functions used by all kinds of directories.
 */
#include "fs/tree/internal.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- which columns of a context have values ---- */

static int find_present(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err)
{
	pm_number *cells = malloc(columns->n * sizeof(*cells) + 1);
	if (!cells)
		return pm_error_plain(err, -ENOMEM);
	int r = pmfs_run_cells(t->model, context, false, cells, err);
	*ret = (struct pmfs_presence){.known = true, .context = context};
	for (uint32_t i = 0; r == 0 && i < columns->n && i < PMFS_COLUMN_MOST; i++)
		if (cells[i] == cells[i])
			ret->columns[i / 64] |= (uint64_t)1 << i % 64;
	free(cells);
	return r;
}

/* Values are computed once per listing, not once per name. */
int pmfs_presence_get(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err)
{
	struct pmfs_presences *all = &t->presences;
	struct pmfs_presence *kept = &all->of[context % PMFS_N_PRESENCES];
	pthread_mutex_lock(&all->lock);
	bool known = kept->known && kept->context == context;
	if (known)
		*ret = *kept;
	pthread_mutex_unlock(&all->lock);
	if (known)
		return 0;
	int r = find_present(t, context, columns, ret, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&all->lock);
	*kept = *ret;
	pthread_mutex_unlock(&all->lock);
	return 0;
}

bool pmfs_presence_has(const struct pmfs_presence *p, uint32_t column)
{
	return column < PMFS_COLUMN_MOST && (p->columns[column / 64] >> column % 64 & 1);
}

/* ---- a tree ---- */

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
	pthread_mutex_init(&t->presences.lock, NULL);
	pthread_mutex_init(&t->spaces_lock, NULL);
	bool has_windows = shape->folders & PMFS_FOLDER_WINDOWS;
	if ((has_windows && !(t->windows = pmfs_windows_new(t->profile))) || reserve_names(t) < 0) {
		pmfs_tree_free(t);
		return NULL;
	}
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
	pm_arena_done(&t->lists);
	pm_part_done(&t->sources);
	pm_part_done(&t->threads);
	pthread_mutex_destroy(&t->spaces_lock);
	pm_map_done(&t->spaces_known);
	for (uint32_t i = 1; i < t->n_spaces; i++)
		pmfs_unlisted_free(t->space_items[i].unlisted);
	if (t->top == t)
		pmfs_unlisted_free(t->unlisted);
	free(t->space_items);
	free(t->context_reserved);
	pthread_mutex_destroy(&t->presences.lock);
	pmfs_windows_free(t->windows);
	pmfs_filters_free(t->filters);
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
