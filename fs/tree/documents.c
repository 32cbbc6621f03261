/*
 * Format-specific entries, at paths given by the format: documents (raw/, traces.csv …), folders of
 * collections, and the program's source.
 */
#include "fs/tree/internal.h"

#include "formats/common/arena.h"
#include "fs/views/texts/source.h"

/*
 * Source files have paths of their own, so that the root can be listed without them; in a
 * node's `a` this bit says so.
 */
#define OF_SOURCES (UINT32_C(1) << 31)

enum { SOURCE_FOLDER = 1 };

#define SOURCE_NODE (pmfs_node(PMFS_PATH, SOURCE_FOLDER | OF_SOURCES, 0))

/* ---- source/ ---- */

struct source_folder {
	struct pmfs_paths paths; /* node 1 is source/ */
	const struct pm_source *sources;
	size_t n;
};

static void sources_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	const struct pm_profile *p = ((struct pmfs_tree *)owner)->profile;
	struct source_folder *s = part;
	pm_build_check(a, pm_profile_sources(p, &s->sources, &s->n, err));
	s->paths = pmfs_paths_in(a);
	pmfs_paths_add(&s->paths, "source", PMFS_PAYLOAD_NONE, 0);
	/* Of what has the name of another, the first is there. */
	for (size_t i = 0; i < s->n; i++)
		if (pmfs_paths_add(&s->paths, pm_arena_printf(a, "source/%s", s->sources[i].path),
			    PMFS_PAYLOAD_SOURCE, (uint32_t)i))
			pmfs_paths_add(&s->paths,
				pm_arena_printf(a, "source/%s.annotated.txt", s->sources[i].path),
				PMFS_PAYLOAD_ANNOTATED, (uint32_t)i);
	pmfs_paths_freeze(&s->paths);
}

static int sources_get(struct pmfs_tree *t, const struct source_folder **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct source_folder), .what = "source/", .build = sources_build};
	return pm_part_get(&t->sources, &type, t, ret, err);
}

static int has_sources(struct pmfs_tree *t, struct pm_error *err)
{
	const struct pm_profile *p = t->profile;
	if (!pm_profile_has(p, sources))
		return 0;
	if (p->ops->has)
		return p->ops->has(p, PM_HAS_SOURCES, err);
	const struct source_folder *s;
	int r = sources_get(t, &s, err);
	return r < 0 ? r : s->n > 0;
}

/* The paths that a node's `a` indexes, built if necessary, and the index. */
static int paths_of(struct pmfs_tree *t, uint32_t a, const struct pmfs_paths **ret,
	uint32_t *ret_node, struct pm_error *err)
{
	const struct source_folder *s = NULL;
	int r = a & OF_SOURCES ? sources_get(t, &s, err) : pmfs_documents_get(t, err);
	*ret = s ? &s->paths : &t->paths;
	*ret_node = a & ~OF_SOURCES;
	if (r == 0 && *ret_node >= (*ret)->n)
		r = pmfs_no_entry();
	return r;
}

static int path_entry(
	struct pmfs_tree *t, const struct pmfs_paths *paths, uint32_t node, struct pmfs_entry *ret)
{
	const struct pmfs_path *path = &paths->nodes[node];
	bool folder =
		path->payload == PMFS_PAYLOAD_NONE || path->payload == PMFS_PAYLOAD_COLLECTION;
	enum pmfs_type type = folder ? PMFS_DIRECTORY : PMFS_FILE;
	if (path->payload == PMFS_PAYLOAD_DOCUMENT && t->docs[path->index].doc.kind == PM_DOC_LINK)
		type = PMFS_LINK;
	uint32_t a = paths == &t->paths ? node : node | OF_SOURCES;
	return pmfs_entry_fill(
		ret, path->name, pmfs_node(folder ? PMFS_PATH : PMFS_PATH_DOC, a, 0), type);
}

/* 1, or 0 for a document that does not exist now, and for a folder with only such documents. */
static int is_present(
	struct pmfs_tree *t, const struct pmfs_paths *paths, uint32_t node, struct pm_error *err)
{
	const struct pmfs_path *path = &paths->nodes[node];
	int r = 0;
	if (path->payload == PMFS_PAYLOAD_DOCUMENT && t->docs[path->index].present)
		return t->docs[path->index].present(t->profile, err);
	if (path->payload != PMFS_PAYLOAD_NONE || path->n == 0)
		return 1;
	for (uint32_t i = 0; i < path->n && r == 0; i++)
		r = is_present(t, paths, pmfs_paths_child(paths, node, i), err);
	return r;
}

/*
 * A table as TSV is found by name, unless -o tsv lists it, and so is what would be too much.
 * Filters are listed at the root of the mount alone.
 */
static bool is_unlisted(const struct pmfs_tree *t, const struct pmfs_path *path)
{
	if (path->payload == PMFS_PAYLOAD_COLLECTION && t->top != t && t->first_filter != PM_NONE &&
		path->index >= t->first_filter && path->index < t->first_filter + PMFS_N_FILTERS)
		return true;
	if (path->payload != PMFS_PAYLOAD_DOCUMENT)
		return false;
	const struct pm_named_doc *doc = &t->docs[path->index];
	return doc->unlisted || (doc->doc.kind == PM_DOC_TSV && !pmfs_model_listing(t->model).tsv);
}

static int child_next(struct pmfs_tree *t, const struct pmfs_paths *paths, uint32_t node,
	uint64_t *position, struct pmfs_entry *ret, struct pm_error *err)
{
	while (*position < paths->nodes[node].n) {
		uint32_t child = pmfs_paths_child(paths, node, (uint32_t)*position);
		int r = is_unlisted(t, &paths->nodes[child]) ? 0 : is_present(t, paths, child, err);
		if (r < 0)
			return r;
		++*position;
		if (r > 0)
			return path_entry(t, paths, child, ret);
	}
	return 0;
}

/* Fills the entry of a node found by name. */
static int found_entry(struct pmfs_tree *t, const struct pmfs_paths *paths, uint32_t node,
	struct pmfs_entry *ret, struct pm_error *err)
{
	int r = is_present(t, paths, node, err);
	return r < 0 ? r : r == 0 ? pmfs_no_entry() : path_entry(t, paths, node, ret);
}

/* ---- its entries at the root ---- */

int pmfs_source_root_next(
	struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret, struct pm_error *err)
{
	int r = *position == 0 ? has_sources(t, err) : 0;
	if (r <= 0)
		return r;
	++*position;
	return pmfs_entry_fill(ret, pm_bytes_of("source"), SOURCE_NODE, PMFS_DIRECTORY);
}

int pmfs_paths_root_lookup(
	struct pmfs_tree *t, struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t position = 0;
	if (pm_bytes_equal(name, pm_bytes_of("source"))) {
		int r = pmfs_source_root_next(t, &position, ret, err);
		return r == 0 ? pmfs_no_entry() : r;
	}
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	uint32_t node = pmfs_paths_find(&t->paths, 0, name);
	return node == PM_NONE ? pmfs_no_entry() : found_entry(t, &t->paths, node, ret, err);
}

int pmfs_paths_root_next(
	struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	return r < 0 ? r : child_next(t, &t->paths, 0, position, ret, err);
}

/* ---- folders of the paths, collections among them ---- */

/* The collection at a node of the paths, or NULL. */
static const struct pm_collection *collection_of(
	const struct pmfs_tree *t, const struct pmfs_paths *paths, uint32_t node)
{
	const struct pmfs_path *path = &paths->nodes[node];
	return path->payload == PMFS_PAYLOAD_COLLECTION ? &t->collections[path->index] : NULL;
}

static int path_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	const struct pmfs_paths *paths;
	uint32_t node;
	if (dir == SOURCE_NODE) { /* its attributes do not need the list of sources */
		int there = has_sources(t, err);
		return there == 0 ? pmfs_no_entry() : there < 0 ? there : 0;
	}
	int r = paths_of(t, pmfs_node_a(dir), &paths, &node, err);
	if (r < 0)
		return r;
	if (node == 0 || pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	enum pmfs_payload payload = paths->nodes[node].payload;
	bool folder = payload == PMFS_PAYLOAD_NONE || payload == PMFS_PAYLOAD_COLLECTION;
	return folder ? 0 : pmfs_no_entry();
}

static int path_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pmfs_paths *paths;
	uint32_t folder;
	int r = paths_of(t, pmfs_node_a(dir), &paths, &folder, err);
	if (r < 0)
		return r;
	uint32_t node = pmfs_paths_find(paths, folder, name);
	if (node != PM_NONE)
		return found_entry(t, paths, node, ret, err);
	const struct pm_collection *c = collection_of(t, paths, folder);
	return c ? pmfs_item_find(t, dir, c, name, ret, err) : pmfs_no_entry();
}

static int path_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	const struct pmfs_paths *paths;
	uint32_t folder, n = 0;
	int r = paths_of(t, pmfs_node_a(dir), &paths, &folder, err);
	if (r < 0)
		return r;
	if (part == 0 && (r = child_next(t, paths, folder, &position, ret, err)) != 0) {
		*cookie = pmfs_cookie(0, position);
		return r;
	}
	if (part == 0)
		position = 0;
	const struct pm_collection *c = collection_of(t, paths, folder);
	r = c ? pmfs_item_count(c, &n, err) : 0;
	if (r < 0 || position >= n)
		return r;
	*cookie = pmfs_cookie(1, position + 1);
	return pmfs_item_get(t, dir, c, (uint32_t)position, ret, err);
}

static int path_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct pmfs_paths *paths;
	uint32_t a = pmfs_node_a(dir), node;
	*ret = PMFS_NODE_ROOT;
	if (dir == SOURCE_NODE)
		return 0;
	int r = paths_of(t, a, &paths, &node, err);
	if (r == 0 && paths->nodes[node].parent != 0)
		*ret = pmfs_node(PMFS_PATH, paths->nodes[node].parent | (a & OF_SOURCES), 0);
	return r;
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
	const struct pmfs_paths *paths;
	const struct source_folder *s;
	uint32_t i;
	int r = paths_of(t, pmfs_node_a(node), &paths, &i, err);
	if (r < 0)
		return r;
	if (pmfs_node_b(node) != 0)
		return pmfs_no_entry();
	const struct pmfs_path *path = &paths->nodes[i];
	switch (path->payload) {
	case PMFS_PAYLOAD_DOCUMENT: *ret = t->docs[path->index].doc; return 0;
	case PMFS_PAYLOAD_SOURCE:
	case PMFS_PAYLOAD_ANNOTATED:
		if ((r = sources_get(t, &s, err)) < 0)
			return r;
		*ret = s->sources[path->index].doc;
		return path->payload == PMFS_PAYLOAD_SOURCE
			? 0
			: pmfs_source_annotated(t->model, &s->sources[path->index], ret, err);
	case PMFS_PAYLOAD_NONE:
	case PMFS_PAYLOAD_COLLECTION:
	case PMFS_PAYLOAD_THREAD: break;
	}
	return pmfs_no_entry();
}
