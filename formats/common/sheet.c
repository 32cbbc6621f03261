/*
 * Tables: sheets, whose rows are records in memory or decoded one by one, and the cursor of all
 * tables.
 */
#include "formats/common/sheet.h"

#include <stdlib.h>

#include "formats/common/text.h"
#include "profmount/table.h"

/* The largest value of an unsigned field, which may mean "unknown". */
static uint64_t greatest(enum pm_field field)
{
	return field == PM_FIELD_U64    ? UINT64_MAX
		: field == PM_FIELD_U32 ? UINT32_MAX
		: field == PM_FIELD_U16 ? UINT16_MAX
					: UINT8_MAX;
}

static void set_unsigned(struct pm_cell *cell, const struct pm_column *c, uint64_t u)
{
	if (c->none && u == greatest(c->field))
		pm_set_empty(cell);
	else if (c->hex)
		*cell = pm_cell_hex(u);
	else
		pm_set_u64(cell, u);
}

/* In place: see pm_set_empty. The compiler placed the members, so they are aligned. */
static void set_cell(struct pm_cell *cell, const struct pm_column *c, const void *field)
{
	switch (c->field) {
	case PM_FIELD_NONE: return;
	case PM_FIELD_BOOL: pm_set_u64(cell, *(const bool *)field); return;
	case PM_FIELD_U8: set_unsigned(cell, c, *(const uint8_t *)field); return;
	case PM_FIELD_U16: set_unsigned(cell, c, *(const uint16_t *)field); return;
	case PM_FIELD_U32: set_unsigned(cell, c, *(const uint32_t *)field); return;
	case PM_FIELD_U64: set_unsigned(cell, c, *(const uint64_t *)field); return;
	case PM_FIELD_I32: pm_set_i64(cell, *(const int32_t *)field); return;
	case PM_FIELD_I64: pm_set_i64(cell, *(const int64_t *)field); return;
	case PM_FIELD_F64: pm_set_f64(cell, *(const double *)field); return;
	case PM_FIELD_TEXT: pm_set_text(cell, *(const struct pm_bytes *)field); return;
	case PM_FIELD_STR: {
		const char *s = *(const char *const *)field;
		pm_set_text(cell, s ? pm_bytes_of(s) : (struct pm_bytes){NULL, 0});
		return;
	}
	case PM_FIELD_CHARS: pm_set_text(cell, pm_bytes_of(field)); return;
	case PM_FIELD_CELL: *cell = *(const struct pm_cell *)field; return;
	}
}

/*
 * Texts in the scratch buffer move while it grows, so cells get their slices when the row is
 * complete.
 */
static void place_texts(const struct pm_sheet *sheet, struct pm_rows *rows, struct pm_cell *cells)
{
	const uint8_t *at = (const uint8_t *)rows->scratch->p;
	for (uint32_t i = 0; i < sheet->n_columns; i++) {
		if (!sheet->columns[i].write || cells[i].kind == PM_CELL_EMPTY)
			continue;
		cells[i].text.p = at;
		if (cells[i].text.len > 0) /* NULL + n is undefined: the buffer may be empty */
			at += cells[i].text.len;
	}
}

static void set_row(const struct pm_sheet *sheet, struct pm_rows *rows, const uint8_t *record,
	struct pm_cell *cells)
{
	bool written = false;
	for (uint32_t i = 0; i < sheet->n_columns; i++) {
		const struct pm_column *c = &sheet->columns[i];
		const void *field = record + c->offset;
		size_t before = rows->scratch->len;
		if (c->known && !*(const bool *)(record + c->known - 1)) {
			pm_set_empty(&cells[i]);
		} else if (c->cell) {
			cells[i] = c->cell(rows, field);
		} else if (c->write) {
			c->write(rows, field, rows->scratch);
			pm_set_text(
				&cells[i], (struct pm_bytes){NULL, rows->scratch->len - before});
			written = true;
		} else if (c->field == PM_FIELD_NONE) {
			pm_set_u64(&cells[i], rows->row);
		} else {
			set_cell(&cells[i], c, field);
		}
	}
	if (written && !rows->scratch->failed)
		place_texts(sheet, rows, cells);
}

int pm_sheet_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_sheet *sheet = rows->table->sheet;
	_Alignas(max_align_t) uint8_t room[PM_RECORD_ROOM];
	struct pm_record record = {room, room};
	uint64_t at = rows->at;
	int r = sheet->record(rows, &record, err);
	if (r <= 0)
		return r;
	set_row(sheet, rows, record.p, cells);
	if (rows->at == at)
		rows->at++;
	return 1;
}

struct pm_table pm_sheet_table(const struct pm_sheet *sheet, const void *self, uint64_t a)
{
	return (struct pm_table){.type = &sheet->type,
		.n_columns = sheet->n_columns,
		.sheet = sheet,
		.self = self,
		.a = a};
}

struct pm_named_doc pm_sheet_document(const struct pm_sheet *sheet, const void *self, uint64_t a)
{
	return (struct pm_named_doc){sheet->path, pm_doc_csv(pm_sheet_table(sheet, self, a))};
}

/* ==== the cursor of all tables: what struct pm_table_type guarantees to its callbacks ==== */

const char *pm_table_column(const struct pm_table *table, uint32_t i)
{
	return table->columns ? table->columns[i] : table->sheet->columns[i].name;
}

int pm_rows_start(
	struct pm_rows *rows, const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	*rows = (struct pm_rows){.table = table, .at = at};
	rows->scratch = calloc(1, sizeof(*rows->scratch));
	if (!rows->scratch)
		return pm_error_plain(err, -ENOMEM);
	return table->type->start ? table->type->start(rows, err) : 0;
}

int pm_rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	pm_text_clear(rows->scratch);
	rows->row = rows->at;
	int r = rows->table->type->next(rows, cells, err);
	if (r > 0 && rows->scratch->failed)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a row");
	return r;
}

void pm_rows_done(struct pm_rows *rows)
{
	if (rows->table && rows->table->type->done && rows->own)
		rows->table->type->done(rows);
	else
		free(rows->own);
	if (rows->scratch)
		pm_text_done(rows->scratch);
	free(rows->scratch);
	*rows = (struct pm_rows){.table = NULL};
}

static void end_rows(void *rows)
{
	pm_rows_done(rows);
}

struct pm_table_reader *pm_table_read(
	struct pm_arena *a, const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	struct pm_table_reader *r = pm_arena_alloc(a, sizeof(*r));
	r->table = *table;
	if (table->type->columns)
		pm_build_check(a, table->type->columns(&r->table, err));
	r->cells = pm_arena_array(a, (size_t)r->table.n_columns + 1, sizeof(*r->cells));
	pm_arena_owns(a, end_rows, &r->rows);
	pm_build_check(a, pm_rows_start(&r->rows, &r->table, at, err));
	return r;
}

bool pm_table_next(struct pm_arena *a, struct pm_table_reader *r, struct pm_error *err)
{
	if (r->n++ % 1024 == 0) /* a table may have many millions of rows */
		pm_build_proceed(a);
	int more = pm_rows_next(&r->rows, r->cells, err);
	pm_build_check(a, more);
	return more > 0;
}
