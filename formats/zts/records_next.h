/*
 * zts_records_next for the loops that read every call. Most of a payload is beginnings and ends of
 * records, and numbers each in a map of its own: where these are as they should be they are taken
 * here, without the levels of CBOR being opened and closed one by one. All else is left to
 * zts_records_next. Inline, because an event takes less time than a call of a function and back.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_RECORDS_NEXT_H
#define PROFMOUNT_FORMATS_ZTS_RECORDS_NEXT_H

#include "formats/zts/records.h"
#include "profmount/limits.h"

/* Initial bytes. */
enum { ZTS_HEAD_INFO = 0xc0 | ZTS_TAG_INFO, ZTS_HEAD_LONE_PAIR = 0xa1 };

static inline bool zts_take_uint(struct pm_cur *in, uint64_t *ret)
{
	struct pm_cbor_head head;
	bool taken = pm_cbor_read_head(in, &head) && head.major == 0 && head.low != 31;
	*ret = head.value;
	return taken;
}

/* A map of one number. */
static inline bool zts_take_lone_info(struct zts_records *r, struct zts_record_event *ret)
{
	struct pm_cur *in = &r->cbor.in;
	size_t begin = in->at;
	const uint8_t *heads = pm_cur_peek(in, 2);
	if (!heads || heads[0] != ZTS_HEAD_INFO || heads[1] != ZTS_HEAD_LONE_PAIR)
		return false;
	in->at += 2;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_INFO, .at = in->at};
	if (zts_take_uint(in, &ret->key) && zts_take_uint(in, &ret->value) &&
		!zts_wrong_info(ret->key, ret->value))
		return true;
	in->at = begin;
	in->bad = false;
	return false;
}

static inline bool zts_take_begin(struct zts_records *r, struct zts_record_event *ret)
{
	size_t at = r->cbor.in.at;
	if (r->n >= PM_LIMIT_CALL_DEPTH || r->n >= r->room ||
		!pm_cbor_begin_tagged(&r->cbor, ZTS_TAG_RECORD))
		return false;
	r->levels[r->n++] = r->cbor.depth;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_BEGIN, .at = at};
	return true;
}

static inline bool zts_take_end(struct zts_records *r, struct zts_record_event *ret)
{
	size_t at = r->cbor.in.at;
	if (r->n == 0 || !pm_cbor_end_tagged(&r->cbor))
		return false;
	r->n--;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_END, .at = at};
	return true;
}

static inline int zts_records_next_inline(
	struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	if (r->info_left == 0 && r->cbor.depth == zts_inner_level(r) &&
		(zts_take_lone_info(r, ret) || zts_take_begin(r, ret) || zts_take_end(r, ret)))
		return 1;
	return zts_records_next(r, ret, err);
}

#endif
