/* The root. */
#include "fs/tree/internal.h"

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
		(f->kind != PMFS_THREADS || t->profile->ops->threads);
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
