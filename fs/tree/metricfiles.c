/*
 * metrics/ of a context: a file for each value that exists.
 */
#include "fs/tree/internal.h"

#include "fs/tree/presences.h"
#include "fs/views/tables/metricfile.h"

static int value_entry(struct pmfs_entry *ret, const struct pmfs_columns *columns, uint32_t context,
	uint32_t column)
{
	return pmfs_entry_fill(ret, pm_bytes_of(columns->columns[column].name),
		pmfs_node(PMFS_CONTEXT_VALUE, context, column), PMFS_FILE);
}

static int metrics_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct pmfs_presence present;
	int r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0 || *cookie >= columns->n)
		return r;
	r = pmfs_presence_get(t, pmfs_node_a(dir), columns, &present, err);
	for (uint32_t i = (uint32_t)*cookie; r == 0 && i < columns->n; i++) {
		if (!pmfs_presence_has(&present, i))
			continue;
		*cookie = (uint64_t)i + 1;
		r = value_entry(ret, columns, pmfs_node_a(dir), i);
	}
	return r;
}

/* Reads only the value with this name. */
static int metrics_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct pmfs_presence present;
	uint32_t context = pmfs_node_a(dir);
	int r = pmfs_model_columns(t->model, &columns, err);
	for (uint32_t i = 0; r == 0 && i < columns->n; i++) {
		value_entry(ret, columns, context, i);
		if (ret->len != name.len || memcmp(ret->name, name.p, name.len) != 0)
			continue;
		r = pmfs_presence_get(t, context, columns, &present, err);
		if (r == 0)
			r = pmfs_presence_has(&present, i);
	}
	return r == 0 ? pmfs_no_entry() : r;
}

static int metrics_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)err;
	*ret = pmfs_node(
		pmfs_node_kind_of(dir) == PMFS_CONTEXT_METRICS ? PMFS_CONTEXT : PMFS_BY_ID_CONTEXT,
		pmfs_node_a(dir), 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_context_metrics = {
	.check = pmfs_context_check,
	.lookup = metrics_lookup,
	.next = metrics_next,
	.parent = metrics_parent,
};

int pmfs_context_value_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	int r = pmfs_place_check(t, PMFS_PLACE_CONTEXT, pmfs_node_a(node), err);
	if (r == 0)
		r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0)
		return r;
	if (pmfs_node_b(node) >= columns->n)
		return pmfs_no_entry();
	return pmfs_value_document(t->model, pmfs_node_a(node), pmfs_node_b(node), ret);
}
