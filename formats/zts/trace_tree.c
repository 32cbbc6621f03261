/* The calls of one trace as a small profile: a tree with times. */
#include <stdlib.h>

#include "formats/common/tree.h"
#include "formats/zts/names.h"
#include "formats/zts/parts.h"
#include "formats/zts/records.h"

static int fill_item_tree(const struct zts_tree *tree, const zts_sum *self_ns,
	const uint32_t *index, struct pm_item_tree *ret)
{
	size_t size = tree->n * sizeof(uint64_t);
	const struct zts_call *root = &tree->calls[0];
	ret->start_ns = malloc(size);
	ret->inclusive_ns = malloc(size);
	ret->exclusive_ns = malloc(size);
	if (!ret->start_ns || !ret->inclusive_ns || !ret->exclusive_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		int64_t duration_ns;
		uint64_t ticks = call->tstart > root->tstart ? call->tstart - root->tstart : 0;
		ret->start_ns[index[i]] = ticks * ZTS_TICK_NS;
		bool ended = zts_call_duration(call, &duration_ns);
		ret->inclusive_ns[index[i]] = !ended ? PM_NO_TIME
			: duration_ns > 0            ? (uint64_t)duration_ns
						     : 0;
		/* Overlapping children of one call, each as long as can be: nothing that is drawn.
		 */
		ret->exclusive_ns[index[i]] =
			self_ns[i] < INT64_MIN ? INT64_MIN : (int64_t)self_ns[i];
	}
	return 0;
}

static int build_item_tree(
	const struct zts *z, const struct zts_tree *tree, struct pm_tree_builder *b)
{
	struct pm_text name = {0};
	for (uint32_t i = 0; i < tree->n && !name.failed; i++) {
		const struct zts_call *call = &tree->calls[i];
		pm_text_clear(&name);
		zts_name_method(zts_texts_of(z, call->store), call->method, &name);
		struct pm_frame frame = {.kind = PM_KIND_FUNCTION,
			.function = PM_NONE,
			.name = pm_tree_text(b, pm_text_view(&name), true)};
		pm_tree_add(b, call->parent, pm_tree_intern(b, &frame), 0);
	}
	int r = pm_text_status(&name);
	pm_text_done(&name);
	return r;
}

int zts_trace_item_tree(
	const struct zts *z, uint32_t trace, struct pm_item_tree *ret, struct pm_error *err)
{
	const struct zts_tree *tree;
	uint32_t *index = NULL;
	*ret = (struct pm_item_tree){.tree = NULL};
	int r = zts_get_tree(z, trace, &tree, err);
	if (r < 0)
		return r;
	struct pm_tree_builder *b = pm_tree_builder_new();
	zts_sum *self_ns = zts_tree_self(tree);
	r = b && self_ns ? 0 : -ENOMEM;
	if (r == 0)
		r = build_item_tree(z, tree, b);
	if (r == 0) {
		r = pm_tree_freeze(b, NULL, &ret->tree, &index, err);
		b = NULL;
	}
	if (r == 0)
		r = fill_item_tree(tree, self_ns, index, ret);
	pm_tree_builder_free(b);
	free(index);
	free(self_ns);
	zts_release_tree(z, tree);
	if (r < 0) {
		pm_item_tree_done(ret);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for a trace");
	}
	return 0;
}
