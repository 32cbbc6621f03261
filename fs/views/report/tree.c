/* The call tree, downwards and upwards. */
#include "fs/views/report/data.h"

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

/* ---- children of a context, dearest first ---- */

/* What rows are made of. */
struct tree_rows {
	const uint8_t *categories;
	const struct pmfs_functions *functions;
	const struct pmfs_colours *colours;
	pm_number *cells;
};

static struct tree_rows tree_rows_of(struct pmfs_report *r)
{
	struct tree_rows t = {.cells = pmfs_cells_new(r->a, r->columns->n)};
	pmfs_report_check(r, pmfs_categories(r->model, &t.categories, r->err));
	pmfs_report_check(r, pmfs_functions(r->model, &t.functions, r->err));
	pmfs_report_check(r, pmfs_colours(r->model, &t.colours, r->err));
	return t;
}

/*
 * [context, number, name, kind, category, module, file, line, has children, [cells], row of the
 * function, colour, number of the file]
 */
static void write_child(struct pmfs_report *r, const struct tree_rows *t, uint32_t context)
{
	const struct pm_tree *tree = r->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	const struct pmfs_functions *f = t->functions;
	uint32_t row = pmfs_is_call(f->identity, context)
		? f->row[pmfs_function_of(f->identity, context)]
		: PM_NONE;
	pmfs_report_check(r, pmfs_run_cells(r->model, context, false, t->cells, r->err));
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
}

/* {rows, more: is there another page} */
static void write_children(struct pmfs_report *r, uint32_t first, uint32_t end)
{
	uint64_t skip = (uint64_t)r->n[1] * PMFS_REPORT_ROWS, n = 0;
	struct tree_rows t = tree_rows_of(r);
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	uint32_t i = first;
	for (; i < end && n < skip + PMFS_REPORT_ROWS; i = r->tree->end[i], n++)
		if (n >= skip)
			write_child(r, &t, i);
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "more");
	pm_json_bool(&r->json, i < end);
	pm_json_close(&r->json, '}');
}

/* The context and those above it, from the top on. */
void pmfs_report_path(struct pmfs_report *r)
{
	const struct pm_tree *tree = r->tree;
	uint32_t n = 0;
	if (r->n[0] >= tree->n_contexts) {
		pm_json_null(&r->json);
		return;
	}
	struct tree_rows t = tree_rows_of(r);
	uint32_t *path = pm_arena_array(r->a, (size_t)tree->depth[r->n[0]] + 1, sizeof(*path));
	for (uint32_t i = r->n[0]; i != PM_NONE; i = tree->parent[i])
		path[n++] = i;
	pm_json_open(&r->json, '[');
	for (uint32_t k = 0; n > 0 && k < PM_LIMIT_STACK_LEVELS; k++)
		write_child(r, &t, path[--n]);
	pm_json_close(&r->json, ']');
}

void pmfs_report_children(struct pmfs_report *r)
{
	const struct pm_tree *tree = r->tree;
	if (r->n[0] > tree->n_contexts)
		pm_json_null(&r->json);
	else if (r->n[0] == 0)
		write_children(r, 0, tree->n_contexts);
	else
		write_children(r, r->n[0], tree->end[r->n[0] - 1]);
}

/*
 * ---- the bottom-up tree ----
 *
 * A node is a path of functions that ends in a function, and has the own cost of all contexts
 * whose path ends so; below it are the paths with one more caller. What it costs is the sum of
 * what is below it.
 */

struct bottom {
	struct pm_arena *a;
	const struct pmfs_functions *f;
	uint32_t *path; /* functions, from the innermost on */
	uint32_t n;
	struct pmfs_sums sums;
	struct pm_map rows; /* caller → row; PM_NONE: nobody */
	struct caller {
		uint32_t function, context; /* one of the contexts whose path ends so */
	} * callers;
	size_t room;
};

/* The instance of a function that is nearest above the context, or PM_NONE. */
static uint32_t caller_of(const struct pmfs_identity *id, uint32_t context)
{
	uint32_t i = id->tree->parent[context];
	while (i != PM_NONE && !pmfs_is_call(id, i))
		i = id->tree->parent[i];
	return i;
}

/* The first caller of the function that has the context's own cost, or PM_NONE. */
static uint32_t first_caller(const struct pmfs_identity *id, uint32_t context)
{
	uint32_t function = pmfs_function_of(id, context), i = context;
	if (!pmfs_is_call(id, i))
		i = caller_of(id, i);
	return i == PM_NONE || pmfs_function_of(id, i) != function ? i : caller_of(id, i);
}

/* False if the path of the context is shorter. */
static bool take_path(struct bottom *b, uint32_t context)
{
	const struct pmfs_identity *id = b->f->identity;
	uint32_t i = first_caller(id, context);
	b->path[0] = pmfs_function_of(id, context);
	for (uint32_t k = 1; k < b->n; k++, i = caller_of(id, i)) {
		if (i == PM_NONE)
			return false;
		b->path[k] = pmfs_function_of(id, i);
	}
	return true;
}

/* The row of a caller (PM_NONE: nobody), new or known. */
static uint32_t row_of(struct bottom *b, uint32_t caller, uint32_t context)
{
	bool fresh;
	uint32_t row = *pm_map_put(&b->rows, caller, b->sums.n, &fresh);
	if (fresh) {
		pm_list_grow(b->a, &b->callers, row, &b->room, sizeof(*b->callers));
		b->callers[row] = (struct caller){caller, context};
		pmfs_sums_row(&b->sums);
	}
	return row;
}

static void place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct bottom *b = self;
	const struct pmfs_identity *id = b->f->identity;
	share->row = PM_NONE;
	if (pmfs_function_of(id, context) != b->path[0])
		return;
	uint32_t i = first_caller(id, context);
	for (uint32_t k = 1; k < b->n; k++, i = caller_of(id, i))
		if (i == PM_NONE || pmfs_function_of(id, i) != b->path[k])
			return;
	share->row = row_of(b, i == PM_NONE ? PM_NONE : pmfs_function_of(id, i), context);
}

/* Where only edges are known: those of the function, from whoever calls it. */
static void add_edges(struct pmfs_report *r, struct bottom *b)
{
	const struct pmfs_calls *calls;
	pmfs_report_check(r, pmfs_calls(r->model, &calls, r->err));
	uint32_t function = b->path[0];
	for (uint32_t i = calls->callee_first[function]; i < calls->callee_first[function + 1];
		i++) {
		uint32_t call = calls->by_callee[i], caller = calls->calls[call].caller;
		uint32_t row = row_of(b, caller, r->n[0]);
		pmfs_add_cells(r->columns, b->sums.cells + (size_t)row * r->columns->n,
			calls->cells + (size_t)call * r->columns->n, false);
	}
}

/* {rows: [row of the caller, or -1; context, [cells]], n: how many there are} */
static void write_rows(struct pmfs_report *r, const struct bottom *b)
{
	uint32_t n = b->sums.n,
		 *order = pmfs_order(
			 r->a, b->sums.cells, n, r->columns->n, pmfs_order_column(r->columns));
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "n");
	pm_json_u64(&r->json, n);
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < n && i < PMFS_REPORT_ROWS; i++) {
		const struct caller *c = &b->callers[order[i]];
		uint32_t row = c->function == PM_NONE ? PM_NONE : b->f->row[c->function];
		pm_json_open(&r->json, '[');
		pm_json_i64(&r->json, row == PM_NONE ? -1 : (int64_t)row);
		pm_json_u64(&r->json, c->context);
		pmfs_report_cells(r, b->sums.cells + (size_t)order[i] * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_close(&r->json, '}');
}

void pmfs_report_up(struct pmfs_report *r)
{
	struct bottom b = {.a = r->a,
		.n = r->n[1] + 1,
		.sums = {.arena = r->a, .columns = r->columns},
		.rows.arena = r->a};
	struct pmfs_grouping g = {.model = r->model,
		.tree = r->tree,
		.end = r->tree->n_contexts,
		.place = place,
		.self = &b};
	bool edges = pmfs_costs_overlap(r->model);
	pmfs_report_check(r, pmfs_functions(r->model, &b.f, r->err));
	b.path = pm_arena_array(r->a, b.n, sizeof(*b.path));
	if (r->n[0] >= r->tree->n_contexts || (edges && b.n > 1) || !take_path(&b, r->n[0])) {
		pm_json_null(&r->json);
		return;
	}
	if (edges)
		add_edges(r, &b);
	else
		pmfs_group(&g, &b.sums, r->err);
	write_rows(r, &b);
}
