/*
 * spans.csv: attributes and exceptions of all calls, a row for each. A row's position is the number
 * of the trace and, in the lower bits, that of the row in the trace. The table can be five times
 * the store, so nothing of it is kept: traces are read as rows are asked for.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/work.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

static const char *const columns[] = {"time_ns", "duration_ns", "self_ns", "timestamp_ns", "error",
	"depth", "call", "trace", "kind", "method", "attribute", "value"};
static const char types[] = "????iiittttt";

enum {
	N_COLUMNS = sizeof(columns) / sizeof(*columns),
	ROW_BITS = 32,
	PIECES = 64,
	LEAST = 16 /* traces */
};

struct cursor {
	const struct zts_scope *scope;
	struct zts_traces reader;
	uint32_t trace;   /* that the reader has; PM_NONE: none */
	zts_sum *self_ns; /* of its calls; NULL: it has no rows */
	struct pm_text path;
	uint32_t call, row; /* a call, and the number of its first row */
};

static int spans_columns(struct pm_table *table, struct pm_error *err)
{
	const struct zts_scope *scope;
	int r = zts_scope_of(table->self, table->a, &scope, err);
	if (r < 0)
		return r;
	table->end = (uint64_t)(scope->end - scope->first) << ROW_BITS;
	table->piece = (uint64_t)((scope->end - scope->first) / PIECES + LEAST) << ROW_BITS;
	return 0;
}

static int spans_start(struct pm_rows *rows, struct pm_error *err)
{
	struct cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	c->trace = PM_NONE;
	int r = zts_scope_of(rows->table->self, rows->table->a, &c->scope, err);
	return r < 0 ? r : zts_traces_init(&c->reader, c->scope->z, err);
}

static void spans_done(struct pm_rows *rows)
{
	struct cursor *c = rows->own;
	zts_traces_done(&c->reader);
	pm_text_done(&c->path);
	free(c->self_ns);
	free(c);
}

/* Goes on to that trace. One that cannot be read has no rows; damage.csv says why. */
static int read_trace(struct cursor *c, uint32_t trace, struct pm_error *err)
{
	const struct zts_opened *z = c->scope->z;
	free(c->self_ns);
	c->self_ns = NULL;
	c->trace = trace;
	c->call = c->row = 0;
	if (pm_work_cancelled())
		return pm_error_plain(err, PM_CANCELLED);
	int r = zts_traces_get(&c->reader, trace, err);
	if (r <= 0)
		return pm_is_passing(r) ? r : 0;
	c->self_ns = zts_tree_self(&c->reader.tree);
	pm_text_clear(&c->path);
	zts_trace_path(z, &z->survey.traces[trace], &c->path);
	return c->self_ns && !c->path.failed ? 0 : pm_error_plain(err, -ENOMEM);
}

/* The call with that row of the trace, which becomes the current one; false beyond the last. */
static bool find_row(struct cursor *c, uint32_t row)
{
	const struct zts_tree *tree = &c->reader.tree;
	if (row < c->row)
		c->call = c->row = 0;
	for (; c->self_ns && c->call < tree->n; c->call++) {
		const struct zts_call *call = &tree->calls[c->call];
		uint32_t n = call->n_attrs + ((call->has & ZTS_HAS_EXCEPTION) != 0);
		if (row - c->row < n)
			return true;
		c->row += n;
	}
	return false;
}

static void put_numbers(const struct cursor *c, struct pm_cell *cells)
{
	const struct zts_survey *v = &c->scope->z->survey;
	const struct zts_call *root = c->reader.tree.calls, *call = root + c->call;
	uint64_t begin_ns = v->traces[c->trace].timestamp_ns;
	int64_t duration_ns, delay_ns;
	bool ended = zts_call_duration(call, &duration_ns);
	bool started = zts_call_delay(root, call, &delay_ns);
	cells[0] = started ? zts_sum_cell((zts_sum)begin_ns - v->origin_ns + delay_ns)
			   : pm_cell_empty();
	cells[1] = ended ? pm_cell_i64(duration_ns) : pm_cell_empty();
	cells[2] = ended ? zts_sum_cell(c->self_ns[c->call]) : pm_cell_empty();
	cells[3] = started ? pm_cell_u64(zts_call_time(begin_ns, root, call)) : pm_cell_empty();
	cells[4] = pm_cell_u64((call->flags & ZTS_FLAG_ERROR) != 0);
	cells[5] = pm_cell_u64(call->depth);
	cells[6] = pm_cell_u64(c->call + 1);
}

static void put_texts(
	const struct cursor *c, uint32_t row, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct zts_tree *tree = &c->reader.tree;
	const struct zts_call *call = &tree->calls[c->call];
	const struct zts_texts *texts = zts_texts_of(c->scope->z, call->store);
	struct pm_text *s = rows->scratch;
	zts_name_method(texts, call->method, s);
	size_t method = s->len;
	cells[0] = pm_cell_text(pm_text_view(&c->path));
	if (row - c->row < call->n_attrs) {
		const struct zts_attr *attr = &tree->attrs[call->attr + row - c->row];
		cells[1] = pm_cell_str("attribute");
		cells[3] = pm_cell_text(attr->key);
		cells[4] = pm_cell_text(attr->value);
	} else {
		struct pm_text message = {.p = NULL};
		zts_exception_names(texts, call->exception, s, &message);
		size_t class = s->len;
		pm_text_bytes(s, pm_text_view(&message));
		pm_text_end(&message, s);
		cells[1] = pm_cell_str("exception");
		cells[3] = zts_scratch_cell(rows, method, class);
		cells[4] = zts_scratch_cell(rows, class, s->len);
	}
	cells[2] = zts_scratch_cell(rows, 0, method);
}

static int spans_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	enum { NUMBERS = 7 };
	struct cursor *c = rows->own;
	while (rows->at >> ROW_BITS < c->scope->end - c->scope->first) {
		uint64_t at = rows->at >> ROW_BITS; /* among the traces of the scope */
		uint32_t trace = c->scope->first + (uint32_t)at, row = (uint32_t)rows->at;
		int r = trace == c->trace ? 0 : read_trace(c, trace, err);
		if (r < 0)
			return r;
		if (find_row(c, row)) {
			rows->row = rows->at++;
			put_numbers(c, cells);
			put_texts(c, row, rows, cells + NUMBERS);
			return 1;
		}
		rows->at = (at + 1) << ROW_BITS;
	}
	return 0;
}

struct pm_table zts_spans_table(const void *self, enum zts_of of)
{
	static const struct pm_table_type type = {.next = spans_next,
		.start = spans_start,
		.columns = spans_columns,
		.done = spans_done,
		.dense = true};
	return (struct pm_table){.type = &type,
		.columns = columns,
		.n_columns = N_COLUMNS,
		.self = self,
		.a = of,
		.types = types};
}
