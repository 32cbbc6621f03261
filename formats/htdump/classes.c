/*
 * The classes of the traced program: the fields and events of each version (classes/NAME/), its
 * numbers over time (counters/), and what trace.json has of it in addition to calls.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

/* ==== classes/NAME/ ==== */

/* ---- fields.csv: the base chain first; a row's position is its index ---- */

static const char *const class_field_columns[] = {"index", "size", "data_type", "type", "name"};

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

static int class_fields_start(struct pm_rows *rows, struct pm_error *err)
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

static int class_fields_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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

static const struct pm_table_type class_fields_type = {
	.next = class_fields_next, .start = class_fields_start};

/* ---- events.csv: a row's position is seq ---- */

static int class_events_start(struct pm_rows *rows, struct pm_error *err)
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

static int class_events_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
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

static const struct pm_table_type class_events_type = {
	.next = class_events_next, .start = class_events_start, .dense = true};

/* ---- classes/ ---- */

static struct pm_bytes class_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct htd_opened *src = c->self;
	(void)scratch;
	return src->stream.table.klasses[i].name;
}

static struct pm_table class_events(const struct htd_opened *src, uint32_t klass)
{
	const struct htd_sheet *sheet = &src->sheets[klass];
	return (struct pm_table){.type = &class_events_type,
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
			pm_doc_csv((struct pm_table){.type = &class_fields_type,
				.columns = class_field_columns,
				.n_columns = sizeof(class_field_columns) /
					sizeof(class_field_columns[0]),
				.self = src,
				.a = i})};
	else if (k == 1)
		*ret = (struct pm_named_doc){"events.csv", pm_doc_csv(class_events(src, i))};
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

/* ==== counters/: a row's position is the event's place in time order ==== */

static const char *const counter_columns[] = {"time_ns", "value"};

struct counter_rows {
	struct pm_arena arena; /* of: */
	struct htd_sorted cursor;
	const struct htd_plan *plan; /* of the last event, and the position of the field in it */
	uint32_t field;
};

/* Of the events of a table's class. */
static void order_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	const struct pm_table *table = owner;
	const struct htd_opened *src = table->self;
	const struct htd_stream *s = &src->stream;
	struct htd_order *o = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	*o = (struct htd_order){
		.s = s, .filter = {.runs = &s->table.klasses[table->a].events, .what = table->a}};
	int r = htd_order_build(a, o);
	if (r == 0)
		r = htd_sorted_start(&cursor, scratch, o, NULL);
	for (uint64_t n = 0; r >= 0; n++) {
		if (n % HTD_MARK == 0)
			htd_order_mark(a, o, &cursor);
		if ((r = htd_sorted_next(&cursor, &e)) == 0)
			break;
	}
	pm_build_check(a, r == -EIO ? htd_has_changed(src, err) : r);
	pm_arena_done(scratch);
}

static const struct pm_part_type order_type = {
	.size = sizeof(struct htd_order), .build = order_build, .what = "the order of events"};

static void counter_done(struct pm_rows *rows)
{
	struct counter_rows *c = rows->own;
	pm_arena_done(&c->arena);
	free(c);
}

static int counter_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	struct pm_part *part = &src->sheets[rows->table->a].order;
	const struct htd_order *order;
	const struct htd_sorted_event *e;
	int r = pm_part_get(part, &order_type, (void *)(uintptr_t)rows->table, &order, err);
	if (r < 0)
		return r;
	struct counter_rows *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	uint64_t mark = rows->at / HTD_MARK, skip = rows->at % HTD_MARK;
	if (mark >= order->n_marks)
		return 0;
	r = htd_sorted_start(&c->cursor, &c->arena, order, &order->marks[mark]);
	while (r >= 0 && skip--)
		if ((r = htd_sorted_next(&c->cursor, &e)) == 0)
			break;
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "cannot be sorted by time") : 0;
}

static uint32_t field_of(struct counter_rows *c, const struct htd_plan *plan, uint32_t column)
{
	if (c->plan == plan)
		return c->field;
	c->plan = plan;
	c->field = HTD_NONE;
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->fields[i].column == column)
			c->field = i;
	return c->field;
}

static int counter_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	struct counter_rows *c = rows->own;
	const struct htd_sorted_event *e = NULL;
	uint32_t field = HTD_NONE;
	if (!c->cursor.o)
		return 0;
	while (field == HTD_NONE) {
		int r = htd_sorted_next(&c->cursor, &e);
		if (r == -EIO)
			return htd_has_changed(src, err);
		if (r <= 0)
			return r < 0 ? pm_error_plain(err, r) : 0;
		rows->row = rows->at++;
		field = field_of(c, e->event.plan, (uint32_t)rows->table->b);
	}
	cells[0] = pm_cell_u64(e->event.header.timestamp - src->stream.origin);
	cells[1] = htd_event_cell(&e->event, field);
	return 1;
}

static const struct pm_table_type counter_type = {
	.next = counter_next, .start = counter_start, .done = counter_done, .dense = true};

static struct pm_bytes counter_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct htd_opened *src = c->self;
	const struct htd_counter *counter = &src->counters[i];
	const struct htd_sheet *sheet = &src->sheets[counter->klass];
	pm_text_clear(scratch);
	pm_text_bytes(scratch, src->stream.table.klasses[counter->klass].name);
	if (sheet->nth > 1)
		pm_text_printf(scratch, "~%u", sheet->nth);
	pm_text_char(scratch, '.');
	pm_text_str(scratch, sheet->columns[sheet->cell[counter->column]]);
	pm_text_str(scratch, ".csv");
	return pm_text_view(scratch);
}

static int counter_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct htd_opened *src = c->self;
	const struct htd_counter *counter = &src->counters[i];
	*ret = (struct pm_named_doc){"value.csv",
		pm_doc_csv((struct pm_table){.type = &counter_type,
			.columns = counter_columns,
			.n_columns = sizeof(counter_columns) / sizeof(counter_columns[0]),
			.types = "?f",
			.self = src,
			.a = counter->klass,
			.b = counter->column,
			.end = src->stream.table.klasses[counter->klass].events.n_events})};
	return k < 1;
}

static int counter_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	struct htd_opened *src = (struct htd_opened *)(uintptr_t)c->self;
	int r = htd_scan_get(src, err);
	*ret = r < 0 ? 0 : (uint32_t)src->n_counters;
	return r;
}

void htd_counter_collection(const struct htd_opened *src, struct pm_collection *ret)
{
	*ret = (struct pm_collection){.path = "counters",
		.flat = true,
		.self = src,
		.count = counter_count,
		.name = counter_name,
		.document = counter_document};
}

/*
 * ==== series ====
 * Events of the program's own classes (counters if they have numbers, else instants), and fields of
 * calls beyond the standard ones.
 */

enum { COLUMN_SEQ = 0, COLUMN_TIME = 3, FIRST_FIELD = 4 };

static bool is_part_of_call(struct pm_bytes name)
{
	return pm_bytes_equal(name, pm_bytes_of("duration")) ||
		pm_bytes_equal(name, pm_bytes_of("thread_id")) ||
		pm_bytes_equal(name, pm_bytes_of("label"));
}

static bool has_numbers(const struct htd_klass *k)
{
	for (uint32_t i = 0; i < k->n_columns; i++)
		if (htd_is_number(k->columns[i].field))
			return true;
	return false;
}

static bool is_shown(enum pm_series_kind kind, const struct htd_flat *f)
{
	switch (kind) {
	case PM_SERIES_COUNTER: return htd_is_number(f);
	case PM_SERIES_INSTANT: return true;
	case PM_SERIES_CALLS: return !is_part_of_call(f->name);
	}
	return false;
}

/* Adds the class to the series if it has something to show. */
static void add_class(struct pm_arena *a, const struct htd_opened *src, uint32_t klass,
	struct pm_series *list, size_t *n)
{
	const struct htd_klass *k = &src->stream.table.klasses[klass];
	const struct htd_sheet *sheet = &src->sheets[klass];
	bool call = htd_is_call_class(k), any = false;
	if (k->fixed || k->events.n_events == 0 || (!call && !htd_is_own_class(k)))
		return;
	enum pm_series_kind kind = call ? PM_SERIES_CALLS
		: has_numbers(k)        ? PM_SERIES_COUNTER
					: PM_SERIES_INSTANT;
	bool *fields = pm_arena_array(a, sheet->n_columns, sizeof(*fields));
	for (uint32_t i = 0; i < k->n_columns; i++) {
		fields[sheet->cell[i]] = is_shown(kind, k->columns[i].field);
		any |= fields[sheet->cell[i]];
	}
	if (kind == PM_SERIES_CALLS && !any)
		return;
	list[(*n)++] = (struct pm_series){.kind = kind,
		.name = k->name,
		.table = class_events(src, klass),
		.n = k->events.n_events,
		.seq = COLUMN_SEQ,
		.time = COLUMN_TIME,
		.fields = fields};
}

static void series_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct htd_opened *src = owner;
	struct pm_series **list = part;
	pm_build_check(a, htd_scan_get(src, err));
	*list = pm_arena_array(a, src->stream.table.n_klasses, sizeof(**list));
	src->parts.series.n = 0;
	for (uint32_t i = 0; i < src->stream.table.n_klasses; i++)
		add_class(a, src, i, *list, &src->parts.series.n);
	src->parts.series.it = *list;
}

int htd_series(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct pm_series *), .build = series_build, .what = "series"};
	struct htd_opened *src = opened;
	return pm_part_build(&src->series, &type, src, err);
}
