/* The texts about one context: its identity, and the path to it; and hotpath.txt. */
#include "formats/common/tree.h"
#include "fs/views/model/catalog.h"
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

static void write_info(const struct pmfs_writing *w)
{
	uint32_t context = (uint32_t)w->doc->text.a;
	const struct pm_tree *tree;
	struct pm_text scratch = {.arena = w->a};
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	pm_text_printf(w->out, "context_id: %u\n", pm_tree_number(tree, context));
	add_frame(w->out, tree, pm_tree_frame(tree, context), &scratch);
	if (tree->parent[context] != PM_NONE) {
		const struct pm_frame *above = pm_tree_frame(tree, tree->parent[context]);
		pm_text_str(w->out, "called from: ");
		pmfs_add_name(w->out, tree, above, &scratch);
		if (tree->texts[above->file].len) {
			pm_text_str(w->out, " at ");
			pmfs_add_place(w->out, tree->texts[above->file], above->line);
		}
		pm_text_char(w->out, '\n');
	}
	pm_text_printf(w->out, "path depth: %u\n", tree->depth[context]);
}

int pmfs_context_info_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_info, out, err);
}

/* ---- path.txt ---- */

static void write_path(const struct pmfs_writing *w)
{
	const struct pm_tree *tree;
	struct pm_text scratch = {.arena = w->a};
	uint32_t n;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	const uint32_t *path = pm_tree_path(w->a, tree, (uint32_t)w->doc->text.a, &n);
	for (uint32_t i = 0; i < n; i++)
		pmfs_add_stop(w->out, tree, path[i], &scratch);
}

int pmfs_context_path_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_path, out, err);
}

/* ---- hotpath.txt: the most expensive call path, one step per line ---- */

static void write_hotpath(const struct pmfs_writing *w)
{
	struct pm_text scratch = {.arena = w->a};
	const struct pm_tree *tree;
	const struct pmfs_totals *totals;
	uint32_t n;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	pm_build_check(w->a, pmfs_totals(w->model, &totals, w->err));
	const struct pmfs_hot *path =
		pmfs_hotpath(w->a, w->model, totals->columns->first_incl, &n, w->err);
	for (uint32_t i = 0; i < n; i++) {
		pm_text_printf(w->out, "%.1f%%\t", 100 * path[i].value / totals->busy);
		pm_text_f64(w->out, path[i].value);
		pm_text_char(w->out, '\t');
		pmfs_add_stop(w->out, tree, path[i].context, &scratch);
	}
}

int pmfs_hotpath_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_hotpath, out, err);
}
