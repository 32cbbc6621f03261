/* calls.csv and attributes.csv of one trace. */
#include <stdlib.h>

#include "formats/zts/names.h"
#include "formats/zts/parts.h"
#include "formats/zts/records.h"

static const char *const call_columns[] = {
	"time_ns", "duration_ns", "self_ns", "depth", "calls", "error", "method"};
static const char *const attr_columns[] = {"attribute", "value"};

/* State of a cursor: the trace's tree, held while the cursor lives. */
struct cursor {
	const struct zts_opened *z;
	const struct zts_tree *tree;
	zts_sum *self_ns;
	uint64_t begin_ns; /* of the trace, from the time origin */
};

static void trace_done(struct pm_rows *rows)
{
	struct cursor *c = rows->own;
	if (c->tree)
		zts_release_tree(c->z, c->tree);
	free(c->self_ns);
	free(c);
}

static int trace_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct zts_survey *v;
	struct cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	c->z = rows->table->self;
	int r = zts_get_survey(c->z, &v, err);
	if (r == 0)
		r = zts_get_tree(c->z, (uint32_t)rows->table->a, &c->tree, err);
	if (r < 0)
		return r;
	c->begin_ns = v->traces[rows->table->a].timestamp_ns - v->origin_ns;
	c->self_ns = zts_tree_self(c->tree);
	return c->self_ns ? 0 : pm_error_plain(err, -ENOMEM);
}

static int calls_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct cursor *c = rows->own;
	(void)err;
	if (rows->at >= c->tree->n)
		return 0;
	const struct zts_call *root = &c->tree->calls[0], *call = &c->tree->calls[rows->at];
	zts_sum self_ns = c->self_ns[rows->at++];
	int64_t duration_ns;
	bool ended = zts_call_duration(call, &duration_ns);
	int64_t time_ns;
	bool started = zts_call_delay(root, call, &time_ns) &&
		!__builtin_add_overflow(c->begin_ns, time_ns, &time_ns);
	zts_name_method(zts_texts_of(c->z, call->store), call->method, rows->scratch);
	cells[0] = started ? pm_cell_i64(time_ns) : pm_cell_empty();
	cells[1] = ended ? pm_cell_i64(duration_ns) : pm_cell_empty();
	cells[2] = ended ? zts_sum_cell(self_ns) : pm_cell_empty();
	cells[3] = pm_cell_u64(call->depth);
	cells[4] = pm_cell_u64(call->calls);
	cells[5] = pm_cell_u64((call->flags & ZTS_FLAG_ERROR) != 0);
	cells[6] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static int attrs_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct cursor *c = rows->own;
	const struct zts_call *root = &c->tree->calls[0];
	(void)err;
	if (rows->at >= root->n_attrs)
		return 0;
	const struct zts_attr *attr = &c->tree->attrs[root->attr + rows->at++];
	cells[0] = pm_cell_text(attr->key);
	cells[1] = pm_cell_text(attr->value);
	return 1;
}

static const struct pm_table_type calls_type = {
	.next = calls_next, .start = trace_start, .done = trace_done};
static const struct pm_table_type attrs_type = {
	.next = attrs_next, .start = trace_start, .done = trace_done};

struct pm_table zts_calls_table(const struct zts_opened *z, uint32_t trace)
{
	return (struct pm_table){&calls_type, call_columns, 7, z, trace};
}

struct pm_table zts_trace_attrs_table(const struct zts_opened *z, uint32_t trace)
{
	return (struct pm_table){&attrs_type, attr_columns, 2, z, trace};
}
