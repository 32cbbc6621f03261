/*
 * The format's documents and collections by path, followed by the collection windows/ of the run
 * (fs/windows/) and its README.txt.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "fs/views/sums/iterations.h"

/* ---- windows/ ---- */

static int append_windows(struct pmfs_tree *t)
{
	int r = pmfs_unlisted_open(t);
	if (r < 0)
		return r;
	t->own_docs = calloc(t->n_docs + 1, sizeof(*t->own_docs));
	t->own_collections = calloc(t->n_collections + 1, sizeof(*t->own_collections));
	if (!t->own_docs || !t->own_collections)
		return -ENOMEM;
	if (t->n_docs)
		memcpy(t->own_docs, t->docs, t->n_docs * sizeof(*t->docs));
	if (t->n_collections)
		memcpy(t->own_collections, t->collections,
			t->n_collections * sizeof(*t->collections));
	t->own_docs[t->n_docs++] = *pmfs_windows_readme(t->windows);
	t->own_collections[t->n_collections++] = *pmfs_windows_collection(t->windows);
	t->docs = t->own_docs;
	t->collections = t->own_collections;
	t->has_windows = true;
	pmfs_unlisted_note(t, pmfs_windows_number(t));
	return 0;
}

/* Lists the windows of iterations. */
static int list_iterations(
	void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	const struct pmfs_iterations *all;
	int r = pmfs_iterations(t->model, &all, err);
	if (r < 0)
		return r;
	*ret = malloc(((size_t)all->n + 1) * sizeof(**ret));
	*ret_n = 0;
	for (uint32_t i = 0; *ret && i < all->n; i++) {
		struct pmfs_listed *next = &(*ret)[*ret_n];
		*ret_n += pmfs_iteration_window(all, &all->items[i], &next->start, &next->end);
	}
	return *ret ? 0 : pm_error_plain(err, -ENOMEM);
}

/* If threads cannot be listed there are no windows; the other entries are not affected. */
static int add_windows(struct pmfs_tree *t, struct pm_error *err)
{
	int there = t->windows ? pmfs_windows_are_there(t->windows, NULL) : 0;
	free(t->own_docs);
	free(t->own_collections);
	t->own_docs = NULL;
	t->own_collections = NULL;
	t->has_windows = false;
	if (there > 0 && pmfs_model_iterations(t->model) && !pmfs_model_listing(t->model).lean)
		pmfs_windows_list(t->windows, list_iterations, t);
	if (there <= 0)
		return there == -ENOMEM ? pm_error_plain(err, there) : 0;
	int r = append_windows(t);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

uint32_t pmfs_windows_number(const struct pmfs_tree *t)
{
	return (uint32_t)t->n_collections - 1;
}

int pmfs_windows_parent(struct pmfs_tree *t, pm_node item, pm_node *ret)
{
	if (!t->has_windows || pmfs_node_b(item) >> 8 != pmfs_windows_number(t))
		return 0;
	uint32_t thread = pmfs_windows_thread(t->windows, pmfs_node_a(item));
	if (thread == PM_NONE)
		return 0;
	*ret = pmfs_node(PMFS_THREAD_WINDOWS, thread, 0);
	return 1;
}

/* ---- all of them ---- */

static int add_paths(struct pmfs_tree *t)
{
	for (size_t i = 0; i < t->n_docs; i++) {
		int r = pmfs_paths_add(
			&t->paths, t->docs[i].path, PMFS_PAYLOAD_DOCUMENT, (uint32_t)i);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	for (size_t i = 0; i < t->n_collections && i < PMFS_COLLECTION_MOST; i++) {
		int r = pmfs_paths_add(
			&t->paths, t->collections[i].path, PMFS_PAYLOAD_COLLECTION, (uint32_t)i);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return pmfs_paths_freeze(&t->paths);
}

static int paths_build(void *context, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	const struct pm_profile *p = t->profile;
	int r = 0;
	t->docs = NULL; /* left over from a failed build */
	t->collections = NULL;
	t->n_docs = t->n_collections = 0;
	if (p->ops->documents)
		r = p->ops->documents(p, &t->docs, &t->n_docs, err);
	if (r >= 0 && p->ops->collections)
		r = p->ops->collections(p, &t->collections, &t->n_collections, err);
	if (r >= 0)
		r = add_windows(t, err);
	if (r < 0)
		return r;
	pmfs_paths_done(&t->paths);
	r = add_paths(t);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

int pmfs_documents_get(struct pmfs_tree *t, struct pm_error *err)
{
	return pm_lazy_get(&t->paths_built, paths_build, t, err);
}
