/*
 * Assembles a trace: passes its parts, in order, to one reader of records and keeps the first
 * record with everything below it. Parts may be in different stores, whose ids refer to different
 * texts, so every id is kept together with the store of its part.
 */
#include "formats/zts/calls.h"

#include <stdlib.h>

#include "formats/zts/growing.h"
#include "formats/zts/records_next.h"
#include "profmount/profile.h"

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
