/*
 * Most of a payload consists of plain calls. A run of them is taken in one loop, which recognises
 * them by their first bytes and has its state in registers. Whatever is not usual, is invalid, or
 * can fail ends the run: only zts_records_next decides on it.
 *
 * A trace is assembled by passing its parts, in order, to one reader and keeping the first record
 * with everything below it. Parts may be in different stores, whose ids refer to different texts,
 * so every id is kept together with the store of its part.
 */
#include "formats/zts/reader.h"

#include <stdlib.h>

#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/zts/meta.h"
#include "profmount/profile.h"

/* ==== records that have not ended ==== */

/* Begins the record `r` of reader->open. */
static inline void begin_open(struct zts_reader *reader, struct zts_open_record *r, uint32_t at)
{
	r->numbers.given = 0;
	r->start = at;
	r->within = PM_NONE;
	if (r > reader->open)
		r->within =
			zts_is_given(&r[-1].numbers, ZTS_TIMESTAMP) ? r[-1].start : r[-1].within;
	r->has = 0;
	r->records = reader->n++;
	r->errors = reader->errors;
	r->attrs = reader->attrs;
}

/* A number of a record; its key is less than ZTS_KEYS. */
static inline void take_open(
	struct zts_reader *reader, struct zts_open_record *r, uint64_t key, uint64_t value)
{
	r->numbers.of[key] = value;
	r->numbers.given |= 1u << key;
	if (key == ZTS_FLAGS && (value & ZTS_FLAG_ERROR) && !(r->has & ZTS_HAS_FLAGS)) {
		r->has |= ZTS_HAS_FLAGS;
		reader->errors++;
	}
}

int zts_reader_take(struct zts_reader *r, const struct zts_record_event *e)
{
	size_t n = r->records.n;
	if (e->kind == ZTS_RECORD_BEGIN) {
		if (pm_list_room(&r->open, n - 1, &r->room, sizeof(*r->open)) < 0)
			return -ENOMEM;
		begin_open(r, &r->open[n - 1], (uint32_t)e->at);
	} else if (e->kind == ZTS_RECORD_INFO && n > 0 && e->key < ZTS_KEYS) {
		take_open(r, &r->open[n - 1], e->key, e->value);
	}
	return 0;
}

void zts_reader_init(struct zts_reader *r)
{
	*r = (struct zts_reader){.open = NULL};
	zts_records_init(&r->records);
}

void zts_reader_done(struct zts_reader *r)
{
	zts_records_done(&r->records);
	free(r->open);
}

/* ==== growing trees: attributes are read as they come, and sorted at the end ==== */

static int no_memory(struct pm_error *err)
{
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
}

/* Copies an item into the tree's own memory. */
static int take_value(struct zts_growing *g, struct zts_records *records, bool as_key,
	struct pm_bytes *ret, bool *ret_text, struct pm_error *err)
{
	pm_text_clear(&g->scratch);
	int n = zts_value_read(records, g->texts, as_key, &g->scratch, ret_text, err);
	if (n < 0)
		return n;
	if (g->scratch.failed && !g->scratch.full)
		return no_memory(err);
	if (g->scratch.full || g->tree->attr_bytes + g->scratch.len > PM_LIMIT_TRACE_TEXT)
		return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
			"the trace's attributes take more than %zu bytes", PM_LIMIT_TRACE_TEXT);
	g->tree->attr_bytes += g->scratch.len;
	*ret = pm_arena_copy(&g->tree->texts, pm_text_view(&g->scratch));
	return ret->p ? 0 : no_memory(err);
}

/* Reads n attributes of the innermost call from `records`. 1, or an error. */
static int grow_attrs(
	struct zts_growing *g, struct zts_records *records, uint64_t n, struct pm_error *err)
{
	struct zts_tree *t = g->tree;
	bool unused;
	for (uint64_t i = 0; i < n; i++) {
		if (pm_list_room(&t->attrs, t->n_attrs, &t->attr_room, sizeof(*t->attrs)) < 0)
			return no_memory(err);
		struct zts_attr *attr = &t->attrs[t->n_attrs];
		t->attr_bytes += sizeof(*attr);
		*attr = (struct zts_attr){.call = g->open, .order = (uint32_t)t->n_attrs};
		int code = take_value(g, records, true, &attr->key, &unused, err);
		if (code == 0)
			code = take_value(g, records, false, &attr->value, &attr->is_text, err);
		if (code < 0)
			return code;
		t->n_attrs++;
	}
	return 1;
}

/* Field by field: compilers fill a literal of this size with a slower instruction. */
static inline void begin_call(struct zts_growing *g, size_t at)
{
	struct zts_call *c = &g->tree->calls[g->tree->n];
	c->parent = g->open;
	c->depth = g->open == PM_NONE ? 0 : g->tree->calls[g->open].depth + 1;
	c->store = g->part->store;
	c->chunk = g->part->chunk;
	c->start_offset = g->part->start_offset + at;
	c->end = c->has = 0;
	c->tstart = c->tstop = 0;
	c->method = c->calls = 0;
	c->exception = c->flags = 0;
	c->timestamp_ms = c->span_id = 0;
	c->parent_id = c->type = 0;
	c->attr = c->n_attrs = 0;
	g->open = g->tree->n++;
}

/* Its other numbers are 0. */
static inline void end_call(struct zts_growing *g, const struct zts_numbers *n)
{
	enum {
		RARE = ZTS_HAS_TIMESTAMP | ZTS_HAS_TYPE | ZTS_HAS_FLAGS | ZTS_HAS_PARENT |
			ZTS_HAS_SPAN,
	};
	struct zts_call *call = &g->tree->calls[g->open];
	call->has |= n->given & (RARE | ZTS_HAS_TSTART | ZTS_HAS_TSTOP);
	call->tstart = zts_number(n, ZTS_TSTART);
	call->tstop = zts_number(n, ZTS_TSTOP);
	call->method = zts_number(n, ZTS_METHOD);
	call->calls = zts_number(n, ZTS_CALLS);
	call->end = g->tree->n;
	g->open = call->parent;
	if (!(n->given & RARE))
		return;
	call->flags = zts_number(n, ZTS_FLAGS);
	call->timestamp_ms = zts_number(n, ZTS_TIMESTAMP);
	call->span_id = zts_number(n, ZTS_SPAN);
	call->parent_id = zts_number(n, ZTS_PARENT);
	call->type = zts_number(n, ZTS_TYPE);
}

int zts_reader_grow(struct zts_reader *r, const struct zts_record_event *e,
	struct zts_records *values, struct pm_error *err)
{
	struct zts_growing *g = r->growing;
	struct zts_tree *t = g->tree;
	if (e->kind == ZTS_RECORD_BEGIN) {
		if (t->n >= PM_LIMIT_TRACE_CALLS)
			return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
				"the trace has more than %u calls", PM_LIMIT_TRACE_CALLS);
		if (pm_list_room(&t->calls, t->n, &t->room, sizeof(*t->calls)) < 0)
			return no_memory(err);
		begin_call(g, e->at);
		return 1;
	}
	if (g->open == PM_NONE)
		return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)g->part->start_offset);
	struct zts_call *call = &t->calls[g->open];
	if (e->kind == ZTS_RECORD_ATTRS)
		return grow_attrs(g, values, e->value, err);
	if (e->kind == ZTS_RECORD_EXCEPTION) {
		call->exception = e->value;
		call->has |= ZTS_HAS_EXCEPTION;
	} else if (e->kind == ZTS_RECORD_END) {
		call->has |= e->open ? ZTS_IS_OPEN : 0;
		end_call(g, &r->open[r->records.n].numbers);
	}
	return g->open != PM_NONE;
}

static int by_call_and_key(const void *a, const void *b)
{
	const struct zts_attr *x = a, *y = b;
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	int order = pm_bytes_compare(x->key, y->key);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

int zts_growing_end(struct zts_growing *g)
{
	struct zts_tree *t = g->tree;
	size_t kept = 0;
	if (pm_sort(t->attrs, t->n_attrs, sizeof(*t->attrs), by_call_and_key) < 0)
		return -ENOMEM;
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
	return 0;
}

void zts_growing_restart(struct zts_growing *g)
{
	struct zts_tree *t = g->tree;
	pm_arena_done(&t->texts);
	t->n = 0;
	t->n_attrs = 0;
	t->attr_bytes = 0;
	g->open = PM_NONE;
}

void zts_growing_init(struct zts_growing *g, struct zts_tree *ret)
{
	*g = (struct zts_growing){.tree = ret};
	g->scratch.limit = PM_LIMIT_TRACE_TEXT;
	zts_growing_restart(g);
}

void zts_growing_done(struct zts_growing *g)
{
	pm_text_done(&g->scratch);
}

/* ==== runs of plain records ==== */

enum {
	BETWEEN_QUESTIONS = 1 << 20, /* bytes */
	/* The two first bytes of what is usual, the first one lowest. */
	HEADS = 0xffff,
	NUMBER_HEADS = ZTS_HEAD_LONE_PAIR << 8 | ZTS_HEAD_INFO,
	RECORD_HEADS = ZTS_HEAD_INDEF << 8 | ZTS_HEAD_RECORD,
};

/* What changes with each record, and what does not. */
struct state {
	struct pm_cur in;          /* up to where to ask for cancellation */
	struct zts_open_record *r; /* the innermost */
	struct zts_open_record *deepest;
	struct zts_open_record *lowest; /* that may end: the reader knows of those around it */
	struct zts_open_record *beyond; /* behind the last that may be open */
};

/*
 * Branches on the width: numbers of a key usually have the same one, and so the processor reads on
 * before it has computed where the next item begins. Only eight bytes can be an invalid number.
 */
static inline bool take_number(
	struct zts_reader *reader, struct state *s, const uint8_t *p, uint32_t head)
{
	uint32_t key = head >> 16 & 0xff, low = head >> 24;
	uint64_t value = low;
	if (key >= ZTS_KEYS)
		return false;
	if (low <= ZTS_SMALL_MOST) {
		s->in.at += 4;
	} else if (low == ZTS_FOUR_BYTES) {
		value = pm_be32(p + 4);
		s->in.at += 8;
	} else if (low == ZTS_TWO_BYTES) {
		value = pm_be16(p + 4);
		s->in.at += 6;
	} else if (low == ZTS_ONE_BYTE) {
		value = p[4];
		s->in.at += 5;
	} else {
		value = pm_be64(p + 4);
		if (low != ZTS_EIGHT_BYTES || zts_wrong_info(key, value))
			return false;
		s->in.at += 12;
	}
	take_open(reader, s->r, key, value);
	return true;
}

static inline bool begin(struct zts_reader *reader, struct state *s, bool growing)
{
	if (s->r + 1 >= s->beyond)
		return false;
	if (growing) {
		const struct zts_tree *t = reader->growing->tree;
		if (t->n >= t->room || t->n >= PM_LIMIT_TRACE_CALLS)
			return false;
		begin_call(reader->growing, s->in.at);
	}
	begin_open(reader, ++s->r, (uint32_t)s->in.at);
	s->deepest = s->r > s->deepest ? s->r : s->deepest;
	s->in.at += 2;
	return true;
}

static inline bool end(struct zts_reader *reader, struct state *s, bool growing)
{
	if (s->r < s->lowest || zts_is_given(&s->r->numbers, ZTS_TIMESTAMP))
		return false;
	if (growing)
		end_call(reader->growing, &s->r->numbers);
	s->r--;
	s->in.at++;
	return true;
}

/* How many records may be open in a run. */
static size_t most_open(const struct zts_reader *reader)
{
	const struct zts_records *r = &reader->records;
	size_t deeper = (r->cbor.limit - r->cbor.depth) / 2; /* records below those it knows of */
	size_t most = r->n_told + deeper;
	most = most < PM_LIMIT_CALL_DEPTH ? most : PM_LIMIT_CALL_DEPTH;
	return most < reader->room ? most : reader->room;
}

/* By value, so that the compiler keeps the state in registers. */
static inline struct state take(struct zts_reader *reader, struct state s, bool growing)
{
	const uint8_t *p;
	bool taken = true;
	while (taken && (p = pm_cur_peek(&s.in, ZTS_QUICK_BYTES))) {
		uint32_t head = pm_le32(p);
		if ((head & HEADS) == NUMBER_HEADS)
			taken = take_number(reader, &s, p, head);
		else if ((head & HEADS) == RECORD_HEADS)
			taken = begin(reader, &s, growing);
		else
			taken = (head & 0xff) == ZTS_HEAD_BREAK && end(reader, &s, growing);
	}
	return s;
}

bool zts_reader_run(struct zts_reader *reader)
{
	struct zts_records *r = &reader->records;
	bool known = r->n > r->n_told || r->cbor.depth == zts_inner_level(r);
	if (!known || r->n == 0 || r->info_left > 0)
		return true;
	struct zts_open_record *inner = &reader->open[r->n - 1];
	struct state s = {.in = r->cbor.in,
		.r = inner,
		.deepest = inner,
		.lowest = &reader->open[r->n_told > 1 ? r->n_told : 1],
		.beyond = &reader->open[most_open(reader)]};
	size_t stop = s.in.at + BETWEEN_QUESTIONS;
	s.in.b.len = s.in.b.len < stop ? s.in.b.len : stop;
	s = reader->growing ? take(reader, s, true) : take(reader, s, false);
	uint32_t told = (uint32_t)r->n_told, deepest = (uint32_t)(s.deepest - reader->open) + 1;
	uint32_t depth = r->cbor.depth + 2 * (deepest - told);
	r->cbor.deepest = depth > r->cbor.deepest ? depth : r->cbor.deepest;
	r->cbor.in.at = s.in.at;
	r->n = (size_t)(s.r - reader->open) + 1;
	return s.in.at + ZTS_QUICK_BYTES <= stop || !pm_work_cancelled();
}

/* ==== whole traces ==== */

struct assembling {
	struct zts_stores *stores;
	struct zts_reader reader;
	struct zts_growing growing;
};

/*
 * Reads the records of a part; 0 when the trace is complete, 1 when it continues in the next part.
 */
static int take_part(struct zts_reader *r, struct pm_bytes payload, struct pm_error *err)
{
	const struct zts_part *part = r->growing->part;
	struct zts_record_event e;
	struct pm_bytes data;
	int n = 1;
	if (!pm_bytes_sub(payload, part->start_offset, payload.len - part->start_offset, &data))
		return pm_error_set(err, -EIO, "traces.dat", part->data_offset,
			"the trace would begin beyond the payload's end");
	zts_records_feed(&r->records, data);
	while (n > 0) {
		if (!zts_reader_run(r))
			return pm_error_plain(err, -ENOMEM);
		n = zts_records_next(&r->records, &e, err);
		if (n == 0)
			return 1;
		if (n > 0 && zts_reader_take(r, &e) < 0)
			return no_memory(err);
		if (n > 0)
			n = zts_reader_grow(r, &e, &r->records, err);
	}
	return n;
}

/* Reads one part, whose payload is `held` or in the cache; returns as take_part. */
static int read_part(struct assembling *a, const struct zts_part *part,
	const struct zts_payload *held, struct pm_error *err)
{
	const struct zts_payload *payload = held;
	if (part->chunk == PM_NONE)
		return pm_error_set(err, -EIO, "traces.dat", part->data_offset,
			"the index has a part of the trace here, but there is no chunk");
	int n = zts_store_texts(&a->stores->items[part->store], &a->growing.texts, err);
	if (n == 0 && !held)
		n = zts_payload_get(a->stores, part->store, part->chunk, true, &payload, err);
	if (n < 0)
		return n;
	a->growing.part = part;
	n = take_part(&a->reader, payload->bytes, err);
	if (!held)
		zts_payload_release(a->stores, payload);
	return n;
}

int zts_tree_read(struct zts_stores *s, const struct zts_parts *parts, struct zts_tree *ret,
	struct pm_error *err)
{
	struct assembling a = {.stores = s};
	struct zts_record_event e;
	int n = 1;
	zts_growing_init(&a.growing, ret);
	zts_reader_init(&a.reader);
	a.reader.growing = &a.growing;
	for (uint32_t i = 0; i < parts->n && n > 0; i++)
		n = read_part(&a, &parts->items[i], i == 0 ? parts->first : NULL, err);
	while (n > 0 && (n = zts_records_finish(&a.reader.records, &e, err)) > 0)
		n = zts_reader_grow(&a.reader, &e, &a.reader.records, err); /* calls still open */
	if (n == 0 && ret->n == 0)
		n = pm_error_set(err, -EIO, "traces.dat", parts->items[0].data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)parts->items[0].start_offset);
	if (n >= 0 && zts_growing_end(&a.growing) < 0)
		n = pm_error_plain(err, -ENOMEM);
	zts_reader_done(&a.reader);
	zts_growing_done(&a.growing);
	if (n < 0) {
		zts_tree_done(ret);
		return n;
	}
	ret->bytes = ret->room * sizeof(*ret->calls) + ret->attr_bytes;
	return 0;
}

void zts_hold(struct zts_stores *s, const struct zts_part *part, bool shared, struct zts_held *held)
{
	if (part && held->payload && held->store == part->store && held->chunk == part->chunk)
		return;
	if (held->payload)
		zts_payload_release(s, held->payload);
	*held = (struct zts_held){.payload = NULL};
	if (!part || part->chunk == PM_NONE)
		return;
	held->store = part->store;
	held->chunk = part->chunk;
	zts_payload_get(s, part->store, part->chunk, shared, &held->payload, NULL);
}

void zts_tree_done(struct zts_tree *tree)
{
	free(tree->calls);
	free(tree->attrs);
	pm_arena_done(&tree->texts);
	*tree = (struct zts_tree){.n = 0};
}

uint64_t zts_call_time(uint64_t trace_ns, const struct zts_call *root, const struct zts_call *call)
{
	int64_t delay_ns;
	uint64_t time_ns;
	zts_call_delay(root, call, &delay_ns);
	if (__builtin_add_overflow(trace_ns, delay_ns, &time_ns))
		return delay_ns < 0 ? 0 : UINT64_MAX;
	return time_ns;
}

struct pm_cell zts_sum_cell(zts_sum sum)
{
	return sum >= INT64_MIN && sum <= INT64_MAX ? pm_cell_i64((int64_t)sum)
						    : pm_cell_f64((double)sum);
}

zts_sum *zts_tree_self(const struct zts_tree *tree)
{
	zts_sum *self = calloc((size_t)tree->n + 1, sizeof(*self));
	for (uint32_t i = tree->n; self && i-- > 0;)
		if (!zts_call_settle(tree, i, self))
			self[i] = 0;
	return self;
}
