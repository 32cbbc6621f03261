/*
 * Assembles a trace: passes its parts, in order, to one reader of records and keeps the first
 * record with everything below it. Parts may be in different stores, whose ids refer to different
 * texts, so every id is kept together with the store of its part.
 */
#include "formats/zts/calls.h"

#include <stdlib.h>

#include "formats/common/sort.h"
#include "formats/zts/records.h"
#include "profmount/profile.h"

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

int zts_growing_attrs(
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

/* ==== whole traces ==== */

struct reader {
	struct zts_stores *stores;
	struct zts_records records;
	struct zts_growing growing;
};

/*
 * Reads the records of a part; 0 when the trace is complete, 1 when it continues in the next part.
 */
static int take_part(struct reader *r, struct pm_bytes payload, struct pm_error *err)
{
	const struct zts_part *part = r->growing.part;
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
				n = zts_growing_take(&r->growing, &e, &r->records, err);
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
	int n = zts_store_texts(&r->stores->items[part->store], &r->growing.texts, err);
	if (n == 0 && !held)
		n = zts_payload_get(r->stores, part->store, part->chunk, &payload, err);
	if (n < 0)
		return n;
	r->growing.part = part;
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
		n = zts_growing_take(&r->growing, &e, &r->records, err);
		if (n > 0)
			n = zts_records_finish(&r->records, &e, err);
	}
	return n;
}

int zts_tree_read(struct zts_stores *s, const struct zts_parts *parts, struct zts_tree *ret,
	struct pm_error *err)
{
	struct reader r = {.stores = s};
	int n = 1;
	zts_growing_init(&r.growing, ret);
	zts_records_init(&r.records);
	for (uint32_t i = 0; i < parts->n && n > 0; i++)
		n = read_part(&r, &parts->items[i], i == 0 ? parts->first : NULL, err);
	if (n > 0)
		n = finish(&r, err);
	if (n == 0 && ret->n == 0)
		n = pm_error_set(err, -EIO, "traces.dat", parts->items[0].data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)parts->items[0].start_offset);
	if (n >= 0 && zts_growing_end(&r.growing) < 0)
		n = pm_error_plain(err, -ENOMEM);
	zts_records_done(&r.records);
	zts_growing_done(&r.growing);
	if (n < 0) {
		zts_tree_done(ret);
		return n;
	}
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
