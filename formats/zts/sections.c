/*
 * What summary.txt shows of a store in addition to functions: its traces, the slowest ones,
 * exceptions.
 */
#include <errno.h>
#include <time.h>

#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/parts.h"

/* ---- all traces: one row ---- */

static void add_stamp(struct pm_text *out, uint64_t ns)
{
	char stamp[sizeof("YYYY-MM-DD HH:MM:SS")];
	struct tm tm;
	time_t seconds = (time_t)(ns / 1000000000u);
	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	pm_text_str(out, stamp);
}

static int traces_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_scope *scope;
	const struct pm_window *window = rows->table->a == ZTS_OF_WINDOW ? rows->table->self : NULL;
	int r = zts_scope_of(rows->table->self, rows->table->a, &scope, err);
	if (r < 0 || rows->at > 0)
		return r;
	const struct zts_survey *v = &scope->z->survey;
	rows->at++;
	cells[0] = pm_cell_u64(scope->end - scope->first);
	cells[1] = pm_cell_u64(scope->n_failed);
	cells[2] = pm_cell_u64(v->n_stores);
	if (v->n) {
		add_stamp(rows->scratch, window ? window->start_ns : v->origin_ns);
		pm_text_str(rows->scratch, " to ");
		add_stamp(rows->scratch, window ? window->end_ns : v->end_ns);
		pm_text_str(rows->scratch, " UTC");
	}
	cells[3] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

/* ---- the slowest ---- */

/* `StandardEngineValve.invoke` of `void org.apache…StandardEngineValve.invoke(Request)`. */
static struct pm_bytes short_name(struct pm_bytes name)
{
	const uint8_t *arguments = name.len ? memchr(name.p, '(', name.len) : NULL;
	size_t end = arguments ? (size_t)(arguments - name.p) : name.len, from = 0;
	unsigned dots = 0;
	for (size_t i = end; i-- > 0 && from == 0;)
		if (name.p[i] == ' ' || (name.p[i] == '.' && ++dots == 2))
			from = i + 1;
	return from < end ? (struct pm_bytes){name.p + from, end - from}
			  : (struct pm_bytes){name.p, 0};
}

/* The texts of the store were read with the survey. */
static void add_what(const struct zts_opened *z, const struct zts_survey *v,
	const struct zts_trace *t, struct pm_text *out)
{
	const struct zts_texts *texts = zts_texts_of(z, t->store);
	struct pm_text name = {.p = NULL};
	uint32_t column = zts_columns_telling(v, t);
	if (column != PM_NONE) {
		zts_kept_text(zts_trace_attr(v, t, v->columns.attrs[column]), texts, out);
		pm_text_str(out, "  ");
	}
	if (t->method)
		zts_name_method(texts, t->method, &name);
	pm_text_bytes(out, short_name(pm_text_view(&name)));
	pm_text_end(&name, out);
}

/* Of the trace's own call, the first row of its calls.csv; empty if it cannot be read. */
static int own_time(
	const struct zts_opened *z, uint32_t trace, struct pm_cell *ret, struct pm_error *err)
{
	const struct pm_table calls = zts_calls_table(z, trace);
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pm_rows rows = {.table = NULL};
	struct pm_cell cells[7];
	int r = pm_rows_start(&rows, &calls, 0, &why);
	if (r == 0)
		r = pm_rows_next(&rows, cells, &why);
	*ret = r > 0 ? cells[2] : pm_cell_empty();
	pm_rows_done(&rows);
	return pm_is_passing(r) ? pm_error_plain(err, r) : 0;
}

static int slow_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_scope *scope;
	int r = zts_scope_of(rows->table->self, rows->table->a, &scope, err);
	if (r < 0 || rows->at >= scope->n_slow)
		return r;
	const struct zts_survey *v = &scope->z->survey;
	const struct zts_trace *t = &v->traces[scope->slow[rows->at++]];
	add_what(scope->z, v, t, rows->scratch);
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = t->duration_ns == PM_NO_TIME ? pm_cell_empty() : pm_cell_u64(t->duration_ns);
	r = own_time(scope->z, scope->slow[rows->at - 1], &cells[2], err);
	cells[3] = pm_cell_u64(t->calls);
	cells[4] = pm_cell_u64(t->errors);
	cells[5] = pm_cell_text(pm_text_view(rows->scratch));
	return r < 0 ? r : 1;
}

/* ---- exceptions ---- */

static int exceptions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_scope *scope;
	const struct zts_aggregate *carried;
	int r = zts_scope_of(rows->table->self, rows->table->a, &scope, err);
	if (r == 0)
		r = zts_get_carried(scope, &carried, err);
	if (r < 0 || rows->at >= carried->all->exceptions.n_classes)
		return r;
	const struct zts_thrown_class *of = &carried->all->exceptions.classes[rows->at++];
	const struct zts_thrown *thrown = &carried->all->exceptions.items[of->most];
	pm_text_bytes(rows->scratch, thrown->class);
	if (thrown->message.len) {
		pm_text_str(rows->scratch, ": ");
		pm_text_bytes(rows->scratch, thrown->message);
	}
	cells[0] = pm_cell_u64(of->count);
	cells[1] = pm_cell_u64(of->n_messages);
	cells[2] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static struct pm_section section(const void *self, enum zts_of of, uint32_t k)
{
	static const char *const traces[] = {"traces", "errors", "stores", "from and to"};
	static const char *const slow[] = {
		"slow", "duration_ns", "own_ns", "calls", "errors", "URL or SQL, and method"};
	static const char *const exceptions[] = {
		"count", "messages", "class: most frequent message"};
	static const struct pm_table_type types[ZTS_N_SECTIONS] = {
		{.next = traces_next}, {.next = slow_next}, {.next = exceptions_next}};
	const struct pm_section all[ZTS_N_SECTIONS] = {
		{of == ZTS_OF_RUN ? "Traces" : "Traces that begin in this time",
			{&types[0], traces, 4, self, of, 0, 0}},
		{"Slowest traces (the directories of slow/; own: what no call below explains)",
			{&types[1], slow, 6, self, of, 0, 0}},
		{"Exceptions by class (exceptions.csv: by message)",
			{&types[2], exceptions, 3, self, of, 0, 0}},
	};
	return all[k];
}

void zts_list_sections(
	const void *self, enum zts_of of, struct pm_section ret[static ZTS_N_SECTIONS])
{
	for (uint32_t k = 0; k < ZTS_N_SECTIONS; k++)
		ret[k] = section(self, of, k);
}
