/*
 * The format's documents and collections by path, followed by the collections focus/, ignore/ …
 * (fs/filters/) and windows/ of the run (fs/windows/), each with a README.txt.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "fs/views/sums/iterations.h"

/* ---- windows/, focus/ … ---- */

/* Filters of a profile have its shape. */
static void append_filters(struct pmfs_tree *t)
{
	t->first_filter = (uint32_t)t->n_collections;
	t->first_filter_doc = (uint32_t)t->n_docs;
	for (unsigned i = 0; i < PMFS_N_FILTERS; i++) {
		struct pm_collection *c = &t->own_collections[t->n_collections++];
		*c = *pmfs_filters_collection(t->filters, (enum pmfs_filter_kind)i);
		c->shape = (enum pm_shape)(t->shape - pmfs_shape_of(PM_SHAPE_TRACE));
		t->own_docs[t->n_docs++] =
			*pmfs_filters_readme(t->filters, (enum pmfs_filter_kind)i);
	}
	pmfs_unlisted_note(t, t->first_filter);
}

static void append(struct pmfs_tree *t, bool windows)
{
	bool filters = t->shape->folders & PMFS_FOLDER_FILTERS;
	pm_build_check(&t->lists, pmfs_unlisted_open(t));
	if (filters && !t->filters)
		t->filters = pmfs_filters_new(
			t->profile, t->model, pmfs_unlisted_numbers(t), pmfs_name_legal);
	if (filters && !t->filters)
		pm_build_fail(&t->lists, -ENOMEM);
	enum { MOST = PMFS_N_FILTERS + 1 };
	t->own_docs = pm_arena_array(&t->lists, t->n_docs + MOST, sizeof(*t->own_docs));
	t->own_collections =
		pm_arena_array(&t->lists, t->n_collections + MOST, sizeof(*t->own_collections));
	if (t->n_docs)
		memcpy(t->own_docs, t->docs, t->n_docs * sizeof(*t->docs));
	if (t->n_collections)
		memcpy(t->own_collections, t->collections,
			t->n_collections * sizeof(*t->collections));
	if (t->filters)
		append_filters(t);
	if (windows) {
		t->own_docs[t->n_docs++] = *pmfs_windows_readme(t->windows);
		t->own_collections[t->n_collections++] = *pmfs_windows_collection(t->windows);
		pmfs_unlisted_note(t, pmfs_windows_number(t));
	}
	t->docs = t->own_docs;
	t->collections = t->own_collections;
	t->has_windows = windows;
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
static void add_unlisted(struct pmfs_tree *t)
{
	int there = t->windows ? pmfs_windows_are_there(t->windows, NULL) : 0;
	t->has_windows = false;
	t->first_filter = t->first_filter_doc = PM_NONE;
	if (there > 0 && pmfs_model_iterations(t->model) && !pmfs_model_listing(t->model).lean)
		pmfs_windows_list(t->windows, list_iterations, t);
	if (pm_is_passing(there))
		pm_build_fail(&t->lists, there);
	if (there > 0 || t->shape->folders & PMFS_FOLDER_FILTERS)
		append(t, there > 0);
}

uint32_t pmfs_windows_number(const struct pmfs_tree *t)
{
	return (uint32_t)t->n_collections - 1;
}

int pmfs_unlisted_parent(struct pmfs_tree *t, pm_node item, pm_node *ret)
{
	uint32_t of = pmfs_node_b(item) >> 8, thread = PM_NONE;
	bool is_filter = t->first_filter != PM_NONE && of >= t->first_filter &&
		of < t->first_filter + PMFS_N_FILTERS;
	if (is_filter)
		thread = pmfs_filters_thread(t->filters, pmfs_node_a(item));
	else if (t->has_windows && of == pmfs_windows_number(t))
		thread = pmfs_windows_thread(t->windows, pmfs_node_a(item));
	if (thread == PM_NONE)
		return 0;
	*ret = is_filter ? pmfs_node(PMFS_THREAD_FILTERS, thread, of - t->first_filter)
			 : pmfs_node(PMFS_THREAD_WINDOWS, thread, 0);
	return 1;
}

int pmfs_document_entry(struct pmfs_tree *t, uint32_t document, struct pmfs_entry *ret)
{
	for (uint32_t i = 0; i < t->paths.n; i++) {
		const struct pmfs_path *path = &t->paths.nodes[i];
		if (path->payload == PMFS_PAYLOAD_DOCUMENT && path->index == document)
			return pmfs_entry_fill(
				ret, path->name, pmfs_node(PMFS_PATH_DOC, i, 0), PMFS_FILE);
	}
	return 0;
}

/* ---- all of them ---- */

struct listing {
	struct pmfs_tree *tree;
	struct pm_error *err;
};

static void lists_build(void *context)
{
	const struct listing *l = context;
	struct pmfs_tree *t = l->tree;
	struct pm_arena *a = &t->lists;
	pm_build_check(a, pm_profile_documents(t->profile, &t->docs, &t->n_docs, l->err));
	pm_build_check(
		a, pm_profile_collections(t->profile, &t->collections, &t->n_collections, l->err));
	add_unlisted(t);
	t->paths = pmfs_paths_in(a);
	for (size_t i = 0; i < t->n_docs; i++)
		pmfs_paths_add(&t->paths, t->docs[i].path, PMFS_PAYLOAD_DOCUMENT, (uint32_t)i);
	for (size_t i = 0; i < t->n_collections && i < PMFS_COLLECTION_MOST; i++)
		pmfs_paths_add(
			&t->paths, t->collections[i].path, PMFS_PAYLOAD_COLLECTION, (uint32_t)i);
	pmfs_paths_freeze(&t->paths);
}

static int paths_build(void *context, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	int r = pm_build(&t->lists, lists_build, &(struct listing){t, err});
	if (r < 0)
		pm_arena_done(&t->lists);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

int pmfs_documents_get(struct pmfs_tree *t, struct pm_error *err)
{
	return pm_lazy_get(&t->paths_built, paths_build, t, err);
}
