/*
 * lines.csv: what each source line costs, summed over the contexts that are lines, or taken from
 * the format. One row for each file and line; the name is that of the function around it where it
 * was first met. A row's position is its number.
 */
#include "fs/views/lines.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/catalog.h"
#include "fs/views/flat.h"
#include "fs/views/tables.h"

struct lines_part {
	struct pmfs_lines lines;
	struct pmfs_sums sums;
	struct pm_line *rows;
	size_t room;
	uint32_t *order, *by_place;
	struct pm_map known; /* file and line → row */
};

static void lines_free(void *p)
{
	struct lines_part *part = p;
	pmfs_sums_done(&part->sums);
	pm_map_done(&part->known);
	free(part->rows);
	free(part->order);
	free(part->by_place);
	free(part);
}

/* The row of a line, new or known. */
static int find_row(struct lines_part *part, const struct pm_line *line, uint32_t *ret)
{
	bool fresh;
	uint64_t key = (uint64_t)line->file << 32 | line->line;
	uint32_t *row = pm_map_put(&part->known, key, part->sums.n, &fresh);
	if (!row)
		return -ENOMEM;
	*ret = *row;
	if (!fresh)
		return 0;
	if (pm_list_room(&part->rows, part->sums.n, &part->room, sizeof(*part->rows)) < 0)
		return -ENOMEM;
	part->rows[part->sums.n] = *line;
	return pmfs_sums_row(&part->sums, ret);
}

/* ---- from the contexts ---- */

static int sum_lines(struct pmfs_model *m, struct lines_part *part, uint32_t *functions,
	double *cells, struct pm_error *err)
{
	const struct pm_tree *tree = part->lines.tree;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		uint32_t depth = tree->depth[i], row;
		uint32_t around = depth > 0 ? functions[depth - 1] : PM_NONE;
		functions[depth] = frame->function != PM_NONE ? frame->function : around;
		if (frame->kind != PM_KIND_LINE)
			continue;
		struct pm_line line = {frame->file, frame->line, functions[depth]};
		if (find_row(part, &line, &row) < 0)
			return pmfs_no_memory(err);
		int r = pmfs_run_cells(m, i, true, cells, err);
		if (r < 0)
			return r;
		pmfs_sums_add(&part->sums, row, i, tree->end[i], cells);
	}
	return 0;
}

static int lines_of_contexts(struct pmfs_model *m, struct lines_part *part, struct pm_error *err)
{
	size_t height = pmfs_tree_height(part->lines.tree);
	uint32_t *functions = malloc((height + 1) * sizeof(*functions));
	double *cells = pmfs_cells_new(part->lines.columns->n);
	int r = functions && cells ? sum_lines(m, part, functions, cells, err)
				   : pmfs_no_memory(err);
	free(functions);
	free(cells);
	return r;
}

/* ---- from the format ---- */

static int lines_of_format(struct pmfs_model *m, struct lines_part *part, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_columns *c = part->lines.columns;
	const struct pm_metrics *metrics;
	const struct pm_lines *native;
	uint32_t row;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0 || (r = p->ops->lines(p, &native, err)) < 0)
		return r;
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint64_t i = 0; i < native->n && r == 0; i++) {
		if (find_row(part, &native->lines[i], &row) < 0)
			r = pmfs_no_memory(err);
		else {
			pmfs_native_cells(c, metrics, native->values + i * metrics->n, cells);
			pmfs_sums_add(&part->sums, row, 0, 0, cells);
		}
	}
	free(cells);
	return r;
}

/* ---- the part ---- */

static int by_place(const void *a, const void *b, void *lines)
{
	const struct pm_line *x = (const struct pm_line *)lines + *(const uint32_t *)a;
	const struct pm_line *y = (const struct pm_line *)lines + *(const uint32_t *)b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int sort_lines(struct lines_part *part)
{
	uint32_t n = part->sums.n;
	const struct pmfs_columns *c = part->lines.columns;
	part->order = pmfs_order(part->sums.cells, n, c->n, pmfs_order_column(c));
	part->by_place = malloc(((size_t)n + 1) * sizeof(*part->by_place));
	if (!part->order || !part->by_place)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		part->by_place[i] = i;
	if (n > 0)
		qsort_r(part->by_place, n, sizeof(*part->by_place), by_place, part->rows);
	return 0;
}

static int lines_build(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	struct lines_part *part = calloc(1, sizeof(*part));
	if (!part)
		return pmfs_no_memory(err);
	struct pmfs_lines *l = &part->lines;
	int r = pmfs_model_tree(m, &l->tree, err);
	if (r == 0)
		r = pmfs_model_columns(m, &l->columns, err);
	part->sums.columns = l->columns;
	if (r == 0)
		r = pmfs_model_profile(m)->ops->lines ? lines_of_format(m, part, err)
						      : lines_of_contexts(m, part, err);
	if (r == 0 && sort_lines(part) < 0)
		r = pmfs_no_memory(err);
	if (r < 0) {
		lines_free(part);
		return r;
	}
	pm_map_done(&part->known);
	part->known = (struct pm_map){.n = 0};
	l->n = part->sums.n;
	l->lines = part->rows;
	l->cells = part->sums.cells;
	l->order = part->order;
	l->by_place = part->by_place;
	*ret = part;
	return 0;
}

int pmfs_lines(struct pmfs_model *m, const struct pmfs_lines **ret, struct pm_error *err)
{
	static const struct pmfs_part_type type = {lines_build, lines_free};
	void *part;
	int r = pmfs_model_part(m, PMFS_PART_LINES, &type, &part, err);
	if (r < 0)
		return r;
	*ret = &((struct lines_part *)part)->lines;
	return 0;
}

uint32_t pmfs_lines_find(const struct pmfs_lines *l, uint32_t file, uint32_t line)
{
	uint32_t low = 0, high = l->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct pm_line *at = &l->lines[l->by_place[middle]];
		if (at->file < file || (at->file == file && at->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- lines.csv ---- */

static int lines_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_lines *l;
	int r = pmfs_lines(pmfs_model_of(rows->table->self), &l, err);
	if (r < 0 || rows->at >= l->n)
		return r;
	uint32_t row = l->order[rows->at++];
	const struct pm_line *line = &l->lines[row];
	pmfs_set_known(cells++, line->line, 0);
	cells = pmfs_number_cells(l->columns, l->cells + (size_t)row * l->columns->n, cells);
	*cells++ = pm_cell_text(l->tree->texts[line->file]);
	*cells++ = line->function == PM_NONE
		? pm_cell_empty()
		: pm_cell_text(l->tree->texts[l->tree->functions[line->function].name]);
	return 1;
}

static int lines_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = lines_next, .dense = true};
	static const char *const before[] = {"line", NULL};
	static const char *const after[] = {"file", "name", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

PMFS_TABLE_DOCUMENT(lines_csv, PM_DOC_CSV, lines_table)
PMFS_TABLE_DOCUMENT(lines_tsv, PM_DOC_TSV, lines_table)

static int has_lines(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_lines;
}

const struct pmfs_view pmfs_lines_csv = {
	.name = "lines.csv",
	.about = "What each source line costs, most exclusive cost first.",
	.present = has_lines,
	.document = lines_csv,
};

const struct pmfs_view pmfs_lines_tsv = {
	.name = "lines.tsv",
	.present = has_lines,
	.document = lines_tsv,
};
