/*
 * What only this format has, at the paths that the format gives: its documents (raw/, traces.csv
 * …), the folders of its collections, and the program's source.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "formats/common/arena.h"
#include "fs/views/source.h"

/* ---- the paths ---- */

static int add_sources(struct pmfs_tree *t)
{
	for (size_t i = 0; i < t->n_sources; i++) {
		const char *path = pm_arena_printf(&t->names, "source/%s", t->sources[i].path);
		const char *twin =
			pm_arena_printf(&t->names, "source/%s.annotated.txt", t->sources[i].path);
		int r = path && twin ? 0 : -ENOMEM;
		if (r == 0)
			r = pmfs_paths_add(&t->paths, path, PMFS_PAYLOAD_SOURCE, (uint32_t)i);
		if (r == 0)
			r = pmfs_paths_add(&t->paths, twin, PMFS_PAYLOAD_ANNOTATED, (uint32_t)i);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

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
	int r = add_sources(t);
	return r < 0 ? r : pmfs_paths_freeze(&t->paths);
}

static int paths_build(void *context, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	const struct pm_profile *p = t->profile;
	int r = 0;
	if (p->ops->documents)
		r = p->ops->documents(p, &t->docs, &t->n_docs, err);
	if (r >= 0 && p->ops->collections)
		r = p->ops->collections(p, &t->collections, &t->n_collections, err);
	if (r >= 0 && p->ops->sources)
		r = p->ops->sources(p, &t->sources, &t->n_sources, err);
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

static int path_entry(struct pmfs_tree *t, uint32_t node, struct pmfs_entry *ret)
{
	const struct pmfs_path *path = &t->paths.nodes[node];
	bool folder =
		path->payload == PMFS_PAYLOAD_NONE || path->payload == PMFS_PAYLOAD_COLLECTION;
	enum pmfs_type type = folder ? PMFS_DIRECTORY : PMFS_FILE;
	if (path->payload == PMFS_PAYLOAD_DOCUMENT && t->docs[path->index].doc.kind == PM_DOC_LINK)
		type = PMFS_LINK;
	return pmfs_entry_fill(
		ret, path->name, pmfs_node(folder ? PMFS_PATH : PMFS_PATH_DOC, node, 0), type);
}

int pmfs_paths_root_lookup(
	struct pmfs_tree *t, struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	uint32_t node = pmfs_paths_find(&t->paths, 0, name);
	return node == PM_NONE ? pmfs_no_entry() : path_entry(t, node, ret);
}

static int child_next(
	struct pmfs_tree *t, uint32_t node, uint64_t *position, struct pmfs_entry *ret)
{
	if (*position >= t->paths.nodes[node].n)
		return 0;
	return path_entry(t, pmfs_paths_child(&t->paths, node, (uint32_t)(*position)++), ret);
}

int pmfs_paths_root_next(
	struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	return r < 0 ? r : child_next(t, 0, position, ret);
}

/* ---- folders of the paths, collections among them ---- */

/* The collection of a directory, or NULL. */
static const struct pm_collection *collection_of(const struct pmfs_tree *t, pm_node dir)
{
	const struct pmfs_path *path = &t->paths.nodes[pmfs_node_a(dir)];
	return path->payload == PMFS_PAYLOAD_COLLECTION ? &t->collections[path->index] : NULL;
}

static int path_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	uint32_t node = pmfs_node_a(dir);
	if (node == 0 || node >= t->paths.n || pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	enum pmfs_payload payload = t->paths.nodes[node].payload;
	bool folder = payload == PMFS_PAYLOAD_NONE || payload == PMFS_PAYLOAD_COLLECTION;
	return folder ? 0 : pmfs_no_entry();
}

static int path_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t node = pmfs_paths_find(&t->paths, pmfs_node_a(dir), name);
	if (node != PM_NONE)
		return path_entry(t, node, ret);
	const struct pm_collection *c = collection_of(t, dir);
	return c ? pmfs_item_find(t, dir, c, name, ret, err) : pmfs_no_entry();
}

static int path_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	const struct pm_collection *c = collection_of(t, dir);
	if (part == 0 && child_next(t, pmfs_node_a(dir), &position, ret) > 0) {
		*cookie = pmfs_cookie(0, position);
		return 1;
	}
	if (part == 0)
		position = 0;
	uint32_t n = 0;
	int r = c ? pmfs_item_count(c, &n, err) : 0;
	if (r < 0 || position >= n)
		return r;
	*cookie = pmfs_cookie(1, position + 1);
	return pmfs_item_get(t, dir, c, (uint32_t)position, ret, err);
}

static int path_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)err;
	uint32_t parent = t->paths.nodes[pmfs_node_a(dir)].parent;
	*ret = parent == 0 ? PMFS_NODE_ROOT : pmfs_node(PMFS_PATH, parent, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_path = {
	.check = path_check,
	.lookup = path_lookup,
	.next = path_next,
	.parent = path_parent,
};

int pmfs_path_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	if (pmfs_node_a(node) >= t->paths.n || pmfs_node_b(node) != 0)
		return pmfs_no_entry();
	const struct pmfs_path *path = &t->paths.nodes[pmfs_node_a(node)];
	switch (path->payload) {
	case PMFS_PAYLOAD_DOCUMENT: *ret = t->docs[path->index].doc; return 0;
	case PMFS_PAYLOAD_SOURCE: *ret = t->sources[path->index].doc; return 0;
	case PMFS_PAYLOAD_ANNOTATED:
		return pmfs_source_annotated(t->model, &t->sources[path->index], ret, err);
	case PMFS_PAYLOAD_NONE:
	case PMFS_PAYLOAD_COLLECTION:
	case PMFS_PAYLOAD_THREAD: break;
	}
	return pmfs_no_entry();
}
