/*
 * Properties of the root, of contexts, and of a context's values as attributes, for scripts that
 * walk the tree and need to identify a directory without opening files in it.
 */
#include "fs/xattr.h"

#include <string.h>

#define PREFIX "user.profmount."

enum scope { OF_ROOT, OF_CONTEXT, OF_VALUE };

struct subject {
	struct pmfs_instance *in;
	const struct pm_tree *tree;
	uint32_t context;
	const struct pmfs_column *column;
};

static void add_source(const struct subject *s, struct pm_text *out)
{
	pm_text_str(out, s->in->profile->source);
}

static void add_format(const struct subject *s, struct pm_text *out)
{
	pm_text_str(out, s->in->profile->format);
}

static void add_context_id(const struct subject *s, struct pm_text *out)
{
	pm_text_u64(out, pm_tree_number(s->tree, s->context));
}

static void add_kind(const struct subject *s, struct pm_text *out)
{
	struct pm_text scratch = {.p = NULL};
	pm_text_bytes(out, pmfs_frame_kind(pm_tree_frame(s->tree, s->context), &scratch));
	pm_text_done(&scratch);
}

static void add_name(const struct subject *s, struct pm_text *out)
{
	struct pm_text scratch = {.p = NULL};
	pm_text_utf8(out, pmfs_frame_name(s->tree, pm_tree_frame(s->tree, s->context), &scratch));
	pm_text_done(&scratch);
}

static void add_unit(const struct subject *s, struct pm_text *out)
{
	pm_text_bytes(out, s->column->tree->unit);
}

static const struct attribute {
	const char *name;
	enum scope scope;
	void (*add)(const struct subject *s, struct pm_text *out);
} attributes[] = {
	{PREFIX "source", OF_ROOT, add_source},
	{PREFIX "format", OF_ROOT, add_format},
	{PREFIX "context_id", OF_CONTEXT, add_context_id},
	{PREFIX "kind", OF_CONTEXT, add_kind},
	{PREFIX "name", OF_CONTEXT, add_name},
	{PREFIX "unit", OF_VALUE, add_unit},
};

enum { N_ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* The kind of a node for attributes; false for nodes without any. */
static bool subject_of(struct pmfs_instance *in, pm_node node, struct subject *ret)
{
	uint32_t column;
	const struct pmfs_columns *columns;
	*ret = (struct subject){.in = in, .context = PM_NONE};
	if (node == PMFS_NODE_ROOT)
		return true;
	ret->context = pmfs_tree_context_of(node, &column);
	if (ret->context == PM_NONE || pmfs_model_tree(in->model, &ret->tree, NULL) < 0 ||
		ret->context >= ret->tree->n_contexts)
		return false;
	if (column != PM_NONE && pmfs_model_columns(in->model, &columns, NULL) == 0 &&
		column < columns->n)
		ret->column = &columns->columns[column];
	return true;
}

static bool applies(const struct subject *s, const struct attribute *a)
{
	switch (a->scope) {
	case OF_ROOT: return s->context == PM_NONE;
	case OF_CONTEXT: return s->context != PM_NONE;
	case OF_VALUE: return s->column && s->column->tree;
	}
	return false;
}

int pmfs_xattr_get(struct pmfs_instance *in, pm_node node, const char *name, struct pm_text *out)
{
	struct subject s;
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !subject_of(in, node, &s))
		return -ENODATA;
	for (unsigned i = 0; i < N_ATTRIBUTES; i++)
		if (strcmp(attributes[i].name, name) == 0 && applies(&s, &attributes[i])) {
			attributes[i].add(&s, out);
			return 0;
		}
	return -ENODATA;
}

void pmfs_xattr_list(struct pmfs_instance *in, pm_node node, struct pm_text *out)
{
	struct subject s;
	if (!subject_of(in, node, &s))
		return;
	for (unsigned i = 0; i < N_ATTRIBUTES; i++)
		if (applies(&s, &attributes[i]))
			pm_text_add(out, attributes[i].name, strlen(attributes[i].name) + 1);
}
