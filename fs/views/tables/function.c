/* Documents of one function: identity and costs. */
#include "fs/views/sums/functions.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"

/* ---- info.txt ---- */

/*
 * How deep the function is below itself, and the inclusive cost of these instances, which its row
 * does not count again. Where only call edges are known, neither is.
 */
static int add_recursion(struct pmfs_model *m, const struct pmfs_functions *f, uint32_t row,
	struct pm_text *out, struct pm_error *err)
{
	uint32_t n = pmfs_function_count(f, row), depth = 0, deepest = 0;
	uint32_t incl = f->columns->first_incl;
	const uint32_t *contexts = f->contexts + f->first[row];
	uint32_t *ends = malloc(((size_t)n + 1) * sizeof(*ends));
	const char *kind = pm_profile_kind_of_tree(pmfs_model_profile(m));
	pm_number *cells = pmfs_cells_new(NULL, f->columns->n);
	double below = 0;
	int r = ends && cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		while (depth > 0 && contexts[i] >= ends[depth - 1])
			depth--;
		if (depth > 0 && incl != PM_NONE) {
			r = pm_work_cancelled() ? pmfs_no_memory(err)
						: pmfs_run_cells(m, contexts[i], true, cells, err);
			below += isnan(cells[incl]) ? 0 : cells[incl];
		}
		deepest = depth > deepest ? depth : deepest;
		ends[depth++] = f->tree->end[contexts[i]];
	}
	free(ends);
	free(cells);
	if (r < 0 || deepest == 0 || strcmp(kind, "edges") == 0)
		return r;
	pm_text_printf(out, "recursion_depth: %u\n", deepest);
	if (incl != PM_NONE) {
		pm_text_printf(out, "recursive_%s: ", f->columns->columns[incl].name);
		pm_text_f64(out, below);
		pm_text_char(out, '\n');
	}
	return 0;
}

int pmfs_function_info_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	uint32_t row = (uint32_t)doc->text.a;
	const struct pmfs_functions *f;
	int r = pmfs_functions(pmfs_model_of(doc->text.self), &f, err);
	if (r < 0)
		return r;
	const struct pmfs_function *function = pmfs_function_at(f, row);
	pm_text_printf(out, "function_id: %u\nname: ", pmfs_function_id(f, row));
	pm_text_line(out, pmfs_function_name(f, row));
	pm_text_char(out, '\n');
	pmfs_add_fact(out, "file", f->tree->texts[function->file]);
	if (function->line)
		pm_text_printf(out, "line: %u\n", function->line);
	pmfs_add_fact(out, "module", f->tree->texts[function->module]);
	if (function->offset)
		pm_text_printf(out, "offset: 0x%llx\n", (unsigned long long)function->offset);
	pm_text_printf(out, "contexts: %u\n", pmfs_function_count(f, row));
	r = add_recursion(pmfs_model_of(doc->text.self), f, row, out, err);
	return r < 0 ? r : pm_text_status(out);
}

/* ---- metrics.csv: position = column ---- */

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(pmfs_model_of(rows->table->self), &f, err);
	if (r < 0)
		return r;
	while (rows->at < f->columns->n) {
		uint32_t column = (uint32_t)rows->at++;
		const struct pm_metric *metric = f->columns->columns[column].flat;
		pm_number value = pmfs_function_cell(f, (uint32_t)rows->table->a, column);
		if (!metric || isnan(value))
			continue;
		cells[0] = pm_cell_u64(metric->id);
		cells[1] = pmfs_cell(value);
		cells[2] = pm_cell_text(metric->scope);
		cells[3] = pm_cell_text(metric->name);
		return 1;
	}
	return 0;
}

int pmfs_function_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "value", "scope", "name", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "?f??";
	ret->a = item;
	return 0;
}
