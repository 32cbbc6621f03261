/*
 * The records of one payload. A damaged payload is read up to the damage, and records that ended
 * before it are used. Traces that begin and end in the payload are added up at once, if it is known
 * which they are: those with one record of the index, and all those of a store without any.
 * Everything that is not as usual is left to the pass over the remaining traces.
 */
#include "formats/zts/scan.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/zts/meta.h"
#include "formats/zts/payload.h"
#include "profmount/limits.h"

struct scanner {
	const struct zts_store *store;
	struct zts_scan_piece *piece;
	struct zts_reader reader;
	uint32_t chunk;
	struct zts_met *attrs; /* of records that have not ended, inner ones after outer ones */
	size_t attr_room;
	/* What is added up: */
	const struct zts_scan_source *from;
	struct zts_adder *adder;             /* NULL: nothing */
	struct zts_part part;                /* the payload */
	const struct zts_span *claim, *last; /* records of the index that were not met yet */
	bool is_blank;                       /* the store has none */
};

/* ==== adding up ==== */

static bool is_before(const struct zts_span *span, uint32_t store, uint64_t offset)
{
	return span->store != store ? span->store < store : span->data_offset < offset;
}

/* Finds the records of the index that are of this payload. */
static void begin_adding(struct scanner *s, const struct zts_scan_source *from)
{
	struct zts_adders *sums = from->sums;
	const struct zts_span *items = sums->index->items;
	uint32_t store = (uint32_t)(from->store - sums->stores->items);
	uint64_t offset = from->store->chunks.chunks[s->chunk].offset;
	size_t n = sums->index->n, of_store = PM_LOWER_BOUND(i, 0, n, items[i].store < store);
	size_t first = PM_LOWER_BOUND(i, of_store, n, is_before(&items[i], store, offset));
	size_t end = PM_LOWER_BOUND(i, first, n, is_before(&items[i], store, offset + 1));
	s->adder = &sums->items[from->adder];
	s->part = (struct zts_part){.store = store, .chunk = s->chunk, .data_offset = offset};
	s->claim = n ? items + first : NULL;
	s->last = n ? items + end : NULL;
	s->is_blank = of_store == n || items[of_store].store != store;
}

/* Whether a trace that begins there may be added up. s->claim is the record of the index. */
static bool may_be_added(struct scanner *s, uint64_t at)
{
	while (s->claim < s->last && s->claim->start_offset < at)
		s->claim++;
	return s->is_blank ||
		(s->claim < s->last && s->claim->start_offset == at && s->claim->alone &&
			(s->claim + 1 == s->last || s->claim[1].start_offset != at));
}

/* Keeps the calls of a trace that begins. */
static void begin_trace(struct scanner *s, uint64_t at)
{
	s->reader.growing = NULL;
	if (!s->adder || !may_be_added(s, at))
		return;
	s->reader.growing = &s->adder->growing;
	zts_growing_restart(s->reader.growing);
	s->reader.growing->part = &s->part;
	s->reader.growing->texts = &s->store->texts;
}

/* Adds up the trace that has ended, if it is the one that the index says. */
static int end_trace(struct scanner *s, struct zts_found *found, bool error)
{
	struct zts_partial *p = &s->adder->partial;
	const struct zts_span *claim = s->is_blank || s->claim->old ? NULL : s->claim;
	struct zts_added added = {.timestamp_ns = found->timestamp_ms * ZTS_MS_NS,
		.start_offset = found->start_offset,
		.store = s->part.store,
		.chunk = s->chunk,
		.trace = PM_NONE};
	if (claim) {
		uint64_t later_ns = claim->timestamp_ns - added.timestamp_ns;
		if (later_ns >= ZTS_MS_NS)
			return 0;
		added.timestamp_ns = claim->timestamp_ns;
	}
	found->adder = s->from->adder;
	found->added = (uint32_t)p->n_added;
	return zts_growing_end(s->reader.growing) < 0
		? -ENOMEM
		: zts_partial_add(p, s->from->sums->stores, s->reader.growing->tree, &added, error);
}

/* Takes an event of a trace whose calls are kept; it is not added up if that fails. */
static int grow(struct scanner *s, const struct zts_record_event *e)
{
	struct zts_records *values = &s->adder->values;
	if (e->kind == ZTS_RECORD_ATTRS) { /* values are read beside the payload's reader */
		const struct pm_cur *in = &s->reader.records.cbor.in;
		struct pm_bytes rest;
		pm_bytes_sub(in->b, in->at, in->b.len - in->at, &rest);
		zts_records_feed(values, rest);
	}
	int n = zts_reader_grow(&s->reader, e, values, NULL);
	if (n >= 0)
		return 0;
	s->reader.growing = NULL;
	zts_records_done(values);
	zts_records_init(values);
	return pm_is_passing(n) ? n : 0;
}

/* ==== records with a time stamp ==== */

/*
 * Attributes of the innermost record, if it is one with a time stamp, which precedes them. The
 * reader decodes them again, and reports what is malformed.
 */
static int take_attrs(struct scanner *s, uint64_t n)
{
	struct zts_reader *reader = &s->reader;
	struct pm_cur in = reader->records.cbor.in;
	const struct zts_open_record *r =
		reader->records.n ? &reader->open[reader->records.n - 1] : NULL;
	int code = 0;
	if (!r || !zts_is_given(&r->numbers, ZTS_TIMESTAMP))
		return 0;
	for (uint64_t i = 0; i < n && reader->attrs - r->attrs < ZTS_KEPT_MOST; i++) {
		if (pm_list_room(&s->attrs, reader->attrs, &s->attr_room, sizeof(*s->attrs)) < 0)
			return -ENOMEM;
		code = zts_attr_meet(
			&in, &s->store->texts, &s->piece->texts, &s->attrs[reader->attrs]);
		if (code < 0)
			break;
		reader->attrs++;
	}
	return pm_is_passing(code) ? code : 0;
}

/* The record's own attributes, which are the last ones at this point. */
static int keep_attrs(struct scanner *s, const struct zts_open_record *r, struct zts_found *found)
{
	struct zts_scan_piece *p = s->piece;
	found->attr = (uint32_t)p->n_attrs;
	found->n_attrs = (uint8_t)(s->reader.attrs - r->attrs);
	for (size_t i = r->attrs; i < s->reader.attrs; i++) {
		if (pm_list_room_in(
			    &p->arena, &p->attrs, p->n_attrs, &p->attr_room, sizeof(*p->attrs)) < 0)
			return -ENOMEM;
		p->attrs[p->n_attrs++] = s->attrs[i];
	}
	s->reader.attrs = r->attrs;
	return 0;
}

static int end_record(struct scanner *s, const struct zts_record_event *e)
{
	enum {
		TAKEN = ZTS_HAS_TIMESTAMP | ZTS_HAS_TSTART | ZTS_HAS_TSTOP | ZTS_HAS_SPAN |
			ZTS_HAS_TYPE
	};
	const struct zts_open_record *r = &s->reader.open[s->reader.records.n];
	const struct zts_numbers *n = &r->numbers;
	bool begins_trace = s->reader.records.n == 0;
	struct zts_scan_piece *p = s->piece;
	if (!zts_is_given(n, ZTS_TIMESTAMP))
		return 0;
	if (pm_list_room_in(&p->arena, &p->found, p->n, &p->room, sizeof(*p->found)) < 0)
		return -ENOMEM;
	struct zts_found *found = &p->found[p->n];
	*found = (struct zts_found){.chunk = s->chunk,
		.start_offset = r->start,
		.outer = r->within == PM_NONE ? r->start : r->within,
		.has = r->has | (n->given & TAKEN) | (e->open ? ZTS_IS_OPEN : 0),
		.records = s->reader.n - r->records,
		.errors = s->reader.errors - r->errors,
		.timestamp_ms = zts_number(n, ZTS_TIMESTAMP),
		.span_id = zts_number(n, ZTS_SPAN),
		.parent_id = zts_number(n, ZTS_PARENT),
		.tstart = zts_number(n, ZTS_TSTART),
		.tstop = zts_number(n, ZTS_TSTOP),
		.calls = zts_number(n, ZTS_CALLS),
		.method = zts_number(n, ZTS_METHOD),
		.added = PM_NONE,
		.begins_trace = begins_trace};
	if (keep_attrs(s, r, found) < 0)
		return -ENOMEM;
	p->n++;
	if (!begins_trace || !s->reader.growing)
		return 0;
	bool failed = s->is_blank ? found->errors > 0 : s->claim->flags & ZTS_FLAG_ERROR;
	return end_trace(s, found, failed);
}

static int take_event(struct scanner *s, const struct zts_record_event *e)
{
	struct zts_reader *r = &s->reader;
	if (zts_reader_take(r, e) < 0)
		return -ENOMEM;
	if (e->kind == ZTS_RECORD_BEGIN && r->records.n == 1)
		begin_trace(s, e->at);
	if (r->growing && grow(s, e) < 0)
		return -ENOMEM;
	if (e->kind == ZTS_RECORD_END) {
		int code = end_record(s, e);
		if (r->records.n == 0)
			r->growing = NULL;
		return code;
	}
	if (e->kind == ZTS_RECORD_ATTRS)
		return take_attrs(s, e->value);
	for (size_t i = 0; e->kind == ZTS_RECORD_EXCEPTION && i < r->records.n; i++)
		r->open[i].has |= ZTS_HAS_EXCEPTION;
	return 0;
}

/* -EINVAL if the payload is damaged, or cannot be represented in JSON. */
static int find_records(struct scanner *s, struct pm_bytes payload)
{
	struct zts_records *records = &s->reader.records;
	struct zts_record_event e;
	int n, r = 0;
	zts_records_feed(records, payload);
	do {
		if (!zts_reader_run(&s->reader))
			return -ENOMEM;
		n = zts_records_next(records, &e, NULL);
		if (n == 0)
			n = zts_records_finish(records, &e, NULL);
		r = n > 0 ? take_event(s, &e) : n;
	} while (n > 0 && r == 0);
	const struct pm_cbor *c = &records->cbor;
	return r == 0 && (c->not_finite || c->deepest > PM_LIMIT_JSON_DEPTH) ? -EINVAL : r;
}

int zts_scan_payload(struct zts_scan_piece *piece, const struct zts_scan_source *from,
	uint32_t chunk, struct pm_bytes payload)
{
	struct scanner s = {.store = from->store, .piece = piece, .from = from, .chunk = chunk};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	zts_reader_init(&s.reader);
	if (from->sums)
		begin_adding(&s, from);
	int r = find_records(&s, payload);
	zts_reader_done(&s.reader);
	free(s.attrs);
	if (r == -EINVAL)
		r = zts_payload_check(payload, &err);
	if (pm_is_passing(r) || r == 0)
		return r;
	char *why = pm_arena_printf(&piece->texts, "%s", err.text);
	if (!why ||
		pm_list_room_in(&piece->arena, &piece->formless, piece->n_formless,
			&piece->formless_room, sizeof(*piece->formless)) < 0)
		return -ENOMEM;
	piece->formless[piece->n_formless++] = (struct zts_formless){chunk, why};
	return 0;
}
