#include "self.h"

#include <stdlib.h>
#include <string.h>

#include "fs/compare/compare.h"

static int acquire(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err)
{
	(void)run;
	(void)err;
	*ret = self;
	return 0;
}

static void release(void *self, uint32_t run)
{
	(void)self;
	(void)run;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n >= m && strcmp(name + n - m, end) == 0;
}

static const char *cell_breach(const char *column, const struct pm_cell *cell)
{
	bool is_number = cell->kind == PM_CELL_F64;
	if (ends_with(column, "_diff") && is_number && cell->f != 0)
		return "a run compared with itself has a difference";
	if (ends_with(column, "_ratio") && is_number && cell->f != 1)
		return "a run compared with itself has a ratio that is not 1";
	if (strcmp(column, "only_in") == 0 && cell->text.len > 0)
		return "a run compared with itself has what only one side has";
	return NULL;
}

static const char *table_breach(struct pm_table table)
{
	struct pm_error err = {.code = 0};
	struct pm_rows rows;
	const char *breach = NULL;
	if (table.type->columns && table.type->columns(&table, &err) < 0)
		return NULL; /* a source that cannot be read says so elsewhere */
	struct pm_cell *cells = calloc(table.n_columns + 1, sizeof(*cells));
	int r = cells ? pm_rows_start(&rows, &table, 0, &err) : -ENOMEM;
	while (!breach && r >= 0 && (r = pm_rows_next(&rows, cells, &err)) > 0)
		for (uint32_t i = 0; !breach && i < table.n_columns; i++)
			breach = cell_breach(pm_table_column(&table, i), &cells[i]);
	if (cells)
		pm_rows_done(&rows);
	free(cells);
	return breach;
}

static const char *text_breach(const struct pm_named_doc *doc)
{
	struct pm_error err = {.code = 0};
	struct pm_text text = {.p = NULL};
	const char *breach = NULL;
	int r = doc->doc.text.render(&doc->doc, &text, &err);
	if (r < 0 && r != err.code)
		breach = "a text of a comparison fails without a reason";
	else if (r == 0 && text.len == 0 && ends_with(doc->path, ".svg"))
		breach = "a picture of a comparison is empty";
	pm_text_done(&text);
	return breach;
}

const char *self_breach(struct pmfs_instance *in)
{
	static const uint32_t runs[2] = {0, 1};
	struct pmfs_comparison of = {.lender = {acquire, release, in->model},
		.base_name = "before",
		.name = "after",
		.base = &runs[0],
		.runs = &runs[1],
		.n_base = 1,
		.n_runs = 1};
	const struct pm_named_doc *docs;
	struct pm_profile *p;
	const char *breach = NULL;
	size_t n = 0;
	if (pmfs_compare_new(&of, &p, NULL) < 0)
		return "no memory";
	if (pm_profile_documents(p, &docs, &n, NULL) < 0)
		n = 0;
	for (size_t i = 0; !breach && i < n; i++)
		breach = docs[i].doc.kind == PM_DOC_TEXT ? text_breach(&docs[i])
							 : table_breach(docs[i].doc.table);
	p->ops->close(p);
	return breach;
}
