/* The contents of classes/NAME/: fields and events of a class version. */
#include <errno.h>
#include <stdlib.h>

#include "formats/htdump/parts.h"

/* ---- fields.csv: the base chain first; a row's position is its index ---- */

static const char *const field_columns[] = {"index", "size", "data_type", "type", "name"};

struct field_list {
	size_t n;
	const struct htd_field *fields[];
};

static bool is_base(const struct htd_field *f)
{
	return f->data_type == HTD_STRUCT && pm_bytes_equal(f->name, pm_bytes_of("base"));
}

static uint32_t base_of(const struct htd_table *t, uint32_t klass)
{
	const struct htd_klass *k = &t->klasses[klass];
	for (uint32_t i = 0; i < k->n_fields; i++)
		if (is_base(&k->fields[i]) && !htd_is_root(k->fields[i].type))
			return htd_table_named(t, k->fields[i].type);
	return HTD_NONE;
}

static int fields_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	const struct htd_table *t = &src->stream.table;
	uint32_t chain[HTD_LIMIT_NESTING], depth = 0;
	size_t n = 0;
	uint32_t klass = (uint32_t)rows->table->a;
	for (; klass != HTD_NONE && depth < HTD_LIMIT_NESTING; klass = base_of(t, klass)) {
		chain[depth++] = klass;
		n += t->klasses[klass].n_fields;
	}
	struct field_list *list = malloc(sizeof(*list) + n * sizeof(list->fields[0]));
	if (!list)
		return pm_error_plain(err, -ENOMEM);
	list->n = 0;
	while (depth--) {
		const struct htd_klass *k = &t->klasses[chain[depth]];
		for (uint32_t i = 0; i < k->n_fields; i++)
			if (!is_base(&k->fields[i]))
				list->fields[list->n++] = &k->fields[i];
	}
	rows->own = list;
	return 0;
}

static int fields_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct field_list *list = rows->own;
	(void)err;
	if (rows->at >= list->n)
		return 0;
	const struct htd_field *f = list->fields[rows->at];
	cells[0] = pm_cell_u64(rows->at++);
	cells[1] = pm_cell_u64(f->size);
	cells[2] = htd_data_type_cell(f->data_type);
	cells[3] = pm_cell_text(f->type);
	cells[4] = pm_cell_text(f->name);
	return 1;
}

static const struct pm_table_type fields_type = {.next = fields_next, .start = fields_start};

/* ---- events.csv: a row's position is seq ---- */

static int events_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	uint32_t klass = (uint32_t)rows->table->a;
	struct htd_filter filter = {
		.runs = &src->stream.table.klasses[klass].events, .what = klass};
	struct htd_picker *p = malloc(sizeof(*p));
	if (!p)
		return pm_error_plain(err, -ENOMEM);
	htd_picker_start(p, &src->stream, &filter, rows->at);
	rows->own = p;
	return 0;
}

/*
 * Arrays are rendered in `scratch`, one after the other; cells get their slices when all are
 * complete.
 */
static void event_cells(const struct htd_sheet *sheet, const struct htd_event *e,
	struct pm_text *scratch, struct pm_cell *cells)
{
	struct htd_fields w = {.e = e};
	const struct htd_flat *f;
	struct pm_bytes bytes;
	while (htd_fields_next(&w, &f, &bytes)) {
		struct pm_cell *cell = &cells[sheet->cell[f->column]];
		size_t before = scratch->len;
		*cell = htd_value_cell(f, bytes, e->big);
		if (f->kind == HTD_KIND_TEXT) {
			*cell = pm_cell_text(bytes);
		} else if (f->kind == HTD_KIND_ARRAY) {
			htd_value_text(scratch, f, bytes, e->big);
			*cell = pm_cell_text((struct pm_bytes){NULL, scratch->len - before});
		}
	}
	size_t at = 0;
	for (uint32_t i = 0; i < e->plan->n && at < scratch->len; i++) {
		struct pm_cell *cell = &cells[sheet->cell[e->plan->fields[i].column]];
		if (e->plan->fields[i].kind != HTD_KIND_ARRAY)
			continue;
		cell->text.p = (const uint8_t *)scratch->p + at;
		at += cell->text.len;
	}
}

/* Relative to the time origin; the stream's own events may be earlier. */
static struct pm_cell time_cell(const struct htd_opened *src, uint64_t timestamp)
{
	uint64_t origin = src->stream.origin;
	if (timestamp >= origin)
		return pm_cell_u64(timestamp - origin);
	bool fits = origin - timestamp <= (uint64_t)INT64_MAX;
	return fits && origin <= src->stream.last ? pm_cell_i64(-(int64_t)(origin - timestamp))
						  : pm_cell_empty();
}

static int events_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	const struct htd_sheet *sheet = &src->sheets[rows->table->a];
	struct htd_picker *p = rows->own;
	struct htd_event e;
	uint64_t seq;
	if (!htd_picker_next(p, &e, &seq))
		return p->run < p->filter.runs->n || p->left ? htd_has_changed(src, err) : 0;
	rows->row = seq;
	rows->at = seq + 1;
	for (uint32_t i = 4; i < sheet->n_columns; i++)
		cells[i] = pm_cell_empty();
	cells[0] = pm_cell_u64(seq);
	cells[1] = pm_cell_u64(e.header.timestamp);
	cells[2] = pm_cell_u64(e.header.id);
	cells[3] = time_cell(src, e.header.timestamp);
	event_cells(sheet, &e, rows->scratch, cells);
	return 1;
}

static const struct pm_table_type events_type = {
	.next = events_next, .start = events_start, .dense = true};

/* ---- classes/ ---- */

static struct pm_bytes class_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct htd_opened *src = c->self;
	(void)scratch;
	return src->stream.table.klasses[i].name;
}

struct pm_table htd_class_events(const struct htd_opened *src, uint32_t klass)
{
	const struct htd_sheet *sheet = &src->sheets[klass];
	return (struct pm_table){.type = &events_type,
		.columns = sheet->columns,
		.n_columns = sheet->n_columns,
		.types = sheet->types,
		.self = src,
		.a = klass,
		.end = src->stream.n_events};
}

static int class_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct htd_opened *src = c->self;
	if (k == 0)
		*ret = (struct pm_named_doc){"fields.csv",
			pm_doc_csv((struct pm_table){.type = &fields_type,
				.columns = field_columns,
				.n_columns = sizeof(field_columns) / sizeof(field_columns[0]),
				.self = src,
				.a = i})};
	else if (k == 1)
		*ret = (struct pm_named_doc){"events.csv", pm_doc_csv(htd_class_events(src, i))};
	return k < 2;
}

static int class_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	struct htd_opened *src = (struct htd_opened *)(uintptr_t)c->self;
	int r = htd_scan_get(src, err);
	*ret = r < 0 ? 0 : (uint32_t)src->stream.table.n_klasses;
	return r;
}

void htd_class_collection(const struct htd_opened *src, struct pm_collection *ret)
{
	*ret = (struct pm_collection){.path = "classes",
		.self = src,
		.count = class_count,
		.name = class_name,
		.document = class_document};
}
