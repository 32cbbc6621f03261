/*
 * threads/: the levels key=value of the threads' paths, and in a thread's directory its views,
 * export/, raw/, windows/ and filters.
 */
#include "fs/tree/internal.h"

#include "formats/common/folder.h"
#include "fs/views/sums/threads.h"

/* The directories of threads/. */
struct thread_paths {
	struct pmfs_paths paths;
	uint32_t *node; /* by thread */
};

/* ---- directories by path: the levels key=value of the identities of threads ---- */

static void threads_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_model *m = ((struct pmfs_tree *)owner)->model;
	struct thread_paths *ret = part;
	const struct pm_threads *threads;
	const char *path;
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	ret->paths = pmfs_paths_in(a);
	for (uint32_t i = 0; i < threads->n; i++) {
		pm_build_check(a, pmfs_thread_path(m, i, &path, err));
		path = strchr(path, '/'); /* below threads/ */
		if (!pmfs_paths_add(&ret->paths, path ? path : "", PMFS_PAYLOAD_THREAD, i))
			pm_build_fail(a,
				pm_error_set(err, -EEXIST, NULL, PM_NO_OFFSET,
					"threads cannot be named"));
	}
	pmfs_paths_freeze(&ret->paths);
	ret->node = pm_arena_array(a, threads->n, sizeof(*ret->node));
	for (uint32_t i = 0; i < ret->paths.n; i++)
		if (ret->paths.nodes[i].payload == PMFS_PAYLOAD_THREAD)
			ret->node[ret->paths.nodes[i].index] = i;
}

static int threads_get(struct pmfs_tree *t, const struct thread_paths **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct thread_paths), .what = "threads/", .build = threads_build};
	return pm_part_get(&t->threads, &type, t, ret, err);
}

int pmfs_thread_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct thread_paths *threads;
	int r = threads_get(t, &threads, err);
	if (r == 0)
		*ret = pmfs_node(PMFS_THREADS, threads->node[pmfs_node_a(dir)], 0);
	return r;
}

/* ---- windows/ of a thread: items of the run's collection, found by name ---- */

#define NAME "windows"

/* Fills the entry windows/ of a thread: 1, or 0 if it has none. */
static int windows_of_thread(struct pmfs_tree *t, uint32_t thread, struct pmfs_entry *ret)
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
	return windows_of_thread(t, pmfs_node_a(dir), &entry) ? 0 : pmfs_no_entry();
}

/* README.txt, the only file that is listed, is that of the run. */
static int windows_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)dir;
	(void)err;
	return (*cookie)++ == 0 ? pmfs_document_entry(t, (uint32_t)t->n_docs - 1, ret) : 0;
}

static int windows_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t first = 0;
	struct pmfs_window_number number;
	if (windows_next(t, dir, &first, ret, err) > 0 && ret->len == name.len &&
		memcmp(ret->name, name.p, name.len) == 0)
		return 1;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	int r = pmfs_windows_find(t->windows, pmfs_node_a(dir), name, &number, err);
	if (r <= 0)
		return r < 0 ? r : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = true;
	ret->generation = number.generation;
	return pmfs_item_entry(t, pmfs_windows_number(t), number.item, ret);
}

const struct pmfs_dir pmfs_dir_thread_windows = {
	.check = windows_check,
	.lookup = windows_lookup,
	.next = windows_next,
	.parent = pmfs_thread_parent,
};

/*
 * ---- focus/, ignore/, hide/ and from/ of a thread: items of the run's collections, found by
 * name ----
 */

/* Fills the entry focus/, ignore/ … of a thread: 1, or 0 if the name is not one of them. */
static int filters_of_thread(
	struct pmfs_tree *t, uint32_t thread, struct pm_bytes name, struct pmfs_entry *ret)
{
	if (!t->profile->ops->values)
		return 0;
	if (!t->filters && (pmfs_documents_get(t, NULL) < 0 || !t->filters))
		return 0;
	for (unsigned i = 0; i < PMFS_N_FILTERS; i++)
		if (pm_bytes_equal(name, pm_bytes_of(pmfs_filter_names[i])))
			return pmfs_entry_fill(ret, name, pmfs_node(PMFS_THREAD_FILTERS, thread, i),
				PMFS_DIRECTORY);
	return 0;
}

static int filters_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) >= PMFS_N_FILTERS)
		return pmfs_no_entry();
	int r = pmfs_documents_get(t, err);
	if (r == 0 && !t->filters)
		r = pmfs_no_entry();
	return r < 0 ? r : pmfs_place_check(t, PMFS_PLACE_THREAD, pmfs_node_a(dir), err);
}

/* README.txt, the only file that is listed, is that of the run. */
static int filters_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)err;
	return (*cookie)++ == 0
		? pmfs_document_entry(t, t->first_filter_doc + pmfs_node_b(dir), ret)
		: 0;
}

static int filters_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t first = 0;
	uint32_t item, generation;
	if (filters_next(t, dir, &first, ret, err) > 0 && ret->len == name.len &&
		memcmp(ret->name, name.p, name.len) == 0)
		return 1;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	int r = pmfs_filters_find(t->filters, (enum pmfs_filter_kind)pmfs_node_b(dir),
		pmfs_node_a(dir), name, &item, &generation);
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = true;
	ret->generation = generation;
	return pmfs_item_entry(t, t->first_filter + pmfs_node_b(dir), item, ret);
}

const struct pmfs_dir pmfs_dir_thread_filters = {
	.check = filters_check,
	.lookup = filters_lookup,
	.next = filters_next,
	.parent = pmfs_thread_parent,
};

/* ---- threads/ ---- */

enum { PART_VIEWS, PART_FOLDERS, PART_CHILDREN, N_PARTS };

/* ---- the levels ---- */

/* The paths, which were built when the directory was checked. */
static const struct pmfs_paths *paths_of(const struct pmfs_tree *t)
{
	const struct thread_paths *threads = t->threads.built;
	return &threads->paths;
}

/* The thread of a directory, or PM_NONE for a level above threads. */
static uint32_t thread_of(const struct pmfs_tree *t, pm_node dir)
{
	const struct pmfs_path *node = &paths_of(t)->nodes[pmfs_node_a(dir)];
	return node->payload == PMFS_PAYLOAD_THREAD ? node->index : PM_NONE;
}

static int threads_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (!pm_profile_has(t->profile, threads) || pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	const struct thread_paths *threads;
	int r = threads_get(t, &threads, err);
	return r < 0 ? r : pmfs_node_a(dir) < threads->paths.n ? 0 : pmfs_no_entry();
}

static bool has_raw(struct pmfs_tree *t, uint32_t thread)
{
	struct pm_named_doc doc;
	return t->profile->ops->thread_document &&
		t->profile->ops->thread_document(t->profile, thread, 0, &doc, NULL) > 0;
}

enum { N_FOLDERS = 3 };

/* The folder at or behind the position, 1; or 0 behind the last. Moves the position on. */
static int folder_next(
	struct pmfs_tree *t, uint32_t thread, uint64_t *position, struct pmfs_entry *ret)
{
	while (*position < N_FOLDERS) {
		uint64_t which = (*position)++;
		if (which == 0)
			return pmfs_entry_fill(ret, pm_bytes_of("export"),
				pmfs_node(PMFS_THREAD_EXPORT, thread, 0), PMFS_DIRECTORY);
		if (which == 1 && has_raw(t, thread))
			return pmfs_entry_fill(ret, pm_bytes_of("raw"),
				pmfs_node(PMFS_THREAD_RAW, thread, 0), PMFS_DIRECTORY);
		if (which == 2 && windows_of_thread(t, thread, ret))
			return 1;
	}
	return 0;
}

static int level_entry(struct pmfs_tree *t, uint32_t node, struct pmfs_entry *ret)
{
	return pmfs_entry_fill(ret, paths_of(t)->nodes[node].name, pmfs_node(PMFS_THREADS, node, 0),
		PMFS_DIRECTORY);
}

static int threads_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t thread = thread_of(t, dir);
	uint32_t level = pmfs_paths_find(paths_of(t), pmfs_node_a(dir), name);
	if (level != PM_NONE)
		return level_entry(t, level, ret);
	if (thread == PM_NONE)
		return pmfs_no_entry();
	for (uint64_t i = 0; folder_next(t, thread, &i, ret) > 0;)
		if (ret->len == name.len && memcmp(ret->name, name.p, name.len) == 0)
			return 1;
	if (filters_of_thread(t, thread, name, ret))
		return 1;
	return pmfs_place_lookup(t, PMFS_PLACE_THREAD, thread, name, ret, err);
}

static int level_next(struct pmfs_tree *t, pm_node dir, uint64_t *position, struct pmfs_entry *ret)
{
	const struct pmfs_path *node = &paths_of(t)->nodes[pmfs_node_a(dir)];
	if (*position >= node->n)
		return 0;
	return level_entry(
		t, pmfs_paths_child(paths_of(t), pmfs_node_a(dir), (uint32_t)(*position)++), ret);
}

static int threads_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	uint32_t thread = thread_of(t, dir);
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	int r = 0;
	for (; part < N_PARTS; part++, position = 0) {
		if (part == PART_CHILDREN)
			r = level_next(t, dir, &position, ret);
		else if (thread == PM_NONE)
			continue;
		else if (part == PART_VIEWS)
			r = pmfs_place_next(t, PMFS_PLACE_THREAD, thread, &position, ret, err);
		else
			r = folder_next(t, thread, &position, ret);
		if (r != 0)
			break;
	}
	if (r > 0)
		*cookie = pmfs_cookie(part, position);
	return r;
}

static int threads_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)err;
	uint32_t parent = paths_of(t)->nodes[pmfs_node_a(dir)].parent;
	*ret = parent == PM_NONE ? PMFS_NODE_ROOT : pmfs_node(PMFS_THREADS, parent, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_threads = {
	.check = threads_check,
	.lookup = threads_lookup,
	.next = threads_next,
	.parent = threads_parent,
};

/* ---- a thread's raw/ ---- */

static int raw_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) != 0 || !pm_profile_has(t->profile, threads))
		return pmfs_no_entry();
	int r = pmfs_place_check(t, PMFS_PLACE_THREAD, pmfs_node_a(dir), err);
	if (r == 0 && !has_raw(t, pmfs_node_a(dir)))
		r = pmfs_no_entry();
	return r;
}

static int raw_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	struct pm_named_doc doc;
	uint32_t thread = pmfs_node_a(dir), k = (uint32_t)*cookie;
	if (*cookie > 0xffffff)
		return 0;
	int r = t->profile->ops->thread_document(t->profile, thread, k, &doc, err);
	if (r <= 0)
		return r;
	++*cookie;
	return pmfs_entry_fill(ret, pm_bytes_of(pm_path_name(doc.path)),
		pmfs_node(PMFS_THREAD_DOC, thread, k), PMFS_FILE);
}

static int raw_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t cookie = 0;
	for (;;) {
		int r = raw_next(t, dir, &cookie, ret, err);
		if (r <= 0)
			return r < 0 ? r : pmfs_no_entry();
		if (ret->len == name.len && memcmp(ret->name, name.p, name.len) == 0)
			return 1;
	}
}

const struct pmfs_dir pmfs_dir_thread_raw = {
	.check = raw_check,
	.lookup = raw_lookup,
	.next = raw_next,
	.parent = pmfs_thread_parent,
};

int pmfs_thread_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	struct pm_named_doc doc;
	int r = raw_check(t, pmfs_node(PMFS_THREAD_RAW, pmfs_node_a(node), 0), err);
	if (r < 0)
		return r;
	r = t->profile->ops->thread_document(
		t->profile, pmfs_node_a(node), pmfs_node_b(node), &doc, err);
	if (r <= 0)
		return r < 0 ? r : pmfs_no_entry();
	*ret = doc.doc;
	return 0;
}
