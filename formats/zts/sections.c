/*
 * What summary.txt shows of a store in addition to functions: its traces, the slowest ones,
 * exceptions.
 */
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
	const struct zts_survey *v;
	int r = zts_get_survey(rows->table->self, &v, err);
	if (r < 0 || rows->at > 0)
		return r;
	rows->at++;
	cells[0] = pm_cell_u64(v->n);
	cells[1] = pm_cell_u64(v->n_failed);
	cells[2] = pm_cell_u64(v->n_stores);
	if (v->n) {
		add_stamp(rows->scratch, v->origin_ns);
		pm_text_str(rows->scratch, " to ");
		add_stamp(rows->scratch, v->end_ns);
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

static int slow_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z = rows->table->self;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || rows->at >= v->n_slow)
		return r;
	const struct zts_trace *t = &v->traces[v->slow[rows->at++]];
	add_what(z, v, t, rows->scratch);
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = t->duration_ns == PM_NO_TIME ? pm_cell_empty() : pm_cell_u64(t->duration_ns);
	cells[2] = pm_cell_u64(t->calls);
	cells[3] = pm_cell_u64(t->errors);
	cells[4] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

/* ---- exceptions ---- */

static int exceptions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(rows->table->self, &a, err);
	if (r < 0 || rows->at >= a->exceptions.texts.n)
		return r;
	const struct zts_thrown *thrown = &a->exceptions.items[rows->at++];
	pm_text_bytes(rows->scratch, thrown->class);
	if (thrown->message.len) {
		pm_text_str(rows->scratch, ": ");
		pm_text_bytes(rows->scratch, thrown->message);
	}
	cells[0] = pm_cell_u64(thrown->count);
	cells[1] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

int zts_sections(const struct pm_profile *p, const struct pm_section **ret, size_t *ret_n,
	struct pm_error *err)
{
	static const char *const traces[] = {"traces", "errors", "stores", "from and to"};
	static const char *const slow[] = {
		"slow", "duration_ns", "calls", "errors", "URL or SQL, and method"};
	static const char *const exceptions[] = {"count", "class and message"};
	static const struct pm_table_type types[ZTS_N_SECTIONS] = {
		{.next = traces_next}, {.next = slow_next}, {.next = exceptions_next}};
	struct zts_opened *z = zts_opened_of(p);
	const struct pm_section all[ZTS_N_SECTIONS] = {
		{"Traces", {&types[0], traces, 4, z, 0, 0, 0}},
		{"Slowest traces (the directories of slow/)", {&types[1], slow, 5, z, 0, 0, 0}},
		{"Most frequent exceptions (exceptions.csv)",
			{&types[2], exceptions, 2, z, 0, 0, 0}},
	};
	(void)err;
	memcpy(z->sections, all, sizeof(all));
	*ret = z->sections;
	*ret_n = ZTS_N_SECTIONS;
	return 0;
}
