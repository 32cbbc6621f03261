/* lines.csv: costs by source line. A row's position is its number. */
#include "fs/views/sums/lines.h"

#include <math.h>

#include "formats/common/search.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"

/* Texts that lines compile while the program runs are files of their own: here is who ran them. */
static bool has_evals(const struct pm_flat *flat)
{
	return flat->evals && flat->evals->n > 0 && flat->statements;
}

static struct pm_cell *eval_cells(
	const struct pmfs_lines *l, const struct pm_line *line, struct pm_cell *cells)
{
	const struct pm_evals *e = l->evals;
	uint64_t n = 0,
		 i = PM_LOWER_BOUND(k, (uint64_t)0, e->n,
			 e->evals[k].file < line->file ||
				 (e->evals[k].file == line->file && e->evals[k].line < line->line));
	pm_number ns = NAN;
	pm_set_empty(&cells[0]);
	for (; i < e->n && e->evals[i].file == line->file && e->evals[i].line == line->line; i++) {
		n += e->evals[i].n;
		if (l->statements != PM_NONE)
			pmfs_add(&ns, pmfs_lines_statements(l, e->evals[i].text));
		pm_set_u64(&cells[0], n);
	}
	cells[1] = pmfs_cell(ns);
	return cells + 2;
}

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
	if (rows->table->a)
		cells = eval_cells(l, line, cells);
	if (pmfs_texts_are_joined(l->evals))
		*cells++ = pmfs_texts_cell(l->evals, line->file);
	const struct pmfs_function *function =
		line->function == PM_NONE ? NULL : &l->identity->functions[line->function];
	*cells++ = function ? pm_cell_lasting(l->tree->texts[function->module]) : pm_cell_empty();
	*cells++ = pm_cell_lasting(l->tree->texts[line->file]);
	*cells++ = function ? pm_cell_lasting(function->name) : pm_cell_empty();
	return 1;
}

int pmfs_lines_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = lines_next, .dense = true};
	static const char *const before[] = {"line", NULL};
	static const char *const after[] = {"texts", "module", "file", "name", NULL};
	static const char *const joined[] = {
		"evals", "evals_ns", "texts", "module", "file", "name", NULL};
	static const char *const apart[] = {"evals", "evals_ns", "module", "file", "name", NULL};
	const struct pm_flat *flat;
	(void)item;
	int r = pmfs_model_flat(m, &flat, err);
	if (r < 0)
		return r;
	bool texts = pmfs_texts_are_joined(flat->evals), evals = has_evals(flat);
	r = pmfs_table_with_metrics(m, &type, before,
		!evals          ? after + !texts
			: texts ? joined
				: apart,
		ret, err);
	ret->a = evals;
	return r;
}

int pmfs_has_lines(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_lines;
}
