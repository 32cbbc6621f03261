/* What is made on first need, and kept. */
#include "formats/zts/parts.h"

#include <stdlib.h>

#include "formats/common/text.h"

/*
 * The seam hands out const profiles; what is built behind a lock, once, is const to everybody who
 * gets it.
 */
static struct zts *builder_of(const struct zts *z)
{
	return (struct zts *)(uintptr_t)z;
}

static int build_survey(void *context, struct pm_error *err)
{
	struct zts *z = context;
	return zts_survey_build(&z->survey, &z->stores, err);
}

int zts_get_survey(const struct zts *z, const struct zts_survey **ret, struct pm_error *err)
{
	struct zts *b = builder_of(z);
	*ret = &z->survey;
	return pm_lazy_get(&b->survey_once, build_survey, b, err);
}

static int build_aggregate(void *context, struct pm_error *err)
{
	struct zts *z = context;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	return r < 0 ? r : zts_aggregate_build(&z->aggregate, &z->stores, v, err);
}

int zts_get_aggregate(const struct zts *z, const struct zts_aggregate **ret, struct pm_error *err)
{
	struct zts *b = builder_of(z);
	*ret = &z->aggregate;
	return pm_lazy_get(&b->aggregate_once, build_aggregate, b, err);
}

int zts_get_tree(
	const struct zts *z, uint32_t trace, const struct zts_tree **ret, struct pm_error *err)
{
	struct zts *b = builder_of(z);
	const struct zts_survey *v;
	struct zts_tree *tree = zts_cache_take(&b->trees, trace);
	*ret = tree;
	if (tree)
		return 0;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	const struct zts_trace *t = &v->traces[trace];
	if (t->lost)
		return pm_error_set(err, -EIO, "traces.dat", v->parts[t->part].data_offset,
			"the trace that the index has here is not there, or not readable");
	tree = malloc(sizeof(*tree));
	if (!tree)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	r = zts_tree_read(&b->stores, v->parts + t->part, t->n_parts, tree, err);
	if (r < 0) {
		free(tree);
		return r == -EINVAL ? -EIO : r;
	}
	zts_cache_put(&b->trees, trace, tree, tree->bytes + sizeof(*tree));
	*ret = tree;
	return 0;
}

void zts_release_tree(const struct zts *z, const struct zts_tree *tree)
{
	zts_cache_release(&builder_of(z)->trees, tree);
}

void zts_trace_path(const struct zts *z, const struct zts_trace *t, struct pm_text *out)
{
	pm_text_str(out, "stores/");
	pm_text_str(out, z->stores.items[t->store].number);
	pm_text_str(out, "/traces/");
	zts_trace_name(t, out);
}

const struct zts_texts *zts_texts_of(const struct zts *z, uint32_t store)
{
	return &z->stores.items[store].texts;
}
