/*
 * What summary.txt shows of a store in addition to functions: its traces, the slowest ones,
 * exceptions.
 */
#include <time.h>

#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

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

void zts_list_sections(
	const void *self, enum zts_of of, struct pm_section ret[static ZTS_N_SECTIONS])
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
	memcpy(ret, all, sizeof(all));
}

/*
 * ==== recipes.txt ====
 * Commands for stores, with names and values from this store.
 */

/* The columns of traces.csv for some attributes. */
static void add_columns(const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_columns *c = &v->columns;
	if (c->origins)
		pm_text_str(out,
			"  traces.csv has the collector's numbers for the origin of a trace:\n");
	for (uint32_t i = 0; c->origins && i < ZTS_N_ORIGINS; i++)
		pm_text_printf(out, "    $%-3u %s\n", c->first_attr - ZTS_N_ORIGINS + i + 1,
			c->names[c->first_attr - ZTS_N_ORIGINS + i]);
	if (c->n_attrs == 0)
		return;
	pm_text_printf(out,
		"  traces.csv has a column for each of the %u most frequent attributes:\n",
		c->n_attrs);
	for (uint32_t i = 0; i < c->n_attrs; i++) {
		pm_text_printf(out, "    $%-3u %-24s ", c->first_attr + i + 1,
			c->names[c->first_attr + i]);
		pm_text_line(out, v->attr_names.texts.items[c->attrs[i]]);
		pm_text_char(out, '\n');
	}
}

/* Can it be put between double quotes in an awk program between single quotes? */
static bool is_plain(struct pm_bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < ' ' || text.p[i] > '~' || strchr("'\"\\", text.p[i]))
			return false;
	return text.len > 0 && text.len <= 80;
}

/* ` && $16 == "500"`; false if the trace's value cannot be used in a command. */
static bool add_condition(const struct zts_opened *z, const struct zts_survey *v,
	const struct zts_trace *t, uint32_t column, struct pm_text *out)
{
	struct pm_text value = {.p = NULL};
	const struct zts_kept *attr =
		column == PM_NONE ? NULL : zts_trace_attr(v, t, v->columns.attrs[column]);
	if (!attr)
		return false;
	zts_kept_text(attr, zts_texts_of(z, t->store), &value);
	bool plain = is_plain(pm_text_view(&value));
	if (plain) {
		pm_text_printf(out, " && $%u == \"", v->columns.first_attr + column + 1);
		pm_text_bytes(out, pm_text_view(&value));
		pm_text_char(out, '"');
	}
	pm_text_end(&value, out);
	return plain;
}

/*
 * Traces similar to the longest one: at least half as long, with the same status, for the same
 * request.
 */
static void add_search(const struct zts_opened *z, const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_trace *t = &v->traces[v->slow[0]];
	struct pm_text conditions = {.p = NULL};
	uint32_t telling = zts_columns_telling(v, t), status = zts_columns_find(v, "status");
	bool any = add_condition(z, v, t, status, &conditions);
	if (telling != status)
		any |= add_condition(z, v, t, telling, &conditions);
	if (!any)
		any = add_condition(z, v, t, v->columns.n_attrs ? 0 : PM_NONE, &conditions);
	if (any && t->duration_ns != PM_NO_TIME) {
		pm_text_printf(out,
			"  Which traces with these attributes were slow?\n"
			"$ awk -F'\\t' '$2 > %llu",
			(unsigned long long)(t->duration_ns / 2));
		pm_text_bytes(out, pm_text_view(&conditions));
		pm_text_str(out, "' traces.tsv\n");
	}
	pm_text_end(&conditions, out);
}

static void add_longest(const struct zts_opened *z, const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_trace *t = &v->traces[v->slow[0]];
	pm_text_str(out,
		"  What happened in the longest trace?\n"
		"$ cat ");
	zts_trace_path(z, t, out);
	pm_text_str(out, "/tree.txt\n");
	if (!t->has_exception)
		return;
	pm_text_str(
		out, "$ jq '[.. | objects | select(.exception?) | .exception.class] | unique' ");
	zts_trace_path(z, t, out);
	pm_text_str(out, "/trace.json\n");
}

int zts_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = zts_opened_of(p);
	const struct zts_aggregate *a;
	const struct zts_survey *v;
	bool thrown = false;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || v->n == 0)
		return r;
	pm_text_str(out,
		"  Which traces took the longest?\n"
		"$ sort -t, -k2,2nr traces.csv | head\n");
	pm_text_str(out,
		"  Which requests take the most time, and how long does each take?\n"
		"$ head requests.csv\n");
	if (v->n_failed > 0)
		pm_text_str(out,
			"  Which traces failed?\n"
			"$ awk -F, '$7 == 1' traces.csv\n");
	for (uint32_t i = 0; i < v->n; i++)
		thrown |= v->traces[i].has_exception && !v->traces[i].lost;
	if (thrown)
		pm_text_str(out,
			"  Which exceptions were thrown most often, and in which trace first?\n"
			"$ head exceptions.csv\n"
			"  Which calls threw them, and when? (spans.csv has attributes, too)\n"
			"$ grep ',exception,' spans.csv | head\n");
	if ((r = zts_get_aggregate(z, &a, err)) < 0)
		return r;
	if (a->all->statements.texts.n > 0)
		pm_text_str(out,
			"  Which SQL takes the most time, and where was it slowest?\n"
			"$ head statements.csv\n");
	if (a->n_methods > 0)
		pm_text_str(out,
			"  Which methods are the most expensive, and which fail most often?\n"
			"$ head methods.tsv; sort -k 2,2nr methods.tsv | head\n");
	if (!v->traces[v->slow[0]].lost) {
		add_search(z, v, out);
		add_longest(z, v, out);
	}
	add_columns(v, out);
	return 0;
}
