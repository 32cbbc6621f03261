/*
 * windows/ of the run and of each thread: parts of the run in time, which are items of one
 * collection (fs/windows/). Those of a thread are found in its own directory.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "fs/views/sums/iterations.h"
#include "fs/views/sums/threads.h"

#define NAME "windows"

/* ---- behind the format's ---- */

static int add(struct pmfs_tree *t)
{
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
	return 0;
}

/* Each iteration that takes time and lies inside of the run. */
static int list_iterations(
	void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	const struct pmfs_iterations *all;
	uint64_t origin, run_ns;
	int r = pmfs_iterations(t->model, &all, err);
	if (r < 0 || (r = t->profile->ops->span(t->profile, &origin, &run_ns, err)) < 0)
		return r;
	*ret = malloc(((size_t)all->n + 1) * sizeof(**ret));
	*ret_n = 0;
	for (uint32_t i = 0; *ret && i < all->n; i++) {
		const struct pmfs_iteration *it = &all->items[i];
		uint64_t end = it->start_ns + it->duration_ns;
		if (end > it->start_ns && end <= run_ns)
			(*ret)[(*ret_n)++] = (struct pmfs_listed){it->start_ns, end};
	}
	return *ret ? 0 : pm_error_plain(err, -ENOMEM);
}

/* Where threads cannot be listed there are no windows, and nothing else is the worse for it. */
int pmfs_windows_add(struct pmfs_tree *t, struct pm_error *err)
{
	int there = t->windows ? pmfs_windows_are_there(t->windows, NULL) : 0;
	free(t->own_docs);
	free(t->own_collections);
	t->own_docs = NULL;
	t->own_collections = NULL;
	t->has_windows = false;
	if (there > 0 && pmfs_model_iterations(t->model))
		pmfs_windows_list(t->windows, list_iterations, t);
	if (there <= 0)
		return there == -ENOMEM ? pm_error_plain(err, there) : 0;
	int r = add(t);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static uint32_t collection_of(const struct pmfs_tree *t)
{
	return (uint32_t)t->n_collections - 1;
}

int pmfs_windows_parent(struct pmfs_tree *t, pm_node item, pm_node *ret)
{
	if (!t->has_windows || pmfs_node_b(item) >> 8 != collection_of(t))
		return 0;
	uint32_t thread = pmfs_windows_thread(t->windows, pmfs_node_a(item));
	if (thread == PM_NONE)
		return 0;
	*ret = pmfs_node(PMFS_THREAD_WINDOWS, thread, 0);
	return 1;
}

/* ---- windows/ of a thread ---- */

int pmfs_windows_of_thread(struct pmfs_tree *t, uint32_t thread, struct pmfs_entry *ret)
{
	if (!t->windows || pmfs_documents_get(t, NULL) < 0 || !t->has_windows ||
		pmfs_thread_has_trace(t->model, thread, NULL) <= 0)
		return 0;
	return pmfs_entry_fill(
		ret, pm_bytes_of(NAME), pmfs_node(PMFS_THREAD_WINDOWS, thread, 0), PMFS_DIRECTORY);
}

static int windows_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	struct pmfs_entry entry;
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	int r = pmfs_documents_get(t, err);
	if (r == 0)
		r = pmfs_place_check(t, PMFS_PLACE_THREAD, pmfs_node_a(dir), err);
	if (r < 0)
		return r;
	return pmfs_windows_of_thread(t, pmfs_node_a(dir), &entry) ? 0 : pmfs_no_entry();
}

/* README.txt is the one file that is listed. It is that of the run. */
static int windows_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)dir;
	(void)err;
	if (*cookie > 0)
		return 0;
	++*cookie;
	for (uint32_t i = 0; i < t->paths.n; i++) {
		const struct pmfs_path *path = &t->paths.nodes[i];
		if (path->payload == PMFS_PAYLOAD_DOCUMENT && path->index + 1 == t->n_docs)
			return pmfs_entry_fill(
				ret, path->name, pmfs_node(PMFS_PATH_DOC, i, 0), PMFS_FILE);
	}
	return 0;
}

static int windows_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t first = 0;
	uint32_t item;
	if (windows_next(t, dir, &first, ret, err) > 0 && ret->len == name.len &&
		memcmp(ret->name, name.p, name.len) == 0)
		return 1;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	int r = pmfs_windows_find(t->windows, pmfs_node_a(dir), name, &item, err);
	if (r <= 0)
		return r < 0 ? r : pmfs_no_entry();
	pmfs_nested_stay(t);
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	return pmfs_item_entry(t, collection_of(t), item, ret);
}

static int windows_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	return pmfs_dir_thread_export.parent(t, dir, ret, err);
}

const struct pmfs_dir pmfs_dir_thread_windows = {
	.check = windows_check,
	.lookup = windows_lookup,
	.next = windows_next,
	.parent = windows_parent,
};
