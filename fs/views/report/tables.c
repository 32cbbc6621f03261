/* Tables, and numbers over time; the contents of an item's directory. */
#include "fs/views/report/data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/views.h"

/* Tables, and numbers over time. */

/* A cursor over a table. */
struct table_reading {
	struct pm_table table;
	struct pm_rows rows;
	struct pm_cell *cells;
};

static void reading_done(struct table_reading *reading)
{
	pm_rows_done(&reading->rows);
	free(reading->cells);
}

/* 1, or a negative errno. */
static int reading_start(
	struct table_reading *reading, const struct pm_table *table, struct pm_error *err)
{
	reading->table = *table;
	int e = table->type->columns ? table->type->columns(&reading->table, err) : 0;
	if (e < 0)
		return e;
	reading->cells = malloc(((size_t)reading->table.n_columns + 1) * sizeof(*reading->cells));
	if (!reading->cells)
		return pmfs_no_memory(err);
	e = pm_rows_start(&reading->rows, &reading->table, 0, err);
	return e < 0 ? e : 1;
}

static void write_names(struct pmfs_report *r, const struct pm_table *table)
{
	pm_json_key(&r->json, "columns");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < table->n_columns; i++)
		pm_json_str(&r->json, pm_table_column(table, i));
	pm_json_close(&r->json, ']');
}

/* Like pm_rows_next, but checks for cancellation, since a table may have many millions of rows. */
static int next_row(struct table_reading *reading, uint64_t n, struct pm_error *err)
{
	if (n % 1024 == 0 && pm_work_cancelled())
		return pmfs_no_memory(err);
	return pm_rows_next(&reading->rows, reading->cells, err);
}

static int write_rows(struct pmfs_report *r, struct table_reading *reading, uint64_t first,
	uint64_t end, struct pm_error *err)
{
	uint64_t n = 0;
	int e = 1;
	pm_json_open(&r->json, '{');
	write_names(r, &reading->table);
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	for (; n < end && (e = next_row(reading, n, err)) > 0; n++) {
		if (n < first)
			continue;
		pm_json_open(&r->json, '[');
		for (uint32_t i = 0; i < reading->table.n_columns; i++)
			pmfs_report_cell(r, &reading->cells[i]);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "more");
	pm_json_bool(&r->json, e > 0);
	pm_json_close(&r->json, '}');
	return e < 0 ? e : 0;
}

/*
 * Rows first … end - 1 of a table as {columns, rows, more: whether rows follow}. Earlier rows are
 * read, too. 0 or a negative errno.
 */
static int report_rows(struct pmfs_report *r, const struct pm_table *table, uint64_t first,
	uint64_t end, struct pm_error *err)
{
	struct table_reading reading = {.cells = NULL};
	int e = reading_start(&reading, table, err);
	if (e > 0)
		e = write_rows(r, &reading, first, end, err);
	reading_done(&reading);
	return e;
}

/* ---- counters ---- */

/* Counters are numbered by series and column. */
enum { COLUMN_BITS = 12 };

static bool is_counter(const struct pm_series *s, uint32_t column)
{
	return s->kind == PM_SERIES_COUNTER && column < s->table.n_columns &&
		column < 1U << COLUMN_BITS && s->fields[column];
}

/* [number, name] of each counter; the first of them where there are very many. */
static int write_counters(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_series *series;
	size_t n, listed = 0;
	int e = pm_profile_series(r->profile, &series, &n, err);
	pm_json_open(&r->json, '[');
	for (size_t i = 0; e >= 0 && i < n && i < 1U << (32 - COLUMN_BITS); i++)
		for (uint32_t k = 0; k < series[i].table.n_columns && listed < PMFS_REPORT_ROWS;
			k++) {
			if (!is_counter(&series[i], k))
				continue;
			pm_text_clear(&r->scratch);
			pm_text_bytes(&r->scratch, series[i].name);
			pm_text_char(&r->scratch, '.');
			pm_text_str(&r->scratch, pm_table_column(&series[i].table, k));
			pm_json_open(&r->json, '[');
			pm_json_u64(&r->json, i << COLUMN_BITS | k);
			pm_json_text(&r->json, pm_text_view(&r->scratch));
			pm_json_close(&r->json, ']');
			listed++;
		}
	pm_json_close(&r->json, ']');
	return e < 0 ? e : 0;
}

/* ---- the tables of the directory ---- */

/* The directory whose tables they are. */
static const struct pmfs_view *views_of(const struct pmfs_report *r, uint32_t *ret_n)
{
	return pmfs_views(r->profile->window ? PMFS_PLACE_WINDOW : PMFS_PLACE_ROOT, ret_n);
}

/* Whether the catalogue's k-th document is a table, and is there. */
static int has_view(struct pmfs_report *r, uint32_t k, struct pm_error *err)
{
	uint32_t n;
	const struct pmfs_view *views = views_of(r, &n);
	if (k >= n || views[k].form != PM_DOC_CSV || r->tree->n_contexts == 0)
		return 0;
	return views[k].present ? views[k].present(r->model, 0, err) : 1;
}

/* Whether one of the format's documents is a table, and is there. */
static int has_document(struct pmfs_report *r, const struct pm_named_doc *doc, struct pm_error *err)
{
	if (doc->doc.kind != PM_DOC_CSV || doc->unlisted)
		return 0;
	return doc->present ? doc->present(r->profile, err) : 1;
}

/* [number, path] of each. */
int pmfs_report_documents(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_named_doc *docs = NULL;
	uint32_t n_views;
	size_t n;
	const struct pmfs_view *views = views_of(r, &n_views);
	int e = pm_profile_documents(r->profile, &docs, &n, err);
	pm_json_key(&r->json, "documents");
	pm_json_open(&r->json, '[');
	for (size_t i = 0; e >= 0 && i < PMFS_REPORT_VIEWS + n; i++) {
		e = i < PMFS_REPORT_VIEWS ? has_view(r, (uint32_t)i, err)
					  : has_document(r, &docs[i - PMFS_REPORT_VIEWS], err);
		if (e <= 0)
			continue;
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, i);
		pm_json_str(&r->json,
			i < PMFS_REPORT_VIEWS ? views[i].name : docs[i - PMFS_REPORT_VIEWS].path);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "counters");
	return e < 0 ? e : write_counters(r, err);
}

/* The table of a document: 1, or 0 where there is none of that number. */
static int find_table(
	struct pmfs_report *r, uint32_t number, struct pm_table *ret, struct pm_error *err)
{
	const struct pm_named_doc *docs = NULL;
	uint32_t n_views;
	size_t n;
	int e;
	if (number < PMFS_REPORT_VIEWS) {
		e = has_view(r, number, err);
		if (e > 0)
			e = views_of(r, &n_views)[number].table(r->model, 0, ret, err);
		return e < 0 ? e : ret->type != NULL;
	}
	e = pm_profile_documents(r->profile, &docs, &n, err);
	if (e < 0 || number - PMFS_REPORT_VIEWS >= n)
		return e < 0 ? e : 0;
	e = has_document(r, &docs[number - PMFS_REPORT_VIEWS], err);
	*ret = docs[number - PMFS_REPORT_VIEWS].doc.table;
	return e;
}

int pmfs_report_table(struct pmfs_report *r, struct pm_error *err)
{
	struct pm_table table = {.type = NULL};
	uint64_t first = (uint64_t)r->n[1] * PMFS_REPORT_ROWS;
	int e = find_table(r, r->n[0], &table, err);
	if (e == 0)
		pm_json_null(&r->json);
	return e > 0 ? report_rows(r, &table, first, first + PMFS_REPORT_ROWS, err) : e;
}

/* ---- numbers over time ---- */

enum { BUCKETS = 1000 };

static double number_of(const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_U64: return (double)cell->u;
	case PM_CELL_I64: return (double)cell->i;
	case PM_CELL_F64: return cell->f;
	case PM_CELL_EMPTY:
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: break;
	}
	return NAN;
}

/* The points of a stretch of rows: the first, the least, the greatest and the last. */
struct bucket {
	double time[4], value[4];
	bool used;
};

static void add_point(struct bucket *b, double time, double value)
{
	for (unsigned i = 0; i < 4; i++)
		if (!b->used || i == 3 || (i == 1 && value < b->value[1]) ||
			(i == 2 && value > b->value[2])) {
			b->time[i] = time;
			b->value[i] = value;
		}
	b->used = true;
}

/*
 * Rows are put into buckets in order; when all are used, neighbours are merged, so one pass is
 * sufficient for any number of rows.
 */
struct plot {
	struct bucket buckets[BUCKETS];
	uint64_t n, size; /* rows so far, and of a bucket */
};

static void join(struct plot *p)
{
	for (unsigned i = 0; i < BUCKETS / 2; i++) {
		struct bucket a = p->buckets[2 * i], b = p->buckets[2 * i + 1];
		for (unsigned k = 0; k < 4; k++)
			add_point(&a, b.time[k], b.value[k]);
		a.time[3] = b.time[3];
		a.value[3] = b.value[3];
		p->buckets[i] = a;
	}
	for (unsigned i = BUCKETS / 2; i < BUCKETS; i++)
		p->buckets[i].used = false;
	p->size *= 2;
}

static void plot_row(struct plot *p, double time, double value)
{
	if (isnan(time) || isnan(value))
		return;
	if (p->n / p->size == BUCKETS)
		join(p);
	add_point(&p->buckets[p->n++ / p->size], time, value);
}

static void write_plot(struct pmfs_report *r, const struct plot *p)
{
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "rows");
	pm_json_u64(&r->json, p->n);
	pm_json_key(&r->json, "points");
	pm_json_open(&r->json, '[');
	for (unsigned i = 0; i < BUCKETS && p->buckets[i].used; i++)
		for (unsigned k = 0; k < 4; k++) {
			pm_json_f64(&r->json, p->buckets[i].time[k]);
			pm_json_f64(&r->json, p->buckets[i].value[k]);
		}
	pm_json_close(&r->json, ']');
	pm_json_close(&r->json, '}');
}

static int plot_series(struct pmfs_report *r, const struct pm_series *s, uint32_t column,
	struct plot *plot, struct pm_error *err)
{
	struct table_reading reading = {.cells = NULL};
	int e = reading_start(&reading, &s->table, err);
	while (e > 0 && (e = next_row(&reading, plot->n, err)) > 0)
		plot_row(plot, number_of(&reading.cells[s->time]),
			number_of(&reading.cells[column]));
	reading_done(&reading);
	if (e == 0)
		write_plot(r, plot);
	return e;
}

int pmfs_report_plot(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_series *series;
	uint32_t i = r->n[0] >> COLUMN_BITS, column = r->n[0] & ((1U << COLUMN_BITS) - 1);
	size_t n;
	int e = pm_profile_series(r->profile, &series, &n, err);
	if (e < 0)
		return e;
	if (i >= n || !is_counter(&series[i], column)) {
		pm_json_null(&r->json);
		return 0;
	}
	struct plot *plot = calloc(1, sizeof(*plot));
	if (!plot)
		return pmfs_no_memory(err);
	plot->size = 1;
	e = plot_series(r, &series[i], column, plot, err);
	free(plot);
	return e;
}

/*
 * The contents of an item's directory (a trace of a store): its tables, and the names of its
 * files.
 */

static const struct pm_collection *collection_of(const struct pm_doc *doc)
{
	return (const struct pm_collection *)(uintptr_t)doc->text.self;
}

/* The k-th document of the item: 1, or 0 beyond the last. */
static int document_at(const struct pm_doc *doc, uint32_t k, struct pm_named_doc *ret)
{
	const struct pm_collection *c = collection_of(doc);
	return c->document(c, (uint32_t)doc->text.a, k, ret);
}

static int name_documents(struct pmfs_report *r, const struct pm_doc *doc)
{
	struct pm_named_doc named;
	int e = 1;
	pm_json_key(&r->json, "files");
	pm_json_open(&r->json, '[');
	for (uint32_t k = 0; (e = document_at(doc, k, &named)) > 0; k++)
		pm_json_str(&r->json, named.path);
	pm_json_close(&r->json, ']');
	return e;
}

static int write_tables(struct pmfs_report *r, const struct pm_doc *doc, struct pm_error *err)
{
	struct pm_named_doc named;
	int e;
	pm_json_key(&r->json, "tables");
	pm_json_open(&r->json, '{');
	for (uint32_t k = 0; (e = document_at(doc, k, &named)) > 0; k++) {
		if (named.doc.kind != PM_DOC_CSV)
			continue;
		pm_json_key(&r->json, named.path);
		e = report_rows(r, &named.doc.table, 0, PMFS_REPORT_ITEM_ROWS, err);
		if (e < 0)
			return e;
	}
	pm_json_close(&r->json, '}');
	return e;
}

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_report r = {.json = {.out = out, .script = true}};
	pm_text_str(out, "pm.take(null,");
	pm_json_open(&r.json, '{');
	int e = name_documents(&r, doc);
	if (e >= 0)
		e = write_tables(&r, doc, err);
	pm_json_close(&r.json, '}');
	pm_text_str(out, ");\n");
	pm_text_end(&r.scratch, out);
	return e < 0 ? pm_error_plain(err, e) : pm_text_status(out);
}

struct pm_doc pmfs_report_item(const struct pm_collection *c, uint32_t item)
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = c, .a = item}};
}
