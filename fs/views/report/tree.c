/* The children of a context, dearest first. */
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/report/data.h"

#include <stdlib.h>

/* [context, number, name, kind, category, module, file, line, has children, [cells]] */
static int write_child(struct pmfs_report *r, const uint8_t *categories, uint32_t context,
	double *cells, struct pm_error *err)
{
	const struct pm_tree *tree = r->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	int e = pmfs_run_cells(r->model, context, false, cells, err);
	if (e < 0)
		return e;
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, context);
	pm_json_u64(&r->json, pm_tree_number(tree, context));
	pm_text_clear(&r->scratch);
	pm_json_text(&r->json, pmfs_frame_name(tree, frame, &r->scratch));
	pm_text_clear(&r->scratch);
	pm_json_text(&r->json, pmfs_frame_kind(frame, &r->scratch));
	pm_json_text(&r->json, pmfs_category_name((enum pmfs_category)categories[context]));
	pm_json_text(&r->json, tree->texts[frame->module]);
	pm_json_text(&r->json, tree->texts[frame->file]);
	pm_json_u64(&r->json, frame->line);
	pm_json_bool(&r->json, tree->end[context] > context + 1);
	pmfs_report_cells(r, cells);
	pm_json_close(&r->json, ']');
	return 0;
}

/* {rows, more: is there another page} */
static int write_children(struct pmfs_report *r, uint32_t first, uint32_t end, struct pm_error *err)
{
	uint64_t skip = (uint64_t)r->n[1] * PMFS_REPORT_ROWS, n = 0;
	const uint8_t *categories;
	int e = pmfs_categories(r->model, &categories, err);
	double *cells = pmfs_cells_new(r->columns->n);
	if (e == 0 && !cells)
		e = pmfs_no_memory(err);
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	uint32_t i = first;
	for (; e == 0 && i < end && n < skip + PMFS_REPORT_ROWS; i = r->tree->end[i], n++)
		if (n >= skip)
			e = write_child(r, categories, i, cells, err);
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "more");
	pm_json_bool(&r->json, i < end);
	pm_json_close(&r->json, '}');
	free(cells);
	return e;
}

int pmfs_report_children(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_tree *tree = r->tree;
	if (r->n[0] > tree->n_contexts) {
		pm_json_null(&r->json);
		return 0;
	}
	if (r->n[0] == 0)
		return write_children(r, 0, tree->n_contexts, err);
	uint32_t context = r->n[0] - 1;
	return write_children(r, context + 1, tree->end[context], err);
}
