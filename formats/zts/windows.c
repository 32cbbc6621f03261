/* What only trace stores have in a window: its traces, and its methods. */
#include <stdlib.h>

#include "formats/common/callcosts.h"
#include "formats/zts/cells.h"
#include "formats/zts/parts.h"

static const struct zts *stores_of(const struct pm_table *table)
{
	const struct pm_window *window = table->self;
	return zts_of(window->run);
}

/* ---- traces.csv: a row's position is the trace's ---- */

static int traces_columns(struct pm_table *table, struct pm_error *err)
{
	return zts_traces_columns(stores_of(table), table, err);
}

/* The part of a trace that lies inside: false where none of it does. */
static bool clip(const struct pm_window *w, const struct zts_trace *t, uint64_t *ret_start,
	uint64_t *ret_duration)
{
	uint64_t duration = t->duration_ns == PM_NO_TIME ? 0 : t->duration_ns, end;
	if (__builtin_add_overflow(t->timestamp_ns, duration, &end))
		end = UINT64_MAX;
	bool begins = t->timestamp_ns >= w->start_ns &&
		(t->timestamp_ns < w->end_ns || (w->is_last && t->timestamp_ns == w->end_ns));
	uint64_t from = t->timestamp_ns > w->start_ns ? t->timestamp_ns : w->start_ns;
	uint64_t to = end < w->end_ns ? end : w->end_ns;
	*ret_start = from;
	*ret_duration = to > from ? to - from : 0;
	return begins || to > from;
}

static int traces_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	enum { TIME, DURATION, TIMESTAMP };
	const struct pm_window *window = rows->table->self;
	const struct zts *z = stores_of(rows->table);
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

struct method {
	struct zts_sums sums; /* inclusive: of outermost calls */
	uint32_t function;
	bool runs;
};

/* A cursor's own. */
struct methods {
	const struct pm_tree *tree;
	struct method *items; /* those that run, by exclusive time */
	size_t n;
};

static void methods_done(struct pm_rows *rows)
{
	struct methods *m = rows->own;
	free(m->items);
	free(m);
}

/* Costs of windows are whole. */
static zts_sum whole(const struct pm_value *v)
{
	if (!v->whole)
		return (zts_sum)v->f;
	return v->negative ? (zts_sum)v->i : (zts_sum)v->u;
}

static int add_context(struct methods *m, const struct pm_window *w, uint32_t context,
	bool outermost, struct pm_error *err)
{
	struct pm_value values[PM_CALLS_N_METRICS];
	struct method *method = &m->items[pm_tree_frame(m->tree, context)->function];
	int64_t n =
		w->profile->ops->run_costs(w->profile, context, values, PM_CALLS_N_METRICS, err);
	for (int64_t i = 0; i < n; i++) {
		zts_sum cost = whole(&values[i]);
		switch (values[i].metric) {
		case PM_CALLS_INCL: method->sums.inclusive_ns += outermost ? cost : 0; break;
		case PM_CALLS_EXCL: method->sums.exclusive_ns += cost; break;
		case PM_CALLS_CALLS: method->sums.calls += (uint64_t)cost; break;
		default: break;
		}
	}
	method->runs = true;
	return n < 0 ? (int)n : 0;
}

/* A context is outermost if no context of the same method is open around it. */
static int add_contexts(struct methods *m, const struct pm_window *w, struct pm_error *err)
{
	const struct pm_tree *tree = m->tree;
	uint32_t *end = calloc((size_t)tree->n_functions + 1, sizeof(*end));
	int r = end ? 0 : pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; i < tree->n_contexts && r == 0; i++) {
		uint32_t *around = &end[pm_tree_frame(tree, i)->function];
		r = add_context(m, w, i, i >= *around, err);
		if (i >= *around)
			*around = tree->end[i];
	}
	free(end);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct method *x = a, *y = b;
	if (x->sums.exclusive_ns != y->sums.exclusive_ns)
		return x->sums.exclusive_ns > y->sums.exclusive_ns ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static int methods_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct pm_window *w = rows->table->self;
	struct methods *m = calloc(1, sizeof(*m));
	if (!m)
		return pm_error_plain(err, -ENOMEM);
	rows->own = m;
	int r = w->profile->ops->tree(w->profile, &m->tree, err);
	if (r < 0)
		return r;
	m->items = calloc((size_t)m->tree->n_functions + 1, sizeof(*m->items));
	r = m->items ? add_contexts(m, w, err) : pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; r == 0 && i < m->tree->n_functions; i++)
		if (m->items[i].runs) {
			m->items[m->n] = m->items[i];
			m->items[m->n++].function = i;
		}
	if (r == 0 && m->n)
		qsort(m->items, m->n, sizeof(*m->items), by_time);
	return r;
}

static int methods_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct methods *m = rows->own;
	(void)err;
	if (rows->at >= m->n)
		return 0;
	const struct method *method = &m->items[rows->at++];
	const struct zts_sums sums = method->sums;
	const struct pm_function *function = &m->tree->functions[method->function];
	for (uint32_t i = 0; i < rows->table->n_columns; i++)
		cells[i] = pm_cell_empty();
	cells[0] = pm_cell_u64(sums.calls);
	cells[2] = zts_sum_cell(sums.inclusive_ns);
	cells[3] = zts_sum_cell(sums.exclusive_ns);
	cells[rows->table->n_columns - 1] = pm_cell_text(m->tree->texts[function->name]);
	return 1;
}

/* ---- which there are ---- */

static const struct pm_table_type traces_type = {.columns = traces_columns, .next = traces_next};
static const struct pm_table_type methods_type = {
	.start = methods_start, .next = methods_next, .done = methods_done};

int zts_window_document(const struct pm_profile *p, const struct pm_window *window, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	static const char *const paths[] = {
		"traces.csv", "traces.tsv", "methods.csv", "methods.tsv"};
	struct pm_table table = zts_table(zts_of(p), k < 2 ? ZTS_TABLE_TRACES : ZTS_TABLE_METHODS);
	(void)err;
	if (k >= sizeof(paths) / sizeof(*paths))
		return 0;
	table.type = k < 2 ? &traces_type : &methods_type;
	table.self = window;
	*ret = (struct pm_named_doc){paths[k], k % 2 ? pm_doc_tsv(table) : pm_doc_csv(table)};
	return 1;
}
