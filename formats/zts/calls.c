/*
 * Assembles a trace: passes its parts, in order, to one reader of records and keeps the first
 * record with everything below it. Parts may be in different stores, whose ids refer to different
 * texts, so every id is kept together with the store of its part.
 */
#include "formats/zts/calls.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/records_next.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

struct reader {
	struct zts_stores *stores;
	struct zts_tree *tree;
	struct zts_records records;
	const struct zts_part *part; /* the part being read */
	const struct zts_texts *texts;
	uint32_t open; /* the innermost call that has not ended, or PM_NONE */
	struct pm_text scratch;
};

static int no_memory(struct pm_error *err)
{
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
}

/* Field by field: compilers fill a literal of this size with a slower instruction. */
static inline void init_call(
	struct zts_call *c, const struct reader *r, const struct zts_record_event *e)
{
	c->parent = r->open;
	c->depth = r->open == PM_NONE ? 0 : r->tree->calls[r->open].depth + 1;
	c->store = r->part->store;
	c->chunk = r->part->chunk;
	c->start_offset = r->part->start_offset + e->at;
	c->end = c->has = c->attr = c->n_attrs = 0;
	c->method = c->exception = c->tstart = c->tstop = 0;
	c->calls = c->flags = c->timestamp_ms = 0;
	c->span_id = c->parent_id = c->type = 0;
}

static inline int begin_call(
	struct reader *r, const struct zts_record_event *e, struct pm_error *err)
{
	struct zts_tree *t = r->tree;
	if (t->n >= PM_LIMIT_TRACE_CALLS)
		return pm_error_set(err, -EINVAL, "traces.dat", r->part->data_offset,
			"the trace has more than %u calls", PM_LIMIT_TRACE_CALLS);
	if (pm_list_room(&t->calls, t->n, &t->room, sizeof(*t->calls)) < 0)
		return no_memory(err);
	init_call(&t->calls[t->n], r, e);
	r->open = t->n++;
	return 1;
}

static inline void take_info(struct zts_call *c, const struct zts_record_event *e)
{
	switch (e->key) {
	case ZTS_TIMESTAMP:
		c->timestamp_ms = e->value;
		c->has |= ZTS_HAS_TIMESTAMP;
		break;
	case ZTS_TYPE:
		c->type = e->value;
		c->has |= ZTS_HAS_TYPE;
		break;
	case ZTS_FLAGS:
		c->flags = e->value;
		c->has |= ZTS_HAS_FLAGS;
		break;
	case ZTS_TSTART:
		c->tstart = e->value;
		c->has |= ZTS_HAS_TSTART;
		break;
	case ZTS_TSTOP:
		c->tstop = e->value;
		c->has |= ZTS_HAS_TSTOP;
		break;
	case ZTS_SPAN:
		c->span_id = e->value;
		c->has |= ZTS_HAS_SPAN;
		break;
	case ZTS_PARENT:
		c->parent_id = e->value;
		c->has |= ZTS_HAS_PARENT;
		break;
	case ZTS_CALLS: c->calls = e->value; break;
	case ZTS_METHOD: c->method = e->value; break;
	default: break; /* numbers without a meaning for the call */
	}
}

/* Copies an item into the tree's own memory. */
static int take_value(
	struct reader *r, bool as_key, struct pm_bytes *ret, bool *ret_text, struct pm_error *err)
{
	pm_text_clear(&r->scratch);
	int n = zts_value_read(&r->records, r->texts, as_key, &r->scratch, ret_text, err);
	if (n < 0)
		return n;
	if (r->scratch.failed && !r->scratch.full)
		return no_memory(err);
	if (r->scratch.full || r->tree->attr_bytes + r->scratch.len > PM_LIMIT_TRACE_TEXT)
		return pm_error_set(err, -EINVAL, "traces.dat", r->part->data_offset,
			"the trace's attributes take more than %zu bytes", PM_LIMIT_TRACE_TEXT);
	r->tree->attr_bytes += r->scratch.len;
	*ret = pm_arena_copy(&r->tree->texts, pm_text_view(&r->scratch));
	return ret->p ? 0 : no_memory(err);
}

static int take_attrs(struct reader *r, uint64_t n, struct pm_error *err)
{
	struct zts_tree *t = r->tree;
	bool unused;
	for (uint64_t i = 0; i < n; i++) {
		if (pm_list_room(&t->attrs, t->n_attrs, &t->attr_room, sizeof(*t->attrs)) < 0)
			return no_memory(err);
		struct zts_attr *attr = &t->attrs[t->n_attrs];
		t->attr_bytes += sizeof(*attr);
		*attr = (struct zts_attr){.call = r->open, .order = (uint32_t)t->n_attrs};
		int code = take_value(r, true, &attr->key, &unused, err);
		if (code == 0)
			code = take_value(r, false, &attr->value, &attr->is_text, err);
		if (code < 0)
			return code;
		t->n_attrs++;
	}
	return 1;
}

/* Returns 1 to continue, 0 when the trace's own record has ended. */
static inline int take_event(
	struct reader *r, const struct zts_record_event *e, struct pm_error *err)
{
	struct zts_tree *t = r->tree;
	if (e->kind == ZTS_RECORD_BEGIN)
		return begin_call(r, e, err);
	if (r->open == PM_NONE)
		return pm_error_set(err, -EINVAL, "traces.dat", r->part->data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)r->part->start_offset);
	struct zts_call *call = &t->calls[r->open];
	switch (e->kind) {
	case ZTS_RECORD_INFO: take_info(call, e); break;
	case ZTS_RECORD_ATTRS: return take_attrs(r, e->value, err);
	case ZTS_RECORD_EXCEPTION:
		call->exception = e->value;
		call->has |= ZTS_HAS_EXCEPTION;
		break;
	case ZTS_RECORD_END:
		call->has |= e->open ? ZTS_IS_OPEN : 0;
		call->end = t->n;
		r->open = call->parent;
		break;
	case ZTS_RECORD_BEGIN: break;
	}
	return r->open != PM_NONE;
}

/*
 * Reads the records of a part; 0 when the trace is complete, 1 when it continues in the next part.
 */
static int take_part(struct reader *r, struct pm_bytes payload, struct pm_error *err)
{
	const struct zts_part *part = r->part;
	struct zts_record_event e;
	struct pm_bytes data;
	int n;
	if (pm_bytes_sub(payload, part->start_offset, payload.len - part->start_offset, &data)) {
		zts_records_feed(&r->records, data);
		do {
			n = zts_records_next_inline(&r->records, &e, err);
			if (n == 0)
				n = 2; /* the end of the part */
			else if (n > 0)
				n = take_event(r, &e, err);
		} while (n == 1);
	} else {
		n = pm_error_set(err, -EIO, "traces.dat", part->data_offset,
			"the trace would begin beyond the payload's end");
	}
	return n == 2 ? 1 : n;
}

/* Reads one part, whose payload is `held` or in the cache; returns as take_part. */
static int read_part(struct reader *r, const struct zts_part *part, const struct zts_payload *held,
	struct pm_error *err)
{
	const struct zts_payload *payload = held;
	if (part->chunk == PM_NONE)
		return pm_error_set(err, -EIO, "traces.dat", part->data_offset,
			"the index has a part of the trace here, but there is no chunk");
	int n = zts_store_texts(&r->stores->items[part->store], &r->texts, err);
	if (n == 0 && !held)
		n = zts_payload_get(r->stores, part->store, part->chunk, &payload, err);
	if (n < 0)
		return n;
	r->part = part;
	n = take_part(r, payload->bytes, err);
	if (!held)
		zts_payload_release(r->stores, payload);
	return n;
}

/* Ends the open calls when there are no more parts. */
static int finish(struct reader *r, struct pm_error *err)
{
	struct zts_record_event e;
	int n = zts_records_finish(&r->records, &e, err);
	while (n > 0) {
		n = take_event(r, &e, err);
		if (n > 0)
			n = zts_records_finish(&r->records, &e, err);
	}
	return n;
}

static int by_call_and_key(const void *a, const void *b)
{
	const struct zts_attr *x = a, *y = b;
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	int order = pm_bytes_compare(x->key, y->key);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void sort_attrs(struct zts_tree *t)
{
	size_t kept = 0;
	if (t->n_attrs)
		qsort(t->attrs, t->n_attrs, sizeof(*t->attrs), by_call_and_key);
	for (size_t i = 0; i < t->n_attrs; i++) {
		const struct zts_attr *next = &t->attrs[i + 1];
		if (i + 1 < t->n_attrs && next->call == t->attrs[i].call &&
			pm_bytes_equal(next->key, t->attrs[i].key))
			continue;
		struct zts_call *call = &t->calls[t->attrs[i].call];
		if (call->n_attrs++ == 0)
			call->attr = (uint32_t)kept;
		t->attrs[kept++] = t->attrs[i];
	}
	t->n_attrs = kept;
}

static void clear_tree(struct zts_tree *t)
{
	pm_arena_done(&t->texts);
	t->n = 0;
	t->n_attrs = 0;
	t->attr_bytes = 0;
}

int zts_tree_read(struct zts_stores *s, const struct zts_parts *parts, struct zts_tree *ret,
	struct pm_error *err)
{
	clear_tree(ret);
	struct reader r = {.stores = s, .tree = ret, .open = PM_NONE};
	int n = 1;
	r.scratch.limit = PM_LIMIT_TRACE_TEXT;
	zts_records_init(&r.records);
	for (uint32_t i = 0; i < parts->n && n > 0; i++)
		n = read_part(&r, &parts->items[i], i == 0 ? parts->first : NULL, err);
	if (n > 0)
		n = finish(&r, err);
	if (n == 0 && ret->n == 0)
		n = pm_error_set(err, -EIO, "traces.dat", parts->items[0].data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)parts->items[0].start_offset);
	zts_records_done(&r.records);
	pm_text_done(&r.scratch);
	if (n < 0) {
		zts_tree_done(ret);
		return n;
	}
	sort_attrs(ret);
	ret->bytes = ret->room * sizeof(*ret->calls) + ret->attr_bytes;
	return 0;
}

void zts_tree_done(struct zts_tree *tree)
{
	free(tree->calls);
	free(tree->attrs);
	pm_arena_done(&tree->texts);
	*tree = (struct zts_tree){.n = 0};
}

struct pm_cell zts_sum_cell(zts_sum sum)
{
	return sum >= INT64_MIN && sum <= INT64_MAX ? pm_cell_i64((int64_t)sum)
						    : pm_cell_f64((double)sum);
}

zts_sum *zts_tree_self(const struct zts_tree *tree)
{
	zts_sum *self = malloc(tree->n * sizeof(*self) + 1);
	for (uint32_t i = 0; self && i < tree->n; i++) {
		int64_t cost;
		zts_call_duration(&tree->calls[i], &cost);
		self[i] = cost;
		if (tree->calls[i].parent != PM_NONE)
			self[tree->calls[i].parent] -= cost;
	}
	return self;
}
