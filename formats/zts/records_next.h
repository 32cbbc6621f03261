/*
 * zts_records_next for loops that read every call. Most of a payload consists of beginnings and
 * ends of records, and of numbers in maps of their own: in their usual form they are recognised by
 * their first bytes, without opening or closing CBOR levels. Everything else is left to
 * zts_records_next. Inline, because an event takes less time than a function call.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_RECORDS_NEXT_H
#define PROFMOUNT_FORMATS_ZTS_RECORDS_NEXT_H

#include "formats/zts/records.h"
#include "profmount/limits.h"

enum {
	/* Initial bytes. */
	ZTS_HEAD_INFO = 0xc0 | ZTS_TAG_INFO,
	ZTS_HEAD_LONE_PAIR = 0xa1,
	ZTS_HEAD_RECORD = 0xc0 | ZTS_TAG_RECORD,
	ZTS_HEAD_INDEF = 0x9f,
	ZTS_HEAD_BREAK = 0xff,
	/* Numbers up to here stand in the initial byte; then 1, 2, 4 or 8 bytes follow. */
	ZTS_SMALL_MOST = 23,
	ZTS_ONE_BYTE = 24,
	ZTS_TWO_BYTES = 25,
	ZTS_FOUR_BYTES = 26,
	ZTS_EIGHT_BYTES = 27,
	ZTS_QUICK_BYTES = 12, /* a map of one number takes no more */
};

/* A map of one number, whose bytes these are. */
static inline bool zts_quick_info(
	struct zts_records *r, const uint8_t *p, struct zts_record_event *ret)
{
	uint8_t key = p[2], low = p[3];
	if (p[1] != ZTS_HEAD_LONE_PAIR || key > ZTS_SMALL_MOST || low > ZTS_EIGHT_BYTES)
		return false;
	size_t more = low > ZTS_SMALL_MOST ? (size_t)1 << (low - ZTS_SMALL_MOST - 1) : 0;
	uint64_t value = more ? pm_be64(p + 4) >> (64 - 8 * more) : low;
	if (zts_wrong_info(key, value))
		return false;
	ret->kind = ZTS_RECORD_INFO;
	ret->at = r->cbor.in.at + 2;
	ret->key = key;
	ret->value = value;
	r->cbor.in.at += 4 + more;
	return true;
}

static inline bool zts_quick_begin(
	struct zts_records *r, const uint8_t *p, struct zts_record_event *ret)
{
	uint32_t depth = r->cbor.depth + 2 * (uint32_t)(r->n - r->n_told) + 2;
	if (p[1] != ZTS_HEAD_INDEF || r->n >= PM_LIMIT_CALL_DEPTH || depth > r->cbor.limit)
		return false;
	r->cbor.deepest = depth > r->cbor.deepest ? depth : r->cbor.deepest;
	r->n++;
	ret->kind = ZTS_RECORD_BEGIN;
	ret->at = r->cbor.in.at;
	r->cbor.in.at += 2;
	return true;
}

static inline bool zts_quick_end(struct zts_records *r, struct zts_record_event *ret)
{
	size_t at = r->cbor.in.at;
	if (r->n > r->n_told)
		r->cbor.in.at++;
	else if (r->n == 0 || !pm_cbor_end_tagged(&r->cbor))
		return false;
	else
		r->n_told--;
	r->n--;
	ret->kind = ZTS_RECORD_END;
	ret->at = at;
	ret->open = false;
	return true;
}

static inline int zts_records_next_inline(
	struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	const uint8_t *p = pm_cur_peek(&r->cbor.in, ZTS_QUICK_BYTES);
	bool known = r->n > r->n_told || r->cbor.depth == zts_inner_level(r);
	if (p && known && r->info_left == 0 &&
		((p[0] == ZTS_HEAD_INFO && zts_quick_info(r, p, ret)) ||
			(p[0] == ZTS_HEAD_RECORD && zts_quick_begin(r, p, ret)) ||
			(p[0] == ZTS_HEAD_BREAK && zts_quick_end(r, ret))))
		return 1;
	return zts_records_next(r, ret, err);
}

#endif
