/*
 * The records of one payload. A damaged payload is read up to the damage, and records that ended
 * before it are used.
 */
#include "formats/zts/scan_payload.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/calls.h"
#include "formats/zts/meta.h"
#include "formats/zts/payload.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"

struct scanner {
	const struct zts_store *store;
	struct zts_scan_piece *piece;
	const struct zts_early *early;
	struct zts_summing *summing; /* NULL: nothing is added up */
	struct zts_records reader;
	struct zts_scan_run run; /* what is open, and what was met so far */
	uint32_t chunk;
	struct zts_met *attrs; /* of records that have not ended, inner ones after outer ones */
	size_t attr_room;
};

static int begin_record(struct scanner *s, const struct zts_record_event *e)
{
	size_t n = s->reader.n - 1; /* records around it */
	if (pm_list_room(&s->run.open, n, &s->run.room, sizeof(*s->run.open)) < 0)
		return -ENOMEM;
	zts_open_begin(&s->run, &s->run.open[n], (uint32_t)e->at);
	return 0;
}

static void take_info(struct scanner *s, const struct zts_record_event *e)
{
	if (s->reader.n > 0 && e->key < ZTS_KEYS)
		zts_open_number(&s->run, &s->run.open[s->reader.n - 1], e->key, e->value);
}

/*
 * Attributes of the innermost record, if it is one with a time stamp, which precedes them. The
 * reader decodes them again, and reports what is malformed.
 */
static int take_attrs(struct scanner *s, uint64_t n)
{
	struct pm_cur in = s->reader.cbor.in;
	const struct zts_open_record *r = s->reader.n ? &s->run.open[s->reader.n - 1] : NULL;
	int code = 0;
	if (!r || !zts_is_given(&r->numbers, ZTS_TIMESTAMP))
		return 0;
	for (uint64_t i = 0; i < n && s->run.attrs - r->attrs < ZTS_KEPT_MOST; i++) {
		if (pm_list_room(&s->attrs, s->run.attrs, &s->attr_room, sizeof(*s->attrs)) < 0)
			return -ENOMEM;
		code = zts_attr_meet(
			&in, &s->store->texts, &s->piece->texts, &s->attrs[s->run.attrs]);
		if (code < 0)
			break;
		s->run.attrs++;
	}
	return code == -ENOMEM ? code : 0;
}

/* The record's own attributes, which are the last ones at this point. */
static int keep_attrs(struct scanner *s, const struct zts_open_record *r, struct zts_found *found)
{
	struct zts_scan_piece *p = s->piece;
	found->attr = (uint32_t)p->n_attrs;
	found->n_attrs = (uint8_t)(s->run.attrs - r->attrs);
	for (size_t i = r->attrs; i < s->run.attrs; i++) {
		if (pm_list_room(&p->attrs, p->n_attrs, &p->attr_room, sizeof(*p->attrs)) < 0)
			return -ENOMEM;
		p->attrs[p->n_attrs++] = s->attrs[i];
	}
	s->run.attrs = r->attrs;
	return 0;
}

static uint32_t found_has(const struct zts_open_record *r)
{
	const uint32_t taken =
		ZTS_HAS_TIMESTAMP | ZTS_HAS_TSTART | ZTS_HAS_TSTOP | ZTS_HAS_SPAN | ZTS_HAS_TYPE;
	return r->has | (r->numbers.given & taken);
}

static int end_record(struct scanner *s, const struct zts_record_event *e)
{
	const struct zts_open_record *r = &s->run.open[s->reader.n];
	const struct zts_numbers *n = &r->numbers;
	struct zts_scan_piece *p = s->piece;
	if (!zts_is_given(n, ZTS_TIMESTAMP))
		return 0;
	if (pm_list_room(&p->found, p->n, &p->room, sizeof(*p->found)) < 0)
		return -ENOMEM;
	p->found[p->n] = (struct zts_found){.chunk = s->chunk,
		.start_offset = r->start,
		.outer = r->within == PM_NONE ? r->start : r->within,
		.has = found_has(r) | (e->open ? ZTS_IS_OPEN : 0),
		.records = s->run.records - r->records,
		.errors = s->run.errors - r->errors,
		.timestamp_ms = zts_number(n, ZTS_TIMESTAMP),
		.span_id = zts_number(n, ZTS_SPAN),
		.parent_id = zts_number(n, ZTS_PARENT),
		.tstart = zts_number(n, ZTS_TSTART),
		.tstop = zts_number(n, ZTS_TSTOP),
		.calls = zts_number(n, ZTS_CALLS),
		.method = zts_number(n, ZTS_METHOD),
		.ticket = PM_NONE,
		.begins_trace = s->reader.n == 0};
	if (s->reader.n == 0 && s->summing) {
		p->found[p->n].ticket = s->summing->ticket;
		s->summing->ticket = PM_NONE;
	}
	if (keep_attrs(s, r, &p->found[p->n]) < 0)
		return -ENOMEM;
	p->n++;
	return 0;
}

static inline int sum_event(struct scanner *s, const struct zts_record_event *e)
{
	if (e->kind == ZTS_RECORD_BEGIN && s->reader.n == 1 &&
		zts_summing_begin(s->summing, s->early, e->at) < 0)
		return -ENOMEM;
	if (!s->summing->open)
		return 0;
	if (e->kind == ZTS_RECORD_END)
		zts_numbers_to_call(&s->run.open[s->reader.n].numbers,
			&s->summing->tree.calls[s->summing->growing.open]);
	return zts_summing_take(s->summing, s->early, e, &s->reader);
}

static int take_event(struct scanner *s, const struct zts_record_event *e)
{
	if (s->summing && sum_event(s, e) < 0)
		return -ENOMEM;
	switch (e->kind) {
	case ZTS_RECORD_BEGIN: return begin_record(s, e);
	case ZTS_RECORD_INFO: take_info(s, e); return 0;
	case ZTS_RECORD_END: return end_record(s, e);
	case ZTS_RECORD_EXCEPTION:
		for (size_t i = 0; i < s->reader.n; i++)
			s->run.open[i].has |= ZTS_HAS_EXCEPTION;
		return 0;
	case ZTS_RECORD_ATTRS: return take_attrs(s, e->value);
	}
	return 0;
}

/* -EINVAL if the payload is damaged, or cannot be represented in JSON. */
static int find_records(struct scanner *s, struct pm_bytes payload)
{
	struct zts_record_event e;
	int n, r = 0;
	zts_records_feed(&s->reader, payload);
	do { /* the only place that takes events, so it is inlined here */
		s->run.growing = s->summing && s->summing->open ? &s->summing->growing : NULL;
		if (!zts_scan_run(&s->run))
			return -ENOMEM;
		n = zts_records_next_inline(&s->reader, &e, NULL);
		if (n == 0)
			n = zts_records_finish(&s->reader, &e, NULL);
		r = n > 0 ? take_event(s, &e) : n;
	} while (n > 0 && r == 0);
	const struct pm_cbor *c = &s->reader.cbor;
	return r == 0 && (c->not_finite || c->deepest > PM_LIMIT_JSON_DEPTH) ? -EINVAL : r;
}

int zts_scan_payload(struct zts_scan_piece *piece, const struct zts_scan_source *from,
	uint32_t chunk, struct pm_bytes payload)
{
	struct scanner s = {.store = from->store,
		.piece = piece,
		.early = from->early,
		.summing = from->summing,
		.chunk = chunk};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	s.run.reader = &s.reader;
	zts_records_init(&s.reader);
	int r = find_records(&s, payload);
	zts_records_done(&s.reader);
	free(s.run.open);
	free(s.attrs);
	if (r == -EINVAL)
		r = zts_payload_check(payload, &err);
	if (r == -ENOMEM || r == 0)
		return r;
	if (pm_list_room(&piece->formless, piece->n_formless, &piece->formless_room,
		    sizeof(*piece->formless)) < 0)
		return -ENOMEM;
	char *why = strdup(err.text);
	if (!why)
		return -ENOMEM;
	piece->formless[piece->n_formless++] = (struct zts_formless){chunk, why};
	return 0;
}
