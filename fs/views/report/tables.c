/* Tables, and numbers over time; the contents of an item's directory. */
#include "fs/views/report/data.h"

#include <math.h>

#include "fs/views/model/parts.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/views.h"

/* Tables, and numbers over time. */

static void write_names(struct pmfs_report *r, const struct pm_table *table)
{
	pm_json_key(&r->json, "columns");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < table->n_columns; i++)
		pm_json_str(&r->json, pm_table_column(table, i));
	pm_json_close(&r->json, ']');
}

/*
 * Rows first … end - 1 of a table as {columns, rows, more: whether rows follow}. Earlier rows are
 * read, too.
 */
static void report_rows(
	struct pmfs_report *r, const struct pm_table *table, uint64_t first, uint64_t end)
{
	struct pm_arena *a = pm_arena_scratch(r->a);
	struct pm_table_reader *reading = pm_table_read(a, table, 0, r->err);
	uint64_t n = 0;
	bool more = true;
	pm_json_open(&r->json, '{');
	write_names(r, &reading->table);
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	for (; n < end && (more = pm_table_next(a, reading, r->err)); n++) {
		if (n < first)
			continue;
		pm_json_open(&r->json, '[');
		for (uint32_t i = 0; i < reading->table.n_columns; i++)
			pmfs_report_cell(r, &reading->cells[i]);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "more");
	pm_json_bool(&r->json, more);
	pm_json_close(&r->json, '}');
	pm_arena_done(a);
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
static void write_counters(struct pmfs_report *r)
{
	const struct pm_series *series;
	size_t n, listed = 0;
	pmfs_report_check(r, pm_profile_series(r->profile, &series, &n, r->err));
	pm_json_open(&r->json, '[');
	for (size_t i = 0; i < n && i < 1U << (32 - COLUMN_BITS); i++)
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
}

/* ---- the tables of the directory ---- */

/* The directory whose tables they are. */
static const struct pmfs_view *views_of(const struct pmfs_report *r, uint32_t *ret_n)
{
	return pmfs_views(r->profile->window ? PMFS_PLACE_WINDOW : PMFS_PLACE_ROOT, ret_n);
}

/* Whether the catalogue's k-th document is a table, and is there. */
static bool has_view(struct pmfs_report *r, uint32_t k)
{
	uint32_t n;
	const struct pmfs_view *views = views_of(r, &n);
	if (k >= n || views[k].form != PM_DOC_CSV || r->tree->n_contexts == 0)
		return false;
	int e = views[k].present ? views[k].present(r->model, 0, r->err) : 1;
	pmfs_report_check(r, e);
	return e > 0;
}

/* Whether one of the format's documents is a table, and is there. */
static bool has_document(struct pmfs_report *r, const struct pm_named_doc *doc)
{
	if (doc->doc.kind != PM_DOC_CSV || doc->unlisted)
		return false;
	int e = doc->present ? doc->present(r->profile, r->err) : 1;
	pmfs_report_check(r, e);
	return e > 0;
}

/* [number, path] of each. */
void pmfs_report_documents(struct pmfs_report *r)
{
	const struct pm_named_doc *docs = NULL;
	uint32_t n_views;
	size_t n;
	const struct pmfs_view *views = views_of(r, &n_views);
	pmfs_report_check(r, pm_profile_documents(r->profile, &docs, &n, r->err));
	pm_json_key(&r->json, "documents");
	pm_json_open(&r->json, '[');
	for (size_t i = 0; i < PMFS_REPORT_VIEWS + n; i++) {
		bool of_format = i >= PMFS_REPORT_VIEWS;
		if (of_format ? !has_document(r, &docs[i - PMFS_REPORT_VIEWS])
			      : !has_view(r, (uint32_t)i))
			continue;
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, i);
		pm_json_str(&r->json, of_format ? docs[i - PMFS_REPORT_VIEWS].path : views[i].name);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "counters");
	write_counters(r);
}

/* The table of a document; without a type where there is none of that number. */
static struct pm_table find_table(struct pmfs_report *r, uint32_t number)
{
	struct pm_table table = {.type = NULL};
	const struct pm_named_doc *docs = NULL;
	uint32_t n_views;
	size_t n;
	if (number < PMFS_REPORT_VIEWS) {
		if (has_view(r, number))
			pmfs_report_check(r,
				views_of(r, &n_views)[number].table(r->model, 0, &table, r->err));
		return table;
	}
	pmfs_report_check(r, pm_profile_documents(r->profile, &docs, &n, r->err));
	number -= PMFS_REPORT_VIEWS;
	return number < n && has_document(r, &docs[number]) ? docs[number].doc.table : table;
}

void pmfs_report_table(struct pmfs_report *r)
{
	uint64_t first = (uint64_t)r->n[1] * PMFS_REPORT_ROWS;
	struct pm_table table = find_table(r, r->n[0]);
	if (table.type)
		report_rows(r, &table, first, first + PMFS_REPORT_ROWS);
	else
		pm_json_null(&r->json);
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

void pmfs_report_plot(struct pmfs_report *r)
{
	const struct pm_series *series;
	uint32_t i = r->n[0] >> COLUMN_BITS, column = r->n[0] & ((1U << COLUMN_BITS) - 1);
	size_t n;
	pmfs_report_check(r, pm_profile_series(r->profile, &series, &n, r->err));
	if (i >= n || !is_counter(&series[i], column)) {
		pm_json_null(&r->json);
		return;
	}
	struct plot *plot = pm_arena_alloc(r->a, sizeof(*plot));
	plot->size = 1;
	struct pm_table_reader *reading = pm_table_read(r->a, &series[i].table, 0, r->err);
	while (pm_table_next(r->a, reading, r->err))
		plot_row(plot, number_of(&reading->cells[series[i].time]),
			number_of(&reading->cells[column]));
	write_plot(r, plot);
}

/*
 * The contents of an item's directory (a trace of a store): its tables, and the names of its
 * files.
 */

struct item {
	struct pmfs_report r;
	const struct pm_collection *c;
	uint32_t item;
};

/* The k-th document of the item: false beyond the last. */
static bool document_at(struct item *item, uint32_t k, struct pm_named_doc *ret)
{
	int e = item->c->document(item->c, item->item, k, ret);
	pmfs_report_check(&item->r, e);
	return e > 0;
}

static void write_item(void *context)
{
	struct item *item = context;
	struct pm_json *j = &item->r.json;
	struct pm_named_doc named;
	pm_json_open(j, '{');
	pm_json_key(j, "files");
	pm_json_open(j, '[');
	for (uint32_t k = 0; document_at(item, k, &named); k++)
		pm_json_str(j, named.path);
	pm_json_close(j, ']');
	pm_json_key(j, "tables");
	pm_json_open(j, '{');
	for (uint32_t k = 0; document_at(item, k, &named); k++) {
		if (named.doc.kind != PM_DOC_CSV)
			continue;
		pm_json_key(j, named.path);
		report_rows(&item->r, &named.doc.table, 0, PMFS_REPORT_ITEM_ROWS);
	}
	pm_json_close(j, '}');
	pm_json_close(j, '}');
}

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pm_arena arena = {.block = NULL};
	struct item item = {{.a = &arena,
				    .err = err,
				    .json = {.out = out, .script = true},
				    .scratch.arena = &arena},
		doc->text.self, (uint32_t)doc->text.a};
	pm_text_str(out, "pm.take(null,");
	int e = pm_build(&arena, write_item, &item);
	pm_text_str(out, ");\n");
	pm_arena_done(&arena);
	return e < 0 ? pm_error_plain(err, e) : pm_text_status(out);
}

struct pm_doc pmfs_report_item(const struct pm_collection *c, uint32_t item)
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = c, .a = item}};
}
