/* Tables over all stores: traces, methods, attributes, statements, exceptions. */
#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

static const char *const method_columns[] = {"calls", "errors", "time_ns_incl", "time_ns_excl",
	"time_ns_min", "time_ns_max", "p50_ns", "p90_ns", "p99_ns", "max_ns", "method"};
static const char *const attribute_columns[] = {"traces", "trace_errors", "calls", "errors",
	"time_ns_incl", "p50_ns", "p99_ns", "max_ns", "slowest", "attribute", "value"};
static const char *const statement_columns[] = {"traces", "trace_errors", "calls", "errors",
	"time_ns_incl", "p50_ns", "p99_ns", "max_ns", "slowest", "statement"};
static const char *const exception_columns[] = {
	"count", "first_ns", "last_ns", "path", "class", "message"};
#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

/* ---- traces.csv ---- */

int zts_traces_columns(const struct zts_opened *z, struct pm_table *table, struct pm_error *err)
{
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	table->columns = v->columns.names;
	table->types = v->columns.types;
	table->n_columns = v->columns.n;
	return 0;
}

static int traces_columns(struct pm_table *table, struct pm_error *err)
{
	return zts_traces_columns(table->self, table, err);
}

/* The cells of a trace except its names; returns the next cell. */
static struct pm_cell *trace_numbers(const struct zts_opened *z, const struct zts_survey *v,
	const struct zts_trace *t, struct pm_cell *cells)
{
	const struct zts_part *part = &v->parts[t->part];
	struct pm_cell row[] = {
		pm_cell_u64(t->timestamp_ns - v->origin_ns), zts_known_u64(t->duration_ns),
		pm_cell_u64(t->timestamp_ns), pm_cell_u64(t->calls), pm_cell_u64(t->records),
		pm_cell_u64(t->errors), pm_cell_u64(t->error), pm_cell_empty(), /* trace_id */
		zts_known_id(t->span_id), zts_known_id(t->parent_id),
		pm_cell_str(z->stores.items[t->store].number),
		part->chunk == PM_NONE ? pm_cell_empty() : pm_cell_u64(part->chunk),
		pm_cell_empty(), /* path */
	};
	memcpy(cells, row, sizeof(row));
	cells += COUNT(row);
	for (uint32_t i = 0; v->columns.origins && i < ZTS_N_ORIGINS; i++)
		*cells++ = t->has_origin ? pm_cell_u64(t->origin[i]) : pm_cell_empty();
	return cells;
}

int zts_trace_row(const struct zts_opened *z, uint32_t trace, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_error *err)
{
	enum { TRACE_ID = 7, PATH = 12 };
	const struct zts_survey *v = &z->survey;
	const struct zts_trace *t = &v->traces[trace];
	const struct zts_texts *texts;
	size_t ends[ZTS_ATTR_COLUMNS];
	struct pm_text *s = rows->scratch;
	int r = zts_store_texts(&z->stores.items[t->store], &texts, err);
	if (r < 0)
		return r;
	if (t->has_trace_id)
		zts_add_trace_id(s, t->trace_id);
	size_t path = s->len;
	zts_trace_path(z, t, s);
	size_t attrs = s->len;
	for (uint32_t i = 0; i < v->columns.n_attrs; i++) {
		const struct zts_kept *attr = zts_trace_attr(v, t, v->columns.attrs[i]);
		if (attr)
			zts_kept_text(attr, texts, s);
		ends[i] = s->len;
	}
	size_t method = s->len;
	if (t->method)
		zts_name_method(texts, t->method, s);
	struct pm_cell *next = trace_numbers(z, v, t, cells);
	cells[TRACE_ID] = zts_scratch_cell(rows, 0, path);
	cells[PATH] = zts_scratch_cell(rows, path, attrs);
	for (uint32_t i = 0; i < v->columns.n_attrs; i++)
		*next++ = zts_scratch_cell(rows, i ? ends[i - 1] : attrs, ends[i]);
	*next = zts_scratch_cell(rows, method, s->len);
	return 1;
}

static int traces_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z = rows->table->self;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || rows->at >= v->n)
		return r;
	return zts_trace_row(z, (uint32_t)rows->at++, rows, cells, err);
}

/* ---- methods.csv, attributes.csv, statements.csv ---- */

void zts_method_row(const struct zts_method *m, struct pm_cell *cells)
{
	cells[0] = pm_cell_u64(m->sums.calls);
	cells[1] = pm_cell_u64(m->sums.errors);
	cells[2] = zts_sum_cell(m->sums.inclusive_ns);
	cells[3] = zts_sum_cell(m->sums.exclusive_ns);
	cells[4] = m->ended ? pm_cell_i64(m->min_ns) : pm_cell_empty();
	cells[5] = m->ended ? pm_cell_i64(m->max_ns) : pm_cell_empty();
	cells[6] = m->times.known ? pm_cell_u64(m->times.p50_ns) : pm_cell_empty();
	cells[7] = m->times.known ? pm_cell_u64(m->times.p90_ns) : pm_cell_empty();
	cells[8] = m->times.known ? pm_cell_u64(m->times.p99_ns) : pm_cell_empty();
	cells[9] = m->times.known ? pm_cell_u64(m->times.max_ns) : pm_cell_empty();
	cells[10] = pm_cell_text(m->name);
}

static int methods_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(rows->table->self, &a, err);
	if (r < 0 || rows->at >= a->n_methods)
		return r;
	zts_method_row(&a->methods[rows->at++], cells);
	return 1;
}

struct pm_cell *zts_put_times(const struct zts_opened *z, const struct zts_attr_sums *sums,
	struct pm_rows *rows, struct pm_cell *cells)
{
	const struct pm_call_times *t = &sums->times;
	bool timed = sums->slowest != PM_NONE;
	if (timed)
		zts_trace_path(z, &z->survey.traces[sums->slowest], rows->scratch);
	cells[0] = timed ? zts_sum_cell(sums->time_ns) : pm_cell_empty();
	cells[1] = t->known ? pm_cell_u64(t->p50_ns) : pm_cell_empty();
	cells[2] = t->known ? pm_cell_u64(t->p99_ns) : pm_cell_empty();
	cells[3] = t->known ? pm_cell_u64(t->max_ns) : pm_cell_empty();
	cells[4] = zts_scratch_cell(rows, 0, rows->scratch->len);
	return cells + 5;
}

static int get_carried(const struct pm_rows *rows, const struct zts_opened **ret_z,
	const struct zts_aggregate **ret, struct pm_error *err)
{
	const struct zts_scope *scope;
	int r = zts_scope_of(rows->table->self, rows->table->a, &scope, err);
	if (r < 0)
		return r;
	*ret_z = scope->z;
	return zts_get_carried(scope, ret, err);
}

/* Of attributes, or of statements, which have no key. */
static int attributes_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z;
	const struct zts_aggregate *carried;
	bool keyed = rows->table->columns == attribute_columns;
	int r = get_carried(rows, &z, &carried, err);
	if (r < 0)
		return r;
	const struct zts_attributes *of =
		keyed ? &carried->all->attributes : &carried->all->statements;
	if (rows->at >= of->texts.n)
		return 0;
	const struct zts_attr_sums *sums = &of->items[rows->at++];
	cells[0] = pm_cell_u64(sums->traces);
	cells[1] = pm_cell_u64(sums->trace_errors);
	cells[2] = pm_cell_u64(sums->calls);
	cells[3] = pm_cell_u64(sums->errors);
	struct pm_cell *next = zts_put_times(z, sums, rows, &cells[4]);
	if (keyed)
		*next++ = pm_cell_lasting(sums->key);
	*next = pm_cell_text(sums->value);
	return 1;
}

/* ---- exceptions.csv ---- */

static int exceptions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z;
	const struct zts_aggregate *carried;
	int r = get_carried(rows, &z, &carried, err);
	if (r < 0 || rows->at >= carried->all->exceptions.texts.n)
		return r;
	const struct zts_thrown *thrown = &carried->all->exceptions.items[rows->at++];
	const struct zts_survey *v = &z->survey;
	zts_trace_path(z, &v->traces[thrown->trace], rows->scratch);
	cells[0] = pm_cell_u64(thrown->count);
	cells[1] = zts_sum_cell((zts_sum)thrown->first_ns - v->origin_ns);
	cells[2] = zts_sum_cell((zts_sum)thrown->last_ns - v->origin_ns);
	cells[3] = pm_cell_text(pm_text_view(rows->scratch));
	cells[4] = pm_cell_lasting(thrown->class);
	cells[5] = pm_cell_text(thrown->message);
	return 1;
}

static const struct pm_table_type traces_type = {.columns = traces_columns, .next = traces_next};
static const struct pm_table_type methods_type = {.next = methods_next};
static const struct pm_table_type attributes_type = {.next = attributes_next};
static const struct pm_table_type exceptions_type = {.next = exceptions_next};

struct pm_table zts_table(const void *self, enum zts_of of, enum zts_table which)
{
	static const struct pm_table tables[] = {
		[ZTS_TABLE_TRACES] = {&traces_type, NULL, 0},
		[ZTS_TABLE_METHODS] = {&methods_type, method_columns, COUNT(method_columns)},
		[ZTS_TABLE_ATTRIBUTES] = {&attributes_type, attribute_columns,
			COUNT(attribute_columns)},
		[ZTS_TABLE_STATEMENTS] = {&attributes_type, statement_columns,
			COUNT(statement_columns)},
		[ZTS_TABLE_EXCEPTIONS] = {&exceptions_type, exception_columns,
			COUNT(exception_columns)},
	};
	struct pm_table table = tables[which];
	table.self = self;
	table.a = of;
	return table;
}
