/* The stream as stored: raw/classes.csv, raw/fields.csv, raw/events.csv; and labels.csv. */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/cursor.h"

static struct htd_opened *opened_of(const struct pm_table *table)
{
	return (struct htd_opened *)(uintptr_t)table->self;
}

static int scanned_start(struct pm_rows *rows, struct pm_error *err)
{
	return htd_scan_get(opened_of(rows->table), err);
}

/* ---- raw/classes.csv: a row's position is the class version ---- */

static const char *const klass_columns[] = {"class_id", "fields", "parent", "name"};

static int klasses_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	const struct htd_table *t = &src->stream.table;
	(void)err;
	if (rows->at >= t->n_klasses)
		return 0;
	const struct htd_klass *k = &t->klasses[rows->at++];
	cells[0] = pm_cell_u64(k->id);
	cells[1] = pm_cell_u64(k->n_fields);
	cells[2] = pm_cell_text(htd_klass_parent(k));
	cells[3] = pm_cell_lasting(k->name);
	return 1;
}

static const struct pm_table_type klasses_type = {.next = klasses_next, .start = scanned_start};

/* ---- raw/fields.csv: a row's position is version << 32 | field ---- */

static const char *const field_columns[] = {
	"class_id", "index", "size", "data_type", "type", "class", "name"};

static int fields_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	const struct htd_table *t = &src->stream.table;
	uint64_t klass = rows->at >> 32, field = rows->at & UINT32_MAX;
	(void)err;
	while (klass < t->n_klasses && field >= t->klasses[klass].n_fields) {
		klass++;
		field = 0;
	}
	if (klass >= t->n_klasses)
		return 0;
	const struct htd_klass *k = &t->klasses[klass];
	const struct htd_field *f = &k->fields[field];
	rows->row = klass << 32 | field;
	rows->at = rows->row + 1;
	cells[0] = pm_cell_u64(k->id);
	cells[1] = pm_cell_u64(field);
	cells[2] = pm_cell_u64(f->size);
	cells[3] = htd_data_type_cell(f->data_type);
	cells[4] = pm_cell_lasting(f->type);
	cells[5] = pm_cell_lasting(k->name);
	cells[6] = pm_cell_text(f->name);
	return 1;
}

static const struct pm_table_type fields_type = {.next = fields_next, .start = scanned_start};

/* ---- raw/events.csv: a row's position is seq ---- */

static const char *const event_columns[] = {
	"seq", "offset", "class_id", "timestamp", "id", "class", "fields"};

static int events_start(struct pm_rows *rows, struct pm_error *err)
{
	struct htd_opened *src = opened_of(rows->table);
	int r = htd_scan_get(src, err);
	if (r < 0)
		return r;
	struct htd_walk *w = malloc(sizeof(*w));
	if (!w)
		return pm_error_plain(err, -ENOMEM);
	htd_walk_start(w, &src->stream, rows->at);
	rows->own = w;
	return 0;
}

/* \; \\ and \n, so that the pairs can be split again. */
static void add_escaped(struct pm_text *out, struct pm_bytes text)
{
	struct pm_bytes plain;
	size_t from = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = (char)text.p[i];
		if (c != ';' && c != '\\' && c != '\n')
			continue;
		pm_bytes_sub(text, from, i - from, &plain);
		pm_text_bytes(out, plain);
		pm_text_char(out, '\\');
		pm_text_char(out, c == '\n' ? 'n' : c);
		from = i + 1;
	}
	pm_bytes_sub(text, from, text.len - from, &plain);
	pm_text_bytes(out, plain);
}

static void add_pairs(struct pm_text *out, const struct htd_event *e)
{
	struct htd_fields w = {.e = e};
	const struct htd_flat *f;
	struct pm_bytes bytes;
	while (htd_fields_next(&w, &f, &bytes)) {
		if (w.i > 1)
			pm_text_char(out, ';');
		add_escaped(out, f->name);
		pm_text_char(out, '=');
		if (f->kind == HTD_KIND_TEXT)
			add_escaped(out, bytes);
		else
			htd_value_text(out, f, bytes, e->big);
	}
}

static int events_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_opened *src = rows->table->self;
	struct htd_walk *w = rows->own;
	struct htd_event e;
	if (w->seq >= src->stream.n_events)
		return 0;
	if (!htd_walk_next(w, &e))
		return htd_has_changed(src, err);
	rows->at = w->seq;
	add_pairs(rows->scratch, &e);
	cells[0] = pm_cell_u64(w->seq - 1);
	cells[1] = pm_cell_u64(e.at);
	cells[2] = pm_cell_u64(e.header.klass_id);
	cells[3] = pm_cell_u64(e.header.timestamp);
	cells[4] = pm_cell_u64(e.header.id);
	cells[5] = pm_cell_text(src->stream.table.klasses[e.plan->klass].name);
	cells[6] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static int events_end(const struct pm_table *table, uint64_t *ret, struct pm_error *err)
{
	struct htd_opened *src = opened_of(table);
	int r = htd_scan_get(src, err);
	*ret = r < 0 ? 0 : src->stream.n_events;
	return r;
}

static const struct pm_table_type events_type = {
	.next = events_next, .start = events_start, .end = events_end, .dense = true};

/* ---- labels.csv: a row's position is the label's rank ---- */

static const char *const label_columns[HTD_LABEL_COLUMNS] = {"calls", "time_ns_incl",
	"time_ns_excl", "time_ns_min", "time_ns_max", "p50_ns", "p90_ns", "p95_ns", "p99_ns",
	"max_ns", "label"};

static int labels_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct htd_percentiles *found;
	return htd_percentiles_get(opened_of(rows->table), &found, err);
}

static struct pm_cell sum_cell(pm_sum sum)
{
	if (sum >= INT64_MIN && sum <= INT64_MAX)
		return pm_cell_i64((int64_t)sum);
	return sum > 0 && sum <= UINT64_MAX ? pm_cell_u64((uint64_t)sum) : pm_cell_f64((double)sum);
}

static int labels_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct htd_percentiles *percentiles = opened_of(rows->table)->percentiles.built;
	const struct htd_calls *c = percentiles->calls;
	(void)err;
	if (rows->at >= c->n_ranked)
		return 0;
	uint32_t label = c->ranked[rows->at++];
	const struct htd_label_cost *l = &c->by_label[label];
	const struct pm_call_times *found = &percentiles->of_label[label];
	cells[0] = pm_cell_u64(l->calls);
	cells[1] = sum_cell(l->incl);
	cells[2] = sum_cell(l->excl);
	cells[3] = pm_cell_u64(l->min);
	cells[4] = pm_cell_u64(l->max);
	cells[5] = pm_cell_u64(found->p50_ns);
	cells[6] = pm_cell_u64(found->p90_ns);
	cells[7] = pm_cell_u64(found->p95_ns);
	cells[8] = pm_cell_u64(found->p99_ns);
	cells[9] = pm_cell_u64(l->max);
	uint32_t n = 2 * c->wanted->n;
	for (uint32_t i = 0; i < n; i++)
		cells[10 + i] = htd_amount_cell(&c->of_labels[(size_t)label * n + i]);
	cells[10 + n] = pm_cell_text(htd_labels_text(&c->labels, label));
	return 1;
}

static const struct pm_table_type labels_type = {.next = labels_next, .start = labels_start};

/* ---- the documents ---- */

#define COLUMNS(names) (names), sizeof(names) / sizeof((names)[0])

static struct pm_named_doc document(const struct htd_opened *src, const char *path,
	const struct pm_table_type *type, const char *const *columns, size_t n_columns)
{
	return (struct pm_named_doc){path,
		pm_doc_csv((struct pm_table){.type = type,
			.columns = columns,
			.n_columns = (uint32_t)n_columns,
			.self = src})};
}

void htd_raw_documents(struct htd_opened *src)
{
	uint32_t n_wanted = 2 * src->wanted.n, last = HTD_LABEL_COLUMNS - 1;
	memcpy(src->label_columns, label_columns, last * sizeof(*label_columns));
	if (n_wanted)
		memcpy(src->label_columns + last, src->wanted.columns,
			n_wanted * sizeof(*label_columns));
	src->label_columns[last + n_wanted] = label_columns[last];
	src->documents[0] =
		document(src, "labels.csv", &labels_type, src->label_columns, last + n_wanted + 1);
	src->documents[1] = document(src, "raw/classes.csv", &klasses_type, COLUMNS(klass_columns));
	src->documents[2] = document(src, "raw/fields.csv", &fields_type, COLUMNS(field_columns));
	src->documents[3] = document(src, "raw/events.csv", &events_type, COLUMNS(event_columns));
	src->documents[1].doc.table.types = "?i??";
	src->documents[3].doc.table.types = "?i?????";
}
