/*
 * The entry point: checks a node, finds the functions of its kind, and calls them. Below it,
 * from the top down: the root, threads.c, documents.c, items.c, nested.c (items that are
 * profiles), contexts.c, functions.c, views.c, state.c.
 */
#include "fs/tree/tree.h"

#include "formats/common/affix.h"
#include "fs/tree/internal.h"

/* ---- the root ---- */

/* The root's own directories, in listing order. */
static const struct fixed {
	const char *name;
	enum pmfs_node_kind kind;
	enum pmfs_folder folder;
} fixed[] = {
	{"contexts", PMFS_CONTEXTS, PMFS_FOLDER_CONTEXTS},
	{"by-id", PMFS_BY_ID, PMFS_FOLDER_CONTEXTS},
	{"functions", PMFS_FUNCTIONS, PMFS_FOLDER_FUNCTIONS},
	{"threads", PMFS_THREADS, PMFS_FOLDER_THREADS},
	{"export", PMFS_EXPORT, PMFS_FOLDER_EXPORT},
};

enum { N_FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static bool is_there(const struct pmfs_tree *t, const struct fixed *f)
{
	bool of_each =
		f->kind == PMFS_CONTEXTS || f->kind == PMFS_BY_ID || f->kind == PMFS_FUNCTIONS;
	return t->shape->folders & f->folder && !(of_each && pmfs_model_listing(t->model).lean) &&
		(f->kind != PMFS_THREADS || pm_profile_has(t->profile, threads));
}

static int fixed_entry(struct pmfs_entry *ret, const struct fixed *f)
{
	return pmfs_entry_fill(ret, pm_bytes_of(f->name), pmfs_node(f->kind, 0, 0), PMFS_DIRECTORY);
}

static int root_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	(void)t;
	(void)err;
	return dir == PMFS_NODE_ROOT ? 0 : pmfs_no_entry();
}

static int root_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	(void)dir;
	for (unsigned i = 0; i < N_FIXED; i++)
		if (is_there(t, &fixed[i]) && pm_bytes_equal(pm_bytes_of(fixed[i].name), name))
			return fixed_entry(ret, &fixed[i]);
	int r = pmfs_place_lookup(t, t->shape->place, 0, name, ret, err);
	if (r == -ENOENT && t->shape->has_report)
		r = pmfs_report_root_lookup(name, ret);
	return r != -ENOENT ? r : pmfs_paths_root_lookup(t, name, ret, err);
}

static int root_fixed_next(struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret)
{
	for (uint64_t i = *position; i < N_FIXED; i++) {
		if (!is_there(t, &fixed[i]))
			continue;
		*position = i + 1;
		return fixed_entry(ret, &fixed[i]);
	}
	return 0;
}

static int root_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)dir;
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	int r = 0;
	for (; r == 0 && part < 4; part++, position = 0) {
		if (part == 0)
			r = pmfs_place_next(t, t->shape->place, 0, &position, ret, err);
		else if (part == 1)
			r = root_fixed_next(t, &position, ret);
		else if (part == 2)
			r = pmfs_paths_root_next(t, &position, ret, err);
		else
			r = pmfs_source_root_next(t, &position, ret, err);
		if (r > 0)
			*cookie = pmfs_cookie(part, position);
	}
	return r;
}

const struct pmfs_dir pmfs_dir_root = {
	.check = root_check,
	.lookup = root_lookup,
	.next = root_next,
};

/* The directories that contain only views: export/ at the root and in each thread. */

static enum pmfs_place export_place(pm_node dir)
{
	return pmfs_node_kind_of(dir) == PMFS_EXPORT ? PMFS_PLACE_EXPORT : PMFS_PLACE_THREAD_EXPORT;
}

static int export_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	return pmfs_place_check(t, export_place(dir), pmfs_node_a(dir), err);
}

static int export_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	return pmfs_place_lookup(t, export_place(dir), pmfs_node_a(dir), name, ret, err);
}

static int export_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	return pmfs_place_next(t, export_place(dir), pmfs_node_a(dir), cookie, ret, err);
}

const struct pmfs_dir pmfs_dir_export = {
	.check = export_check,
	.lookup = export_lookup,
	.next = export_next,
};

const struct pmfs_dir pmfs_dir_thread_export = {
	.check = export_check,
	.lookup = export_lookup,
	.next = export_next,
	.parent = pmfs_thread_parent,
};

/*
 * X.parquet beside each X.csv: found by name. Listings leave them out, so that whoever walks a
 * mount does not read every table twice (docs/decisions/0140).
 */

static const char ending[] = ".parquet", csv[] = ".csv";

enum { ENDING = sizeof(ending) - 1, CSV = sizeof(csv) - 1 };

/* Writes X.csv for X.parquet to `room` (PMFS_NAME_SIZE bytes); false for other names. */
static bool twin_base(struct pm_bytes name, char *room, struct pm_bytes *ret)
{
	if (!pm_has_ending(name, ending) || name.len >= PMFS_NAME_SIZE)
		return false;
	size_t stem = name.len - ENDING;
	memcpy(room, name.p, stem);
	memcpy(room + stem, csv, CSV);
	*ret = (struct pm_bytes){(const uint8_t *)room, stem + CSV};
	return true;
}

/* Turns the document of a table as CSV into its Parquet form; -ENOENT for other kinds. */
static int twin_of(struct pm_doc *doc)
{
	if (doc->kind != PM_DOC_CSV)
		return pmfs_no_entry();
	doc->kind = PM_DOC_PARQUET;
	return 0;
}

/* ---- the entry point ---- */

static const struct pmfs_dir *const dirs[PMFS_N_KINDS] = {
	[PMFS_ROOT] = &pmfs_dir_root,
	[PMFS_EXPORT] = &pmfs_dir_export,
	[PMFS_CONTEXTS] = &pmfs_dir_contexts,
	[PMFS_CONTEXT] = &pmfs_dir_context,
	[PMFS_CONTEXT_METRICS] = &pmfs_dir_context_metrics,
	[PMFS_BY_ID] = &pmfs_dir_by_id,
	[PMFS_BY_ID_CONTEXT] = &pmfs_dir_by_id_context,
	[PMFS_BY_ID_METRICS] = &pmfs_dir_context_metrics,
	[PMFS_FUNCTIONS] = &pmfs_dir_functions,
	[PMFS_FUNCTION] = &pmfs_dir_function,
	[PMFS_THREADS] = &pmfs_dir_threads,
	[PMFS_THREAD_EXPORT] = &pmfs_dir_thread_export,
	[PMFS_THREAD_RAW] = &pmfs_dir_thread_raw,
	[PMFS_PATH] = &pmfs_dir_path,
	[PMFS_ITEM] = &pmfs_dir_item,
	[PMFS_REPORT] = &pmfs_dir_report,
	[PMFS_THREAD_WINDOWS] = &pmfs_dir_thread_windows,
	[PMFS_THREAD_FILTERS] = &pmfs_dir_thread_filters,
};

/* How a document of each kind is found. */
static int (*const documents[PMFS_N_KINDS])(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err) = {
	[PMFS_VIEW] = pmfs_view_document,
	[PMFS_CONTEXT_VALUE] = pmfs_context_value_document,
	[PMFS_THREAD_DOC] = pmfs_thread_doc_document,
	[PMFS_PATH_DOC] = pmfs_path_doc_document,
	[PMFS_ITEM_DOC] = pmfs_item_doc_document,
	[PMFS_REPORT_DATA] = pmfs_report_data_document,
};

struct pmfs_tree *pmfs_tree_new(
	struct pmfs_model *model, struct pm_cache *cache, enum pm_shape shape)
{
	struct pmfs_tree *t = pmfs_tree_make(dirs, model, cache, pmfs_shape_of(shape));
	if (t)
		pmfs_contexts_name_entries(t);
	return t;
}

/* The functions of a directory that exists. */
static int dir_of(
	struct pmfs_tree *t, pm_node node, const struct pmfs_dir **ret, struct pm_error *err)
{
	unsigned kind = pmfs_node_kind_of(node);
	if (kind >= PMFS_N_KINDS)
		return pmfs_no_entry();
	if (!dirs[kind])
		return -ENOTDIR;
	*ret = dirs[kind];
	if (dirs[kind]->check)
		return dirs[kind]->check(t, node, err);
	return pmfs_node_a(node) == 0 && pmfs_node_b(node) == 0 ? 0 : pmfs_no_entry();
}

/* ---- within one tree ---- */

static void document_release(struct pmfs_tree *t, pm_node node)
{
	if (pmfs_node_kind_of(node) == PMFS_ITEM_DOC)
		pmfs_item_doc_release(t, node);
}

static int document_get(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	unsigned kind = pmfs_node_kind_of(node);
	if (kind >= PMFS_N_KINDS)
		return pmfs_no_entry();
	int r = documents[kind] ? documents[kind](t, node, ret, err) : -EISDIR;
	bool is_table = r == 0 && (ret->kind == PM_DOC_CSV || ret->kind == PM_DOC_TSV);
	if (is_table && ret->table.type->columns) {
		r = ret->table.type->columns(&ret->table, err);
		if (r < 0)
			document_release(t, node);
	}
	if (r == 0)
		ret->of = t->profile;
	return r;
}

static int type_get(struct pmfs_tree *t, pm_node node, enum pmfs_type *ret, struct pm_error *err)
{
	const struct pmfs_dir *dir;
	struct pm_doc doc;
	int r = dir_of(t, node, &dir, err);
	if (r != -ENOTDIR) {
		*ret = PMFS_DIRECTORY;
		return r;
	}
	r = document_get(t, node, &doc, err);
	if (r < 0)
		return r;
	*ret = doc.kind == PM_DOC_LINK ? PMFS_LINK : PMFS_FILE;
	document_release(t, node);
	return 0;
}

/*
 * The kernel caches ENOENT, so it must not be returned if the source has changed since it was
 * opened.
 */
static int none(struct pmfs_tree *t, int result, struct pm_error *err)
{
	if (!pm_profile_changed(t->profile))
		return result;
	return pm_error_set(err, -EIO, t->profile->source, PM_NO_OFFSET,
		"has changed since it was opened, or cannot be read");
}

/* ---- from outside: dispatch to the tree that contains the node ---- */

int pmfs_tree_document(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	struct pmfs_inside in;
	bool is_twin = pmfs_node_untwin(node) != node;
	int r = pmfs_inside_enter(t, pmfs_node_untwin(node), &in, err);
	if (r < 0)
		return r;
	r = document_get(in.tree, in.node, ret, err);
	if (r == 0 && is_twin && (r = twin_of(ret)) < 0)
		document_release(in.tree, in.node);
	if (r < 0)
		pmfs_inside_leave(t, &in);
	return r;
}

void pmfs_tree_release(struct pmfs_tree *t, pm_node node)
{
	struct pmfs_inside in;
	node = pmfs_node_untwin(node);
	if (pmfs_inside_enter(t, node, &in, NULL) < 0)
		return;
	document_release(in.tree, in.node);
	pmfs_inside_leave(t, &in);
	if (in.nested)
		pmfs_nested_leave_space(t, pmfs_node_space(node));
}

static int twin_type(struct pmfs_tree *t, pm_node node, enum pmfs_type *ret, struct pm_error *err)
{
	struct pm_doc doc;
	int r = pmfs_tree_document(t, node, &doc, err);
	*ret = PMFS_FILE;
	if (r == 0)
		pmfs_tree_release(t, node);
	return r == -EISDIR ? pmfs_no_entry() : r;
}

int pmfs_tree_type(struct pmfs_tree *t, pm_node node, enum pmfs_type *ret, struct pm_error *err)
{
	struct pmfs_inside in;
	if (pmfs_node_untwin(node) != node)
		return twin_type(t, node, ret, err);
	int r = pmfs_inside_enter(t, node, &in, err);
	if (r < 0)
		return r;
	r = type_get(in.tree, in.node, ret, err);
	pmfs_inside_leave(t, &in);
	return r;
}

/*
 * Enters the tree that contains the directory (the caller leaves it), and finds the directory's
 * functions.
 */
static int enter_dir(struct pmfs_tree *t, pm_node dir, struct pmfs_inside *ret,
	const struct pmfs_dir **ret_dir, struct pm_error *err)
{
	int r = pm_profile_ready(t->profile, err);
	if (r < 0 || (r = pmfs_inside_enter(t, dir, ret, err)) < 0)
		return r;
	r = dir_of(ret->tree, ret->node, ret_dir, err);
	if (r < 0)
		pmfs_inside_leave(t, ret);
	return r;
}

static int lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_dir *d;
	struct pmfs_inside in;
	int r = enter_dir(t, dir, &in, &d, err);
	if (r < 0)
		return r;
	r = d->lookup(in.tree, in.node, name, ret, err);
	if (r == -ENOENT && (!err || !err->code))
		r = none(in.tree, r, err);
	if (r >= 0)
		r = pmfs_inside_wrap(&in, &ret->node, err);
	pmfs_inside_leave(t, &in);
	return r;
}

int pmfs_tree_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name, struct pmfs_entry *ret,
	struct pm_error *err)
{
	char room[PMFS_NAME_SIZE];
	struct pm_bytes base;
	struct pm_doc doc;
	int r = lookup(t, dir, name, ret, err);
	if (r != -ENOENT || !twin_base(name, room, &base))
		return r;
	r = lookup(t, dir, base, ret, err);
	if (r < 0 || ret->type != PMFS_FILE)
		return r < 0 ? r : pmfs_no_entry();
	pm_node node = pmfs_node_twin(ret->node);
	r = !node ? pmfs_no_entry() : pmfs_tree_document(t, node, &doc, err);
	if (r < 0)
		return r;
	pmfs_tree_release(t, node);
	pmfs_entry_fill(ret, name, node, PMFS_FILE);
	return 0;
}

int pmfs_tree_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_dir *d;
	struct pmfs_inside in;
	int r = enter_dir(t, dir, &in, &d, err);
	if (r < 0)
		return r;
	r = d->next(in.tree, in.node, cookie, ret, err);
	if (r == 0)
		r = none(in.tree, 0, err);
	if (r > 0 && pmfs_inside_wrap(&in, &ret->node, err) < 0)
		r = -EOVERFLOW;
	pmfs_inside_leave(t, &in);
	return r;
}

int pmfs_tree_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct pmfs_dir *d;
	struct pmfs_inside in;
	int r = enter_dir(t, dir, &in, &d, err);
	if (r < 0)
		return r;
	*ret = PMFS_NODE_ROOT;
	r = d->parent ? d->parent(in.tree, in.node, ret, err) : 0;
	if (r == 0)
		r = pmfs_inside_wrap(&in, ret, err);
	pmfs_inside_leave(t, &in);
	return r;
}

bool pmfs_tree_is_cheap(pm_node node)
{
	return pmfs_node_kind_of(pmfs_node_unnest(node)) == PMFS_CONTEXT_VALUE;
}

bool pmfs_tree_is_of_format(pm_node node)
{
	unsigned kind = pmfs_node_kind_of(pmfs_node_unnest(pmfs_node_untwin(node)));
	return kind == PMFS_THREAD_DOC || kind == PMFS_PATH_DOC || kind == PMFS_ITEM_DOC;
}

bool pmfs_tree_is_of_contexts(pm_node node)
{
	unsigned kind = pmfs_node_kind_of(pmfs_node_unnest(node));
	return kind == PMFS_CONTEXTS || kind == PMFS_BY_ID;
}

int pmfs_tree_walk(
	struct pmfs_tree *t, const char *path, struct pmfs_entry *ret, struct pm_error *err)
{
	*ret = (struct pmfs_entry){.node = PMFS_NODE_ROOT, .type = PMFS_DIRECTORY};
	while (*path) {
		size_t len = strcspn(path, "/");
		struct pm_bytes name = {(const uint8_t *)path, len};
		bool stays = len == 0 || pm_bytes_equal(name, pm_bytes_of("."));
		if (stays && ret->type != PMFS_DIRECTORY)
			return -ENOTDIR; /* as if "." were looked up in it */
		int r = stays ? 0 : pmfs_tree_lookup(t, ret->node, name, ret, err);
		if (r < 0)
			return r;
		path += len + (path[len] == '/');
	}
	return 0;
}

uint32_t pmfs_tree_context_of(pm_node node, uint32_t *ret_column)
{
	*ret_column = PM_NONE;
	switch (pmfs_node_kind_of(node)) {
	case PMFS_CONTEXT_VALUE: *ret_column = pmfs_node_b(node); return pmfs_node_a(node);
	case PMFS_CONTEXT:
	case PMFS_CONTEXT_METRICS:
	case PMFS_BY_ID_CONTEXT:
	case PMFS_BY_ID_METRICS: return pmfs_node_a(node);
	case PMFS_VIEW:
		return pmfs_node_b(node) >> 20 == PMFS_PLACE_CONTEXT ? pmfs_node_a(node) : PM_NONE;
	default: return PM_NONE;
	}
}
