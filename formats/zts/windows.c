/* What only trace stores have in a window: its traces, and its methods. */
#include <string.h>

#include "formats/zts/window_methods.h"

static const struct zts_opened *stores_of(const struct pm_table *table)
{
	const struct pm_window *window = table->self;
	return zts_opened_of(window->run);
}

/* ---- traces.csv: a row's position is the trace's ---- */

static int traces_columns(struct pm_table *table, struct pm_error *err)
{
	return zts_traces_columns(stores_of(table), table, err);
}

/* The part of a trace that is within the window; false if there is none. */
static bool clip(const struct pm_window *w, const struct zts_trace *t, uint64_t *ret_start,
	uint64_t *ret_duration)
{
	uint64_t duration = t->duration_ns == PM_NO_TIME ? 0 : t->duration_ns, end;
	if (__builtin_add_overflow(t->timestamp_ns, duration, &end))
		end = UINT64_MAX;
	uint64_t from = t->timestamp_ns > w->start_ns ? t->timestamp_ns : w->start_ns;
	uint64_t to = end < w->end_ns ? end : w->end_ns;
	*ret_start = from;
	*ret_duration = to > from ? to - from : 0;
	return pm_window_has(w, t->timestamp_ns) || to > from;
}

static int traces_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	enum { TIME, DURATION, TIMESTAMP };
	const struct pm_window *window = rows->table->self;
	const struct zts_opened *z = stores_of(rows->table);
	const struct zts_survey *v;
	uint64_t start, duration;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	while (rows->at < v->n && !clip(window, &v->traces[rows->at], &start, &duration))
		rows->at++;
	if (rows->at >= v->n)
		return 0;
	const struct zts_trace *t = &v->traces[rows->at];
	rows->row = rows->at;
	r = zts_trace_row(z, (uint32_t)rows->at++, rows, cells, err);
	if (r <= 0)
		return r;
	cells[TIME] = pm_cell_u64(start - v->origin_ns);
	if (t->duration_ns != PM_NO_TIME)
		cells[DURATION] = pm_cell_u64(duration);
	cells[TIMESTAMP] = pm_cell_u64(start);
	return 1;
}

/* ---- methods.csv: a row's position is its number ---- */

static int methods_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_window_methods *m;
	int r = zts_window_methods_get(rows->table->self, &m, err);
	if (r < 0 || rows->at >= m->n)
		return r;
	zts_method_row(&m->items[rows->at++], cells);
	return 1;
}

/* ---- which there are ---- */

static const struct pm_table_type traces_type = {.columns = traces_columns, .next = traces_next};
static const struct pm_table_type methods_type = {.next = methods_next};

void zts_window(const struct pm_window *w, struct pm_window_own *ret)
{
	struct pm_table traces = zts_table(w, ZTS_OF_WINDOW, ZTS_TABLE_TRACES);
	struct pm_table methods = zts_table(w, ZTS_OF_WINDOW, ZTS_TABLE_METHODS);
	traces.type = &traces_type;
	methods.type = &methods_type;
	const struct pm_named_doc docs[] = {
		{"traces.csv", pm_doc_csv(traces)},
		{"traces.tsv", pm_doc_tsv(traces)},
		{"methods.csv", pm_doc_csv(methods)},
		{"methods.tsv", pm_doc_tsv(methods)},
		{"requests.csv", pm_doc_csv(zts_requests_table(w, ZTS_OF_WINDOW))},
		{"attributes.csv", pm_doc_csv(zts_table(w, ZTS_OF_WINDOW, ZTS_TABLE_ATTRIBUTES))},
		{"statements.csv", pm_doc_csv(zts_table(w, ZTS_OF_WINDOW, ZTS_TABLE_STATEMENTS))},
		{"exceptions.csv", pm_doc_csv(zts_table(w, ZTS_OF_WINDOW, ZTS_TABLE_EXCEPTIONS))},
		{.path = "spans.csv",
			.doc = pm_doc_csv(zts_spans_table(w, ZTS_OF_WINDOW)),
			.unlisted = true},
	};
	_Static_assert(sizeof(docs) <= sizeof(ret->documents), "room");
	memcpy(ret->documents, docs, sizeof(docs));
	ret->n_documents = sizeof(docs) / sizeof(*docs);
	zts_window_collections(w, ret);
	zts_list_sections(w, ZTS_OF_WINDOW, ret->sections);
	ret->n_sections = ZTS_N_SECTIONS;
}
