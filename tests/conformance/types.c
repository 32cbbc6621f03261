/* Every cell of a table fits the type of its column, as Parquet stores it. */
#include "types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000 };

static const char *const type_names[] = {[PM_TYPE_TEXT] = "text",
	[PM_TYPE_INTEGER] = "integer",
	[PM_TYPE_FLOAT] = "float",
	[PM_TYPE_ANY] = "cell"};

static bool fits(enum pm_type type, const struct pm_cell *cell)
{
	if (type == PM_TYPE_ANY)
		return true;
	switch (cell->kind) {
	case PM_CELL_EMPTY:
	case PM_CELL_U64:
	case PM_CELL_I64: return true;
	case PM_CELL_F64:
		return type != PM_TYPE_INTEGER || !isfinite(cell->f) || cell->f == trunc(cell->f);
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: return type == PM_TYPE_TEXT;
	}
	return false;
}

/* Texts that could be numbers in every row are numbers: a type was not stated. */
static bool is_number(const struct pm_cell *cell)
{
	return cell->kind == PM_CELL_U64 || cell->kind == PM_CELL_I64 || cell->kind == PM_CELL_F64;
}

/* Words, and the numbers of those that are not defined. */
static bool is_code(const char *name)
{
	return strcmp(name, "kind") == 0;
}

struct column {
	bool has_numbers, has_others;
};

static const char *breach_of(
	const struct pm_table *table, struct pm_rows *rows, struct pm_cell *cells, struct column *c)
{
	static char said[200];
	struct pm_error err = {.offset = PM_NO_OFFSET};
	for (unsigned n = 0; n < MOST_ROWS && pm_rows_next(rows, cells, &err) > 0; n++)
		for (uint32_t i = 0; i < table->n_columns; i++) {
			enum pm_type type = pm_table_type_of(table, i);
			c[i].has_numbers |= is_number(&cells[i]);
			c[i].has_others |= cells[i].kind != PM_CELL_EMPTY && !is_number(&cells[i]);
			if (fits(type, &cells[i]))
				continue;
			snprintf(said, sizeof(said), "row %u of column %s is no %s", n,
				pm_table_column(table, i), type_names[type]);
			return said;
		}
	for (uint32_t i = 0; i < table->n_columns; i++)
		if (c[i].has_numbers && !c[i].has_others && !is_code(pm_table_column(table, i)) &&
			pm_table_type_of(table, i) == PM_TYPE_TEXT) {
			snprintf(said, sizeof(said),
				"column %s is said to be text, and has numbers",
				pm_table_column(table, i));
			return said;
		}
	return NULL;
}

const char *types_breach(struct pmfs_instance *in, pm_node node)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_doc doc;
	struct pm_rows rows;
	const char *breach = NULL;
	if (pmfs_tree_document(in->tree, node, &doc, &err) < 0)
		return NULL;
	struct pm_cell *cells = calloc((size_t)doc.table.n_columns + 1, sizeof(*cells));
	struct column *columns = calloc((size_t)doc.table.n_columns + 1, sizeof(*columns));
	if (cells && columns && doc.kind == PM_DOC_CSV) {
		if (pm_rows_start(&rows, &doc.table, 0, &err) == 0)
			breach = breach_of(&doc.table, &rows, cells, columns);
		pm_rows_done(&rows);
	}
	free(cells);
	free(columns);
	pmfs_tree_release(in->tree, node);
	return breach;
}
