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
#include "formats/zts/records_next.h"
#include "profmount/limits.h"

/* A record that has not ended. */
struct open_record {
	struct zts_found found;
	uint32_t records, errors;
	size_t attrs; /* start of its attributes in scanner.attrs */
};

struct scanner {
	const struct zts_store *store;
	struct zts_scan_piece *piece;
	const struct zts_early *early;
	struct zts_summing *summing; /* NULL: nothing is added up */
	struct zts_records reader;
	struct open_record *open;
	size_t room;
	uint32_t chunk;
	uint32_t records, errors; /* seen so far */
	struct zts_met *attrs;    /* of records that have not ended, inner ones after outer ones */
	size_t n_attrs, attr_room;
};

/* Field by field: compilers fill a literal of this size with a slower instruction. */
static inline void begin_found(
	struct zts_found *f, uint32_t chunk, uint32_t start_offset, uint32_t outer)
{
	f->chunk = chunk;
	f->start_offset = start_offset;
	f->outer = outer;
	f->has = 0;
	f->timestamp_ms = f->span_id = f->parent_id = 0;
	f->tstart = f->tstop = 0;
	f->calls = f->method = 0;
	f->claimed = f->shown = f->inner = f->counted = false;
}

static int begin_record(struct scanner *s, const struct zts_record_event *e)
{
	size_t n = s->reader.n - 1; /* records around it */
	if (pm_list_room(&s->open, n, &s->room, sizeof(*s->open)) < 0)
		return -ENOMEM;
	uint32_t at = (uint32_t)e->at, outer = at;
	if (n > 0) {
		const struct zts_found *around = &s->open[n - 1].found;
		bool dated = around->has & ZTS_HAS_TIMESTAMP;
		if (dated || around->outer != around->start_offset)
			outer = dated ? around->start_offset : around->outer;
	}
	struct open_record *r = &s->open[n];
	r->records = s->records++;
	r->errors = s->errors;
	r->attrs = s->n_attrs;
	begin_found(&r->found, s->chunk, at, outer);
	r->found.begins_trace = n == 0;
	r->found.ticket = PM_NONE;
	return 0;
}

static void take_info(struct scanner *s, const struct zts_record_event *e)
{
	if (s->reader.n == 0)
		return;
	struct zts_found *f = &s->open[s->reader.n - 1].found;
	switch (e->key) {
	case ZTS_TIMESTAMP:
		f->timestamp_ms = e->value;
		f->has |= ZTS_HAS_TIMESTAMP;
		break;
	case ZTS_TSTART:
		f->tstart = e->value;
		f->has |= ZTS_HAS_TSTART;
		break;
	case ZTS_TSTOP:
		f->tstop = e->value;
		f->has |= ZTS_HAS_TSTOP;
		break;
	case ZTS_SPAN:
		f->span_id = e->value;
		f->has |= ZTS_HAS_SPAN;
		break;
	case ZTS_PARENT: f->parent_id = e->value; break;
	case ZTS_TYPE: f->has |= ZTS_HAS_TYPE; break;
	case ZTS_CALLS: f->calls = e->value; break;
	case ZTS_METHOD: f->method = e->value; break;
	case ZTS_FLAGS:
		if ((e->value & ZTS_FLAG_ERROR) && !(f->has & ZTS_HAS_FLAGS))
			s->errors++;
		f->has |= e->value & ZTS_FLAG_ERROR ? ZTS_HAS_FLAGS : 0;
		break;
	default: break;
	}
}

/*
 * Attributes of the innermost record, if it is one with a time stamp, which precedes them. The
 * reader decodes them again, and reports what is malformed.
 */
static int take_attrs(struct scanner *s, uint64_t n)
{
	struct pm_cur in = s->reader.cbor.in;
	const struct open_record *r = s->reader.n ? &s->open[s->reader.n - 1] : NULL;
	int code = 0;
	if (!r || !(r->found.has & ZTS_HAS_TIMESTAMP))
		return 0;
	for (uint64_t i = 0; i < n && s->n_attrs - r->attrs < ZTS_KEPT_MOST; i++) {
		if (pm_list_room(&s->attrs, s->n_attrs, &s->attr_room, sizeof(*s->attrs)) < 0)
			return -ENOMEM;
		code = zts_attr_meet(
			&in, &s->store->texts, &s->piece->texts, &s->attrs[s->n_attrs]);
		if (code < 0)
			break;
		s->n_attrs++;
	}
	return code == -ENOMEM ? code : 0;
}

/* The record's own attributes, which are the last ones at this point. */
static int keep_attrs(struct scanner *s, const struct open_record *r, struct zts_found *found)
{
	struct zts_scan_piece *p = s->piece;
	found->attr = (uint32_t)p->n_attrs;
	found->n_attrs = (uint8_t)(s->n_attrs - r->attrs);
	for (size_t i = r->attrs; i < s->n_attrs; i++) {
		if (pm_list_room(&p->attrs, p->n_attrs, &p->attr_room, sizeof(*p->attrs)) < 0)
			return -ENOMEM;
		p->attrs[p->n_attrs++] = s->attrs[i];
	}
	s->n_attrs = r->attrs;
	return 0;
}

static int end_record(struct scanner *s, const struct zts_record_event *e)
{
	struct open_record *r = &s->open[s->reader.n];
	struct zts_scan_piece *p = s->piece;
	if (!(r->found.has & ZTS_HAS_TIMESTAMP))
		return 0;
	if (pm_list_room(&p->found, p->n, &p->room, sizeof(*p->found)) < 0)
		return -ENOMEM;
	if (s->reader.n == 0 && s->summing) {
		r->found.ticket = s->summing->ticket;
		s->summing->ticket = PM_NONE;
	}
	r->found.has |= e->open ? ZTS_IS_OPEN : 0;
	r->found.records = s->records - r->records;
	r->found.errors = s->errors - r->errors;
	if (keep_attrs(s, r, &r->found) < 0)
		return -ENOMEM;
	p->found[p->n++] = r->found;
	return 0;
}

static inline int sum_event(struct scanner *s, const struct zts_record_event *e)
{
	if (e->kind == ZTS_RECORD_BEGIN && s->reader.n == 1 &&
		zts_summing_begin(s->summing, s->early, e->at) < 0)
		return -ENOMEM;
	return s->summing->open ? zts_summing_take(s->summing, s->early, e, &s->reader) : 0;
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
			s->open[i].found.has |= ZTS_HAS_EXCEPTION;
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
	zts_records_init(&s.reader);
	int r = find_records(&s, payload);
	zts_records_done(&s.reader);
	free(s.open);
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
