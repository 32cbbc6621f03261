/*
 * The contents of counters/: numbers of the traced program over time. A row's position is the
 * event's place in time order.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/htdump/parts.h"

static const char *const counter_columns[] = {"time_ns", "value"};

struct counter_rows {
	struct htd_sorted cursor;
	const struct htd_plan *plan; /* of the last event, and the position of the field in it */
	uint32_t field;
};

struct order_job {
	const struct htd_opened *src;
	uint32_t klass;
};

static int order_build(void *context, struct pm_error *err)
{
	const struct order_job *job = context;
	const struct htd_stream *s = &job->src->stream;
	struct htd_order *o = &job->src->sheets[job->klass].order;
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	htd_order_done(o);
	*o = (struct htd_order){.s = s,
		.filter = {.runs = &s->table.klasses[job->klass].events, .what = job->klass}};
	int r = htd_order_build(o);
	if (r == 0)
		r = htd_sorted_start(&cursor, o, NULL);
	else
		cursor.items = NULL;
	for (uint64_t n = 0; r >= 0; n++) {
		if (n % HTD_MARK == 0)
			r = htd_order_mark(o, &cursor);
		if (r >= 0)
			r = htd_sorted_next(&cursor, &e);
		if (r <= 0)
			break;
	}
	htd_sorted_done(&cursor);
	return r == -EIO ? htd_has_changed(job->src, err) : r;
}

static void counter_done(struct pm_rows *rows)
{
	struct counter_rows *c = rows->own;
	htd_sorted_done(&c->cursor);
	free(c);
}

static int counter_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	struct htd_sheet *sheet = &src->sheets[rows->table->a];
	struct order_job job = {src, (uint32_t)rows->table->a};
	const struct htd_sorted_event *e;
	int r = pm_lazy_get(&sheet->lazy, order_build, &job, err);
	if (r < 0)
		return r;
	struct counter_rows *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	uint64_t mark = rows->at / HTD_MARK, skip = rows->at % HTD_MARK;
	if (mark >= sheet->order.n_marks)
		return 0;
	r = htd_sorted_start(&c->cursor, &sheet->order, &sheet->order.marks[mark]);
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
