/*
 * What only trace stores have in a window: its traces, and its methods. Times of methods are those
 * of the parts inside, added up by context, as in contexts.csv. Calls, errors, the shortest and the
 * longest call and percentiles are of the calls that begin inside, with their whole duration: where
 * these are all calls of the run, those of the run; otherwise the traces that have records in the
 * window are read, on all processors.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/common/callcosts.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/zts/zts.h"

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

enum { BETWEEN_QUESTIONS = 1 << 12 /* contexts */ };

struct window_methods {
	struct zts_method *items; /* those that run in it, by exclusive time, highest first */
	size_t n;
	struct pm_arena arena;
};

struct building {
	struct window_methods *m;
	const struct pm_window *window;
	const struct zts_opened *z;
	const struct pm_tree *tree; /* of the window; its functions are those of the run */
	struct zts_method *items;   /* by function */
	bool *runs;
	struct pm_arena *scratch;
	uint32_t *traces; /* with records in the window */
	size_t n_traces, room;
	struct pm_error *err;
};

/* ---- methods: times ---- */

/* Costs of windows are whole. */
static zts_sum whole(const struct pm_value *v)
{
	if (!v->whole)
		return (zts_sum)v->f;
	return v->negative ? (zts_sum)v->i : (zts_sum)v->u;
}

static void add_context(struct building *b, uint32_t context, bool outermost)
{
	const struct pm_profile *p = b->window->profile;
	struct pm_value values[PM_CALLS_N_METRICS];
	uint32_t function = pm_tree_frame(b->tree, context)->function;
	struct zts_method *method = &b->items[function];
	int64_t n = p->ops->run_costs(p, context, values, PM_CALLS_N_METRICS, b->err);
	pm_build_check(b->scratch, n < 0 ? (int)n : 0);
	for (int64_t i = 0; i < n; i++) {
		zts_sum cost = whole(&values[i]);
		switch (values[i].metric) {
		case PM_CALLS_INCL: method->sums.inclusive_ns += outermost ? cost : 0; break;
		case PM_CALLS_EXCL: method->sums.exclusive_ns += cost; break;
		case PM_CALLS_CALLS: method->sums.calls += (uint64_t)cost; break;
		default: break;
		}
	}
	b->runs[function] = true;
}

/* A context is outermost if no context of the same method is open around it. */
static void add_contexts(struct building *b)
{
	const struct pm_tree *tree = b->tree;
	uint32_t *end = pm_arena_array(b->scratch, (size_t)tree->n_functions + 1, sizeof(*end));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t *around = &end[pm_tree_frame(tree, i)->function];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(b->scratch);
		add_context(b, i, i >= *around);
		if (i >= *around)
			*around = tree->end[i];
	}
}

/* ---- methods: calls that begin inside ---- */

static void list_traces(struct building *b)
{
	const struct pm_window *w = b->window;
	const struct zts_samples *s = &b->z->samples;
	uint64_t at = 0, first, end;
	int r;
	while ((r = w->records(w, at, &first, &end, b->err)) > 0) {
		uint32_t place = zts_samples_place(s, first);
		for (; place < s->n_traces && s->first[place] < end; place++) {
			if (s->first[place] == s->first[place + 1])
				continue;
			pm_list_grow(
				b->scratch, &b->traces, b->n_traces, &b->room, sizeof(*b->traces));
			b->traces[b->n_traces++] = b->z->survey.by_store[place];
		}
		at = s->first[place]; /* the last trace is done with, too */
	}
	pm_build_check(b->scratch, r);
}

/* Besides times: of the run, or of what was counted in the window. */
static void take_calls(struct building *b, const struct zts_aggregate *a)
{
	for (size_t i = 0; i < a->n_methods; i++) {
		const struct zts_method *from = &a->methods[i];
		uint32_t function = zts_function_of(&b->z->aggregate, from);
		if (function == PM_NONE)
			continue;
		struct zts_method *to = &b->items[function];
		to->sums.calls = from->sums.calls;
		to->sums.errors = from->sums.errors;
		to->ended = from->ended;
		to->min_ns = from->min_ns;
		to->max_ns = from->max_ns;
		to->times = from->times;
	}
}

static void count_calls(struct building *b)
{
	const struct zts_aggregate *run = &b->z->aggregate;
	struct zts_aggregate inside;
	struct zts_samples *s;
	pm_build_check(b->scratch, zts_get_samples(b->z, &s, b->err));
	int all = b->window->has_all(b->window, b->err);
	for (size_t i = 0; i < run->n_methods && all > 0; i++)
		all = run->methods[i].sums.calls ==
			b->items[zts_function_of(run, &run->methods[i])].sums.calls;
	pm_build_check(b->scratch, all);
	if (all) {
		take_calls(b, run);
		return;
	}
	list_traces(b);
	const struct zts_wanted wanted = {
		.traces = b->traces, .n = (uint32_t)b->n_traces, .window = b->window};
	pm_build_check(b->scratch,
		zts_aggregate_build(
			&inside, zts_stores_of(b->z), &b->z->survey, &wanted, NULL, b->err));
	take_calls(b, &inside);
	zts_aggregate_done(&inside);
}

/* ---- methods: the whole ---- */

static void methods_free(void *data)
{
	struct window_methods *m = data;
	pm_arena_done(&m->arena);
	free(m);
}

static void build_methods(void *context)
{
	struct building *b = context;
	struct window_methods *m = b->m;
	struct pm_arena *a = &m->arena;
	pm_build_check(a, pm_profile_tree(b->window->profile, &b->tree, b->err));
	size_t n = b->tree->n_functions;
	b->scratch = pm_arena_scratch(a);
	b->items = pm_arena_array(a, n + 1, sizeof(*b->items));
	b->runs = pm_arena_array(b->scratch, n + 1, sizeof(*b->runs));
	add_contexts(b);
	count_calls(b);
	m->items = b->items;
	for (uint32_t i = 0; i < n; i++) { /* leaves those that run */
		if (!b->runs[i])
			continue;
		m->items[m->n] = m->items[i];
		m->items[m->n++].name = b->tree->texts[b->tree->functions[i].name];
	}
	pm_build_check(a, pm_sort(m->items, m->n, sizeof(*m->items), zts_method_by_time));
	pm_arena_done(b->scratch);
}

static int build(void *context, struct pm_error *err)
{
	const struct pm_window *window = context;
	struct building b = {calloc(1, sizeof(*b.m)), window, zts_opened_of(window->run)};
	b.err = err;
	int r = b.m ? pm_build(&b.m->arena, build_methods, &b) : -ENOMEM;
	if (r < 0 && b.m)
		methods_free(b.m);
	if (r < 0)
		return pm_error_plain(err, r);
	window->parts[ZTS_WINDOW_METHODS].data = b.m;
	window->parts[ZTS_WINDOW_METHODS].free = methods_free;
	return 0;
}

/* ---- methods.csv: a row's position is its number ---- */

static int methods_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_window *window = rows->table->self;
	struct pm_window_part *part = &window->parts[ZTS_WINDOW_METHODS];
	int r = pm_lazy_get(part->once, build, (void *)(uintptr_t)window, err);
	const struct window_methods *m = part->data;
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
