/* The children of a context, dearest first. */
#include "formats/common/tree.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

#include <stdlib.h>

/* What rows are made of. */
struct tree_rows {
	const uint8_t *categories;
	const struct pmfs_functions *functions;
	const struct pmfs_colours *colours;
	double *cells;
};

/* Free the cells in any case. */
static int tree_rows_start(struct pmfs_report *r, struct tree_rows *ret, struct pm_error *err)
{
	*ret = (struct tree_rows){.cells = pmfs_cells_new(r->columns->n)};
	int e = ret->cells ? 0 : pmfs_no_memory(err);
	if (e == 0)
		e = pmfs_categories(r->model, &ret->categories, err);
	if (e == 0)
		e = pmfs_functions(r->model, &ret->functions, err);
	return e < 0 ? e : pmfs_colours(r->model, &ret->colours, err);
}

/*
 * [context, number, name, kind, category, module, file, line, has children, [cells], row of the
 * function, colour, number of the file]
 */
static int write_child(
	struct pmfs_report *r, const struct tree_rows *t, uint32_t context, struct pm_error *err)
{
	const struct pm_tree *tree = r->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	const struct pmfs_functions *f = t->functions;
	uint32_t row = pmfs_is_call(f->identity, context)
		? f->row[pmfs_function_of(f->identity, context)]
		: PM_NONE;
	int e = pmfs_run_cells(r->model, context, false, t->cells, err);
	if (e < 0)
		return e;
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, context);
	pm_json_u64(&r->json, pm_tree_number(tree, context));
	pm_text_clear(&r->scratch);
	pm_json_text(&r->json, pmfs_frame_name(tree, frame, &r->scratch));
	pm_text_clear(&r->scratch);
	pm_json_text(&r->json, pmfs_frame_kind(frame, &r->scratch));
	pm_json_text(&r->json, pmfs_category_name((enum pmfs_category)t->categories[context]));
	pm_json_text(&r->json, tree->texts[frame->module]);
	pm_json_text(&r->json, tree->texts[frame->file]);
	pm_json_u64(&r->json, frame->line);
	pm_json_bool(&r->json, tree->end[context] > context + 1);
	pmfs_report_cells(r, t->cells);
	pm_json_i64(&r->json, row == PM_NONE ? -1 : (int64_t)row);
	pm_json_u64(&r->json,
		row == PM_NONE ? PMFS_N_COLOURS
			       : pmfs_colour_of(t->colours, pmfs_function_name(f, row)));
	pm_json_u64(&r->json, frame->file);
	pm_json_close(&r->json, ']');
	return 0;
}

/* {rows, more: is there another page} */
static int write_children(struct pmfs_report *r, uint32_t first, uint32_t end, struct pm_error *err)
{
	uint64_t skip = (uint64_t)r->n[1] * PMFS_REPORT_ROWS, n = 0;
	struct tree_rows t;
	int e = tree_rows_start(r, &t, err);
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	uint32_t i = first;
	for (; e == 0 && i < end && n < skip + PMFS_REPORT_ROWS; i = r->tree->end[i], n++)
		if (n >= skip)
			e = write_child(r, &t, i, err);
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "more");
	pm_json_bool(&r->json, i < end);
	pm_json_close(&r->json, '}');
	free(t.cells);
	return e;
}

/* The context and those above it, from the top on. */
int pmfs_report_path(struct pmfs_report *r, struct pm_error *err)
{
	struct tree_rows t;
	uint32_t n = 0, *path = NULL;
	if (r->n[0] >= r->tree->n_contexts) {
		pm_json_null(&r->json);
		return 0;
	}
	int e = tree_rows_start(r, &t, err);
	if (e == 0 && !(path = pm_tree_path(r->tree, r->n[0], &n)))
		e = pmfs_no_memory(err);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; e == 0 && i < n && i < PM_LIMIT_STACK_LEVELS; i++)
		e = write_child(r, &t, path[i], err);
	pm_json_close(&r->json, ']');
	free(t.cells);
	free(path);
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
