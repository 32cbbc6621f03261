/*
 * contexts/ and by-id/: a directory for each calling context, twice. Documents are the same nodes
 * in both; directories are not, since a directory has one parent.
 */
#include "fs/tree/internal.h"

#include "formats/common/number.h"

enum { PART_VIEWS, PART_METRICS, PART_CHILDREN, N_PARTS };

static int get_tree(struct pmfs_tree *t, const struct pm_tree **ret, struct pm_error *err)
{
	return pmfs_model_tree(t->model, ret, err);
}

int pmfs_context_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	return pmfs_place_check(t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), err);
}

/* ---- contexts/ ---- */

const struct pmfs_dir pmfs_dir_contexts = {
	.lookup = pmfs_children_lookup,
	.next = pmfs_children_next,
};

/* ---- a context's directory ---- */

static int metrics_entry(struct pmfs_entry *ret, pm_node dir)
{
	enum pmfs_node_kind kind =
		pmfs_node_kind_of(dir) == PMFS_CONTEXT ? PMFS_CONTEXT_METRICS : PMFS_BY_ID_METRICS;
	return pmfs_entry_fill(
		ret, pm_bytes_of("metrics"), pmfs_node(kind, pmfs_node_a(dir), 0), PMFS_DIRECTORY);
}

static int documents_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	if (pm_bytes_equal(name, pm_bytes_of("metrics")))
		return metrics_entry(ret, dir);
	return pmfs_place_lookup(t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), name, ret, err);
}

static int context_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	int r = documents_lookup(t, dir, name, ret, err);
	return r != -ENOENT ? r : pmfs_children_lookup(t, dir, name, ret, err);
}

/* Lists the first `n_parts` parts. */
static int parts_next(struct pmfs_tree *t, pm_node dir, unsigned n_parts, uint64_t *cookie,
	struct pmfs_entry *ret, struct pm_error *err)
{
	unsigned part = pmfs_cookie_part(*cookie);
	uint64_t position = pmfs_cookie_position(*cookie);
	int r = 0;
	for (; part < n_parts; part++, position = 0) {
		if (part == PART_VIEWS)
			r = pmfs_place_next(
				t, PMFS_PLACE_CONTEXT, pmfs_node_a(dir), &position, ret, err);
		else if (part == PART_METRICS)
			r = position++ == 0 ? metrics_entry(ret, dir) : 0;
		else
			r = pmfs_children_next(t, dir, &position, ret, err);
		if (r != 0)
			break;
	}
	if (r > 0)
		*cookie = pmfs_cookie(part, position);
	return r;
}

static int context_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	return parts_next(t, dir, N_PARTS, cookie, ret, err);
}

static int context_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	uint32_t parent = tree->parent[pmfs_node_a(dir)];
	*ret = parent == PM_NONE ? pmfs_node(PMFS_CONTEXTS, 0, 0)
				 : pmfs_node(PMFS_CONTEXT, parent, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_context = {
	.check = pmfs_context_check,
	.lookup = context_lookup,
	.next = context_next,
	.parent = context_parent,
};

/* ---- by-id/ ---- */

static int by_id_entry(struct pmfs_entry *ret, uint32_t number, uint32_t context)
{
	ret->len = pm_u64_format(number, ret->name);
	ret->node = pmfs_node(PMFS_BY_ID_CONTEXT, context, 0);
	ret->type = PMFS_DIRECTORY;
	return 1;
}

static int by_id_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	uint64_t number = 0;
	(void)dir;
	if (name.len == 0 || name.len > 10 || (name.p[0] == '0' && name.len > 1))
		return pmfs_no_entry();
	for (size_t i = 0; i < name.len; i++) {
		if (name.p[i] < '0' || name.p[i] > '9')
			return pmfs_no_entry();
		number = number * 10 + (name.p[i] - '0');
	}
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	uint32_t context = pm_tree_find(tree, number);
	if (context == PM_NONE)
		return pmfs_no_entry();
	return by_id_entry(ret, (uint32_t)number, context);
}

static int by_id_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pm_tree *tree;
	(void)dir;
	int r = get_tree(t, &tree, err);
	if (r < 0)
		return r;
	while (*cookie < tree->n_contexts) {
		uint32_t context = (uint32_t)(*cookie)++;
		uint32_t number = pm_tree_number(tree, context);
		/* If several contexts have the same number, the one found by the tree is listed. */
		if (pm_tree_find(tree, number) == context)
			return by_id_entry(ret, number, context);
	}
	return 0;
}

const struct pmfs_dir pmfs_dir_by_id = {
	.lookup = by_id_lookup,
	.next = by_id_next,
};

static int by_id_context_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie,
	struct pmfs_entry *ret, struct pm_error *err)
{
	return parts_next(t, dir, PART_CHILDREN, cookie, ret, err);
}

static int by_id_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)dir;
	(void)err;
	*ret = pmfs_node(PMFS_BY_ID, 0, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_by_id_context = {
	.check = pmfs_context_check,
	.lookup = documents_lookup,
	.next = by_id_context_next,
	.parent = by_id_parent,
};
