/* The texts about one context: its identity, and the path to it; and hotpath.txt. */
#include <stdlib.h>

#include "formats/common/tree.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/screen.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/totals.h"

/* ---- info.txt ---- */

static void add_frame(struct pm_text *out, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch)
{
	pm_text_str(out, "kind: ");
	pm_text_bytes(out, pmfs_frame_kind(frame, scratch));
	pm_text_str(out, "\nname: ");
	pmfs_add_name(out, tree, frame, scratch);
	pm_text_char(out, '\n');
	pmfs_add_fact(out, "file", tree->texts[frame->file]);
	if (frame->line)
		pm_text_printf(out, "line: %u\n", frame->line);
	pmfs_add_fact(out, "module", tree->texts[frame->module]);
	if (frame->has_offset)
		pm_text_printf(out, "offset: 0x%llx\n", (unsigned long long)frame->offset);
}

int pmfs_context_info_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	uint32_t context = (uint32_t)doc->text.a;
	const struct pm_tree *tree;
	struct pm_text scratch = {.p = NULL};
	int r = pmfs_model_tree(pmfs_model_of(doc->text.self), &tree, err);
	if (r < 0)
		return r;
	pm_text_printf(out, "context_id: %u\n", pm_tree_number(tree, context));
	add_frame(out, tree, pm_tree_frame(tree, context), &scratch);
	if (tree->parent[context] != PM_NONE) {
		const struct pm_frame *above = pm_tree_frame(tree, tree->parent[context]);
		pm_text_str(out, "called from: ");
		pmfs_add_name(out, tree, above, &scratch);
		if (tree->texts[above->file].len) {
			pm_text_str(out, " at ");
			pmfs_add_place(out, tree->texts[above->file], above->line);
		}
		pm_text_char(out, '\n');
	}
	pm_text_printf(out, "path depth: %u\n", tree->depth[context]);
	pm_text_end(&scratch, out);
	return pm_text_status(out);
}

/* ---- path.txt ---- */

int pmfs_context_path_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	uint32_t context = (uint32_t)doc->text.a;
	const struct pm_tree *tree;
	struct pm_text scratch = {.p = NULL};
	int r = pmfs_model_tree(pmfs_model_of(doc->text.self), &tree, err);
	if (r < 0)
		return r;
	uint32_t n, *path = pm_tree_path(tree, context, &n);
	if (!path)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		pmfs_add_stop(out, tree, path[i], &scratch);
	free(path);
	pm_text_end(&scratch, out);
	return pm_text_status(out);
}

/* ---- hotpath.txt: the most expensive call path, one step per line ---- */

int pmfs_hotpath_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct pm_text scratch = {.p = NULL};
	const struct pm_tree *tree;
	struct pmfs_hot *path;
	uint32_t n;
	const struct pmfs_totals *totals;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0 || (r = pmfs_totals(m, &totals, err)) < 0 ||
		(r = pmfs_hotpath(NULL, m, &path, &n, err)) < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		pm_text_printf(out, "%.1f%%\t", 100 * path[i].value / totals->busy);
		pm_text_f64(out, path[i].value);
		pm_text_char(out, '\t');
		pmfs_add_stop(out, tree, path[i].context, &scratch);
	}
	free(path);
	pm_text_end(&scratch, out);
	return pm_text_status(out);
}
