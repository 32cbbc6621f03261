/* Reads tables through their cursors, without parsing text. */
#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/text.h"

static void must(bool good)
{
	if (good)
		return;
	fprintf(stderr, "conformance: no memory\n");
	abort();
}

static double number_of(const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_U64:
	case PM_CELL_HEX:
	case PM_CELL_ID: return (double)cell->u;
	case PM_CELL_I64: return (double)cell->i;
	case PM_CELL_F64: return isfinite(cell->f) ? cell->f : 0;
	case PM_CELL_EMPTY:
	case PM_CELL_TEXT: break;
	}
	return 0;
}

static void add_row(struct sheet *s, const struct pm_cell *cells)
{
	size_t n = (size_t)s->n_columns;
	must(pm_list_room(&s->cells, s->n, &s->room, n * sizeof(*s->cells)) == 0);
	for (size_t i = 0; i < n; i++) {
		struct sheet_cell *cell = &s->cells[s->n * n + i];
		*cell = (struct sheet_cell){
			.number = number_of(&cells[i]), .is_empty = cells[i].kind == PM_CELL_EMPTY};
		if (cells[i].kind == PM_CELL_TEXT) {
			cell->text = pm_arena_copy(&s->arena, cells[i].text);
			must(cell->text.p);
		}
	}
	s->n++;
}

static int read_rows(struct sheet *s, const struct pm_table *table)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_rows rows;
	must(cells);
	int r = pm_rows_start(&rows, table, 0, &err);
	while (r == 0 && (r = pm_rows_next(&rows, cells, &err)) > 0) {
		add_row(s, cells);
		r = 0;
	}
	pm_rows_done(&rows);
	free(cells);
	return r;
}

/* The table's own may go with it. */
static void copy_columns(struct sheet *s, const struct pm_table *table)
{
	const char **columns = pm_arena_array(&s->arena, table->n_columns, sizeof(*columns));
	must(columns);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		columns[i] = pm_arena_printf(&s->arena, "%s", pm_table_column(table, i));
		must(columns[i]);
	}
	s->columns = columns;
	s->n_columns = (int)table->n_columns;
}

bool sheet_read(struct pmfs_instance *in, const char *name, struct sheet *ret)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	struct pm_doc doc;
	*ret = (struct sheet){.n = 0};
	if (pmfs_tree_walk(in->tree, name, &entry, &err) < 0 ||
		pmfs_tree_document(in->tree, entry.node, &doc, &err) < 0)
		return false;
	bool good = doc.kind == PM_DOC_CSV;
	if (good) {
		copy_columns(ret, &doc.table);
		good = read_rows(ret, &doc.table) == 0;
	}
	pmfs_tree_release(in->tree, entry.node);
	if (!good)
		sheet_done(ret);
	return good;
}

void sheet_done(struct sheet *s)
{
	free(s->cells);
	pm_arena_done(&s->arena);
	*s = (struct sheet){.n = 0};
}

int sheet_column(const struct sheet *s, const char *name)
{
	for (int i = 0; i < s->n_columns; i++)
		if (strcmp(s->columns[i], name) == 0)
			return i;
	return SHEET_NONE;
}

double sheet_sum(const struct sheet *s, int column)
{
	double sum = 0;
	for (size_t i = 0; column != SHEET_NONE && i < s->n; i++)
		sum += sheet_at(s, i, column)->number;
	return sum;
}

bool sheet_is_empty(const struct sheet *s, int column)
{
	for (size_t i = 0; column != SHEET_NONE && i < s->n; i++)
		if (!sheet_at(s, i, column)->is_empty)
			return false;
	return true;
}

char *sheet_text(struct pmfs_instance *in, pm_node node, size_t *ret_len)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_text text = {.p = NULL};
	struct pm_doc doc;
	*ret_len = 0;
	if (pmfs_tree_document(in->tree, node, &doc, &err) < 0 || doc.kind != PM_DOC_TEXT ||
		doc.text.render(&doc, &text, &err) < 0 || text.failed) {
		pm_text_done(&text);
		return NULL;
	}
	pm_text_char(&text, '\0');
	must(!text.failed);
	*ret_len = text.len - 1;
	return (char *)text.p;
}
