/* Attributes of a call tree: they are read as they come, and sorted at the end. */
#include "formats/zts/growing.h"

#include "formats/common/sort.h"

static int no_memory(struct pm_error *err)
{
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
}

/* Copies an item into the tree's own memory. */
static int take_value(struct zts_growing *g, struct zts_records *records, bool as_key,
	struct pm_bytes *ret, bool *ret_text, struct pm_error *err)
{
	pm_text_clear(&g->scratch);
	int n = zts_value_read(records, g->texts, as_key, &g->scratch, ret_text, err);
	if (n < 0)
		return n;
	if (g->scratch.failed && !g->scratch.full)
		return no_memory(err);
	if (g->scratch.full || g->tree->attr_bytes + g->scratch.len > PM_LIMIT_TRACE_TEXT)
		return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
			"the trace's attributes take more than %zu bytes", PM_LIMIT_TRACE_TEXT);
	g->tree->attr_bytes += g->scratch.len;
	*ret = pm_arena_copy(&g->tree->texts, pm_text_view(&g->scratch));
	return ret->p ? 0 : no_memory(err);
}

int zts_growing_attrs(
	struct zts_growing *g, struct zts_records *records, uint64_t n, struct pm_error *err)
{
	struct zts_tree *t = g->tree;
	bool unused;
	for (uint64_t i = 0; i < n; i++) {
		if (pm_list_room(&t->attrs, t->n_attrs, &t->attr_room, sizeof(*t->attrs)) < 0)
			return no_memory(err);
		struct zts_attr *attr = &t->attrs[t->n_attrs];
		t->attr_bytes += sizeof(*attr);
		*attr = (struct zts_attr){.call = g->open, .order = (uint32_t)t->n_attrs};
		int code = take_value(g, records, true, &attr->key, &unused, err);
		if (code == 0)
			code = take_value(g, records, false, &attr->value, &attr->is_text, err);
		if (code < 0)
			return code;
		t->n_attrs++;
	}
	return 1;
}

static int by_call_and_key(const void *a, const void *b)
{
	const struct zts_attr *x = a, *y = b;
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	int order = pm_bytes_compare(x->key, y->key);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

int zts_growing_end(struct zts_growing *g)
{
	struct zts_tree *t = g->tree;
	size_t kept = 0;
	if (pm_sort(t->attrs, t->n_attrs, sizeof(*t->attrs), by_call_and_key) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_attrs; i++) {
		const struct zts_attr *next = &t->attrs[i + 1];
		if (i + 1 < t->n_attrs && next->call == t->attrs[i].call &&
			pm_bytes_equal(next->key, t->attrs[i].key))
			continue;
		struct zts_call *call = &t->calls[t->attrs[i].call];
		if (call->n_attrs++ == 0)
			call->attr = (uint32_t)kept;
		t->attrs[kept++] = t->attrs[i];
	}
	t->n_attrs = kept;
	return 0;
}

void zts_growing_restart(struct zts_growing *g)
{
	struct zts_tree *t = g->tree;
	pm_arena_done(&t->texts);
	t->n = 0;
	t->n_attrs = 0;
	t->attr_bytes = 0;
	g->open = PM_NONE;
}

void zts_growing_init(struct zts_growing *g, struct zts_tree *ret)
{
	*g = (struct zts_growing){.tree = ret};
	g->scratch.limit = PM_LIMIT_TRACE_TEXT;
	zts_growing_restart(g);
}

void zts_growing_done(struct zts_growing *g)
{
	pm_text_done(&g->scratch);
}
