/*
 * functions/: a directory for each row of functions.csv.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>

#include "fs/views/sums/functions.h"

/* Siblings in database order: by the function's index in the tree. */
struct rows {
	const struct pmfs_functions *functions;
	uint32_t *in_order; /* while building */
};

static uint32_t row_item(void *context, uint32_t k)
{
	return ((const struct rows *)context)->in_order[k];
}

static struct pm_bytes row_raw(void *context, uint32_t row, struct pm_text *scratch)
{
	(void)scratch;
	return pmfs_function_name(((const struct rows *)context)->functions, row);
}

static struct pmfs_naming naming_of(struct rows *rows)
{
	return (struct pmfs_naming){
		.n = rows->functions->n, .item = row_item, .raw = row_raw, .context = rows};
}

static int siblings_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	struct rows *rows = context;
	const struct pmfs_functions *f = rows->functions;
	struct pmfs_siblings *s;
	rows->in_order = malloc(((size_t)f->n + 1) * sizeof(*rows->in_order));
	if (!rows->in_order)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0, n = 0; i < f->identity->n; i++)
		if (f->row[i] != PM_NONE)
			rows->in_order[n++] = f->row[i];
	struct pmfs_naming naming = naming_of(rows);
	int r = pmfs_siblings_build(&naming, &s, err);
	free(rows->in_order);
	if (r == 0)
		*ret = &s->cached;
	return r;
}

static int siblings_get(
	struct pmfs_tree *t, struct rows *rows, struct pmfs_siblings **ret, struct pm_error *err)
{
	struct pm_cached *cached;
	uint64_t key;
	*ret = NULL;
	int r = pmfs_functions(t->model, &rows->functions, err);
	if (r == 0)
		r = pmfs_tree_key(t, pmfs_node(PMFS_FUNCTIONS, 0, 0), &key, err);
	if (r == 0)
		r = pm_cache_get(t->cache, key, siblings_build, rows, &cached, err);
	if (r == 0)
		*ret = (struct pmfs_siblings *)cached;
	return r;
}

static int row_entry(struct pmfs_entry *ret, uint32_t row)
{
	ret->node = pmfs_node(PMFS_FUNCTION, row, 0);
	ret->type = PMFS_DIRECTORY;
	return 1;
}

static int functions_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct rows rows = {.functions = NULL};
	struct pmfs_siblings *s;
	uint32_t row = 0;
	(void)dir;
	int r = siblings_get(t, &rows, &s, err);
	if (r < 0)
		return r;
	struct pmfs_naming naming = naming_of(&rows);
	r = name.len < PMFS_NAME_SIZE ? pmfs_siblings_find(s, &naming, name, &row) : 0;
	pm_cache_release(t->cache, &s->cached);
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	return row_entry(ret, row);
}

static int functions_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct rows rows = {.functions = NULL};
	struct pmfs_siblings *s;
	(void)dir;
	int r = siblings_get(t, &rows, &s, err);
	if (r < 0)
		return r;
	struct pmfs_naming naming = naming_of(&rows);
	uint32_t row = (uint32_t)*cookie;
	bool more = *cookie < rows.functions->n;
	if (more)
		ret->len = pmfs_siblings_name(s, &naming, row, ret->name);
	pm_cache_release(t->cache, &s->cached);
	if (!more)
		return 0;
	if (ret->len == 0)
		return pm_error_plain(err, -ENOMEM);
	++*cookie;
	return row_entry(ret, row);
}

const struct pmfs_dir pmfs_dir_functions = {
	.lookup = functions_lookup,
	.next = functions_next,
};

/* ---- a function's directory ---- */

static int function_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	int r = pmfs_place_check(t, PMFS_PLACE_FUNCTION, pmfs_node_a(dir), err);
	return r == 0 && pmfs_node_b(dir) != 0 ? pmfs_no_entry() : r;
}

static int function_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	return pmfs_place_lookup(t, PMFS_PLACE_FUNCTION, pmfs_node_a(dir), name, ret, err);
}

static int function_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	return pmfs_place_next(t, PMFS_PLACE_FUNCTION, pmfs_node_a(dir), cookie, ret, err);
}

static int function_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)dir;
	(void)err;
	*ret = pmfs_node(PMFS_FUNCTIONS, 0, 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_function = {
	.check = function_check,
	.lookup = function_lookup,
	.next = function_next,
	.parent = function_parent,
};
