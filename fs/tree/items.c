/*
 * Collections of a format (chunks, traces, classes): their items, and the directory of each,
 * with its documents, and the views or the tree of its profile.
 */
#include "fs/tree/internal.h"

#include "fs/views/report/report.h"
#include "profmount/limits.h"

/* ---- items by name: the folder that holds them is one of documents.c ---- */

static uint32_t item_in_order(void *context, uint32_t k)
{
	(void)context;
	return k;
}

static struct pm_bytes item_raw(void *context, uint32_t item, struct pm_text *scratch)
{
	const struct pm_collection *c = context;
	return c->name(c, item, scratch);
}

int pmfs_item_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	*ret = c->n;
	return c->count ? c->count(c, ret, err) : 0;
}

/* Whether there is such an item, and whether it is a directory or a document. */
static int pmfs_item_check(const struct pm_collection *c, uint32_t item, struct pm_error *err)
{
	uint32_t n = 0;
	int r = c->has ? c->has(c, item, err) : pmfs_item_count(c, &n, err);
	bool is_there = c->has ? r > 0 : item < n;
	return r < 0 ? r : is_there ? 0 : pmfs_no_entry();
}

static int naming_of(const struct pm_collection *c, struct pmfs_naming *ret, struct pm_error *err)
{
	uint32_t n;
	int r = pmfs_item_count(c, &n, err);
	*ret = (struct pmfs_naming){
		.n = n, .item = item_in_order, .raw = item_raw, .context = (void *)(uintptr_t)c};
	return r;
}

static int siblings_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	struct pmfs_naming naming;
	struct pmfs_siblings *s;
	int r = naming_of(context, &naming, err);
	if (r == 0)
		r = pmfs_siblings_build(&naming, &s, err);
	if (r == 0)
		*ret = &s->cached;
	return r;
}

/* How the items are named, and their index, which the caller releases. */
static int siblings_get(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c,
	struct pmfs_naming *ret_naming, struct pmfs_siblings **ret, struct pm_error *err)
{
	struct pm_cached *cached;
	uint64_t key;
	*ret = NULL;
	int r = naming_of(c, ret_naming, err);
	if (r == 0)
		r = pmfs_tree_key(t, dir, &key, err);
	if (r == 0)
		r = pm_cache_get(t->cache, key, siblings_build, (void *)(uintptr_t)c, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_siblings *)cached;
	return r;
}

static bool item_is_directory(const struct pm_collection *c, uint32_t item)
{
	return !c->flat && !(c->is_document && c->is_document(c, item));
}

int pmfs_item_entry(struct pmfs_tree *t, uint32_t collection, uint32_t item, struct pmfs_entry *ret)
{
	const struct pm_collection *c = &t->collections[collection];
	struct pm_named_doc doc;
	bool directory = item_is_directory(c, item);
	ret->node =
		pmfs_node(directory ? PMFS_ITEM : PMFS_ITEM_DOC, item, pmfs_item_b(collection, 0));
	ret->type = PMFS_DIRECTORY;
	if (directory)
		return 1;
	int r = c->document(c, item, 0, &doc);
	ret->type = r > 0 && doc.doc.kind == PM_DOC_LINK ? PMFS_LINK : PMFS_FILE;
	return r < 0 ? r : 1;
}

/* A number that is not listed may be given to another name until somebody holds its generation. */
static int find_by_name(struct pmfs_tree *t, const struct pm_collection *c, struct pm_bytes name,
	uint32_t *ret, uint32_t *ret_generation)
{
	uint32_t again;
	int r = c->find(c, name, ret);
	if (!c->has_unlisted || !t->unlisted)
		return r;
	while (r > 0 && *ret >= PM_FIRST_UNLISTED) {
		*ret_generation = pmfs_unlisted_generation(t, *ret);
		r = c->find(c, name, &again);
		if (r > 0 && again == *ret)
			break;
		*ret = again;
	}
	return r;
}

int pmfs_item_find(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t item = 0, n, generation = 0;
	int r;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	if (c->find) {
		r = pmfs_item_count(c, &n, err); /* items can be requested only after this */
		if (r < 0)
			return r;
		r = find_by_name(t, c, name, &item, &generation);
	} else {
		struct pmfs_naming naming;
		struct pmfs_siblings *s;
		r = siblings_get(t, dir, c, &naming, &s, err);
		if (r < 0)
			return r;
		r = pmfs_siblings_find(s, &naming, name, &item);
		pm_cache_release(t->cache, &s->cached);
	}
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = c->has_unlisted && item >= PM_FIRST_UNLISTED;
	ret->generation = generation;
	return pmfs_item_entry(t, t->paths.nodes[pmfs_node_a(dir)].index, item, ret);
}

static int item_name(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c, uint32_t item,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct pmfs_naming naming;
	int r;
	if (c->find) {
		struct pm_text scratch = {.p = NULL};
		ret->len = pmfs_name_legal(c->name(c, item, &scratch), ret->name);
		r = pm_text_status(&scratch);
		pm_text_done(&scratch);
		return r < 0 ? pm_error_plain(err, r) : 0;
	}
	struct pmfs_siblings *s;
	r = siblings_get(t, dir, c, &naming, &s, err);
	if (r < 0)
		return r;
	ret->len = pmfs_siblings_name(s, &naming, item, ret->name);
	pm_cache_release(t->cache, &s->cached);
	return ret->len ? 0 : pm_error_plain(err, -ENOMEM);
}

int pmfs_item_get(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c, uint32_t item,
	struct pmfs_entry *ret, struct pm_error *err)
{
	int r = item_name(t, dir, c, item, ret, err);
	return r < 0 ? r : pmfs_item_entry(t, t->paths.nodes[pmfs_node_a(dir)].index, item, ret);
}

/* ---- the directory of an item ---- */

static const struct pm_collection *collection_by_b(const struct pmfs_tree *t, pm_node node)
{
	uint32_t index = pmfs_node_b(node) >> 8;
	return index < t->n_collections ? &t->collections[index] : NULL;
}

/* The same for a node that has been checked. */
static const struct pm_collection *collection_of(const struct pmfs_tree *t, pm_node node)
{
	return &t->collections[pmfs_node_b(node) >> 8];
}

static int item_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	const struct pm_collection *c = collection_by_b(t, dir);
	if (!c || c->flat || (pmfs_node_b(dir) & 0xff) != 0)
		return pmfs_no_entry();
	r = pmfs_item_check(c, pmfs_node_a(dir), err);
	return r < 0 || item_is_directory(c, pmfs_node_a(dir)) ? r : pmfs_no_entry();
}

/*
 * The format's documents come first; the last numbers are views of the item's profile. report.js
 * is found by name and not listed.
 */
enum {
	MOST_VIEWS = 16,
	FIRST_VIEW = PMFS_ITEM_DOC_MOST - MOST_VIEWS,
	REPORT_DATA = FIRST_VIEW - 1
};

static bool is_tree(const struct pm_collection *c)
{
	return c->profile && pmfs_shape_of(c->shape)->is_tree;
}

/* The view behind the k-th document; NULL if it is one of the format's. */
static const struct pmfs_view *view_of(const struct pm_collection *c, uint32_t k)
{
	uint32_t n = 0;
	if (!c->profile || is_tree(c) || k < FIRST_VIEW)
		return NULL;
	const struct pmfs_view *views = pmfs_views(pmfs_shape_of(c->shape)->place, &n);
	return k - FIRST_VIEW < n ? &views[k - FIRST_VIEW] : NULL;
}

static bool has_report_data(const struct pm_collection *c)
{
	return c->document && !c->flat && !is_tree(c);
}

/* The format's k-th document: 1, or 0 beyond the last. */
static int own_document(
	const struct pm_collection *c, uint32_t item, uint32_t k, struct pm_named_doc *ret)
{
	return k < REPORT_DATA && c->document ? c->document(c, item, k, ret) : 0;
}

/* The name and type of the k-th document: 1, 0 beyond the last of the format's or of the views. */
static int document_named(const struct pm_collection *c, uint32_t item, uint32_t k,
	const char **ret, enum pmfs_type *ret_type)
{
	const struct pmfs_view *view = view_of(c, k);
	struct pm_named_doc doc;
	*ret_type = PMFS_FILE;
	if (view) {
		*ret = view->name;
		return 1;
	}
	int r = own_document(c, item, k, &doc);
	if (r <= 0)
		return r;
	*ret = doc.path;
	*ret_type = doc.doc.kind == PM_DOC_LINK ? PMFS_LINK : PMFS_FILE;
	return 1;
}

/* Lists the item's documents from number *k on. */
static int document_next(struct pmfs_tree *t, pm_node dir, uint64_t *k, struct pmfs_entry *ret)
{
	const struct pm_collection *c = collection_of(t, dir);
	const char *name = NULL; /* gcc -O1 does not see that r is 0 then */
	enum pmfs_type type;
	while (*k < PMFS_ITEM_DOC_MOST) {
		uint32_t at = (uint32_t)*k;
		int r = document_named(c, pmfs_node_a(dir), at, &name, &type);
		if (r < 0)
			return r;
		*k = r > 0 ? at + 1 : at < FIRST_VIEW ? FIRST_VIEW : PMFS_ITEM_DOC_MOST;
		if (r > 0)
			return pmfs_entry_fill(ret, pm_bytes_of(name),
				pmfs_node(PMFS_ITEM_DOC, pmfs_node_a(dir), pmfs_node_b(dir) | at),
				type);
	}
	return 0;
}

/* A profile that cannot be opened is left out: the item's own documents say why. */
static int unless_broken(int r, struct pm_error *err)
{
	if (r >= 0 || r == -ENOENT || pm_is_passing(r))
		return r;
	if (err)
		err->code = 0;
	return 0;
}

/* Cookies of the root of the item's tree have this bit. */
#define OF_TREE ((uint64_t)1 << 62)

static int item_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	uint64_t at = *cookie & ~OF_TREE;
	int r = *cookie & OF_TREE ? 0 : document_next(t, dir, &at, ret);
	if (r != 0) {
		*cookie = at;
		return r < 0 ? pm_error_plain(err, r) : r;
	}
	if (!is_tree(collection_of(t, dir)))
		return 0;
	at = *cookie & OF_TREE ? *cookie & ~OF_TREE : 0;
	r = unless_broken(pmfs_nested_next(t, dir, &at, ret, err), err);
	*cookie = at | OF_TREE;
	return r;
}

static int item_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t k = 0;
	int r;
	while ((r = document_next(t, dir, &k, ret)) > 0)
		if (ret->len == name.len && memcmp(ret->name, name.p, name.len) == 0)
			return 1;
	if (r < 0)
		return pm_error_plain(err, r);
	if (is_tree(collection_of(t, dir)))
		r = unless_broken(pmfs_nested_lookup(t, dir, name, ret, err), err);
	else if (has_report_data(collection_of(t, dir)) &&
		pm_bytes_equal(name, pm_bytes_of("report.js")))
		return pmfs_entry_fill(ret, name,
			pmfs_node(PMFS_ITEM_DOC, pmfs_node_a(dir), pmfs_node_b(dir) | REPORT_DATA),
			PMFS_FILE);
	return r == 0 ? pmfs_no_entry() : r;
}

static int item_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	uint32_t index = pmfs_node_b(dir) >> 8;
	(void)err;
	if (pmfs_unlisted_parent(t, dir, ret))
		return 0;
	for (uint32_t i = 0; i < t->paths.n; i++)
		if (t->paths.nodes[i].payload == PMFS_PAYLOAD_COLLECTION &&
			t->paths.nodes[i].index == index) {
			*ret = pmfs_node(PMFS_PATH, i, 0);
			return 0;
		}
	return pmfs_no_entry();
}

const struct pmfs_dir pmfs_dir_item = {
	.check = item_check,
	.lookup = item_lookup,
	.next = item_next,
	.parent = item_parent,
};

/* A view of the item's profile, which stays open until the document is released. */
static int view_document(struct pmfs_tree *t, pm_node node, const struct pmfs_view *view,
	struct pm_doc *ret, struct pm_error *err)
{
	struct pmfs_nested *nested;
	int r = pmfs_nested_get(t, pmfs_node_b(node) >> 8, pmfs_node_a(node), &nested, err);
	if (r < 0)
		return r;
	r = pmfs_view_doc(view, nested->model, 0, 0, ret, err);
	if (r < 0)
		pmfs_nested_release(t, nested);
	return r;
}

int pmfs_item_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	int r = pmfs_documents_get(t, err);
	if (r < 0)
		return r;
	const struct pm_collection *c = collection_by_b(t, node);
	struct pm_named_doc doc;
	uint32_t k = pmfs_node_b(node) & 0xff;
	if (!c)
		return pmfs_no_entry();
	r = pmfs_item_check(c, pmfs_node_a(node), err);
	if (r < 0)
		return r;
	const struct pmfs_view *view = view_of(c, k);
	if (view)
		return view_document(t, node, view, ret, err);
	if (k == REPORT_DATA && has_report_data(c)) {
		*ret = pmfs_report_item(c, pmfs_node_a(node));
		return 0;
	}
	r = own_document(c, pmfs_node_a(node), k, &doc);
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	*ret = doc.doc;
	return 0;
}

void pmfs_item_doc_release(struct pmfs_tree *t, pm_node node)
{
	uint32_t collection = pmfs_node_b(node) >> 8;
	if (view_of(&t->collections[collection], pmfs_node_b(node) & 0xff))
		pmfs_nested_leave(t, collection, pmfs_node_a(node));
}
