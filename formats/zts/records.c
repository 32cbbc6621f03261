/*
 * Turns CBOR events into events of call records. Tags are only interpreted directly inside a
 * record, or outside all of them; anything else is skipped. The written specification has different
 * numbers for two tags than the writer's code; both are accepted.
 */
#include "formats/zts/records.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "profmount/limits.h"

/* A record is a tag and an array; its contents may be nested a little further. */
enum { CBOR_DEPTH = 2 * PM_LIMIT_CALL_DEPTH + 64 };

void zts_records_init(struct zts_records *r)
{
	*r = (struct zts_records){.n = 0};
	pm_cbor_init(&r->cbor, CBOR_DEPTH);
}

void zts_records_feed(struct zts_records *r, struct pm_bytes part)
{
	pm_cbor_feed(&r->cbor, part);
}

void zts_records_done(struct zts_records *r)
{
	pm_cbor_done(&r->cbor);
	free(r->levels);
	r->levels = NULL;
}

/* Tells the CBOR reader which records are open. */
static int tell(struct zts_records *r, struct pm_error *err)
{
	if (r->n == r->n_told)
		return 0;
	uint32_t n = (uint32_t)(r->n - r->n_told), depth = r->cbor.depth;
	while (r->room < r->n)
		if (pm_list_room(&r->levels, r->room, &r->room, sizeof(*r->levels)) < 0)
			return pm_error_plain(err, -ENOMEM);
	if (pm_cbor_push_tagged(&r->cbor, n) < 0)
		return pm_error_plain(err, -ENOMEM);
	while (r->n_told < r->n)
		r->levels[r->n_told++] = depth += 2;
	return 0;
}

static int begin_record(struct zts_records *r, const struct pm_cbor_event *e,
	struct zts_record_event *ret, struct pm_error *err)
{
	if (r->n >= PM_LIMIT_CALL_DEPTH)
		return pm_cbor_malformed(e, err, "calls nested too deeply");
	if (pm_list_room(&r->levels, r->n, &r->room, sizeof(*r->levels)) < 0)
		return pm_error_plain(err, -ENOMEM);
	r->levels[r->n++] = r->cbor.depth;
	r->n_told = r->n;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_BEGIN, .at = e->at};
	return 1;
}

/* The value after a tag. Returns 1 with an event, 0 if it is not of interest. */
static int read_tagged(struct zts_records *r, const struct pm_cbor_event *tag,
	struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	int n = pm_cbor_next(&r->cbor, &e, err);
	if (n <= 0)
		return n;
	*ret = (struct zts_record_event){.at = tag->at, .value = e.u};
	switch (tag->u) {
	case ZTS_TAG_RECORD: return e.kind == PM_CBOR_INDEF ? begin_record(r, tag, ret, err) : 0;
	case ZTS_TAG_INFO:
	case ZTS_TAG_INFO_DESCRIBED: r->info_left = e.kind == PM_CBOR_MAP ? e.u : 0; return 0;
	case ZTS_TAG_ATTRS:
	case ZTS_TAG_ATTRS_DESCRIBED: ret->kind = ZTS_RECORD_ATTRS; return e.kind == PM_CBOR_MAP;
	case ZTS_TAG_EXCEPTION: ret->kind = ZTS_RECORD_EXCEPTION; return e.kind == PM_CBOR_UINT;
	default: return 0;
	}
}

static int read_info(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event key, value;
	int n = pm_cbor_next(&r->cbor, &key, err);
	if (n > 0)
		n = pm_cbor_next(&r->cbor, &value, err);
	if (n <= 0)
		return n < 0 ? n : pm_cbor_malformed(&key, err, "a number of a call is cut off");
	if (key.kind != PM_CBOR_UINT || value.kind > PM_CBOR_NEGINT)
		return pm_cbor_malformed(&key, err, "a number of a call is not an integer");
	bool negative = value.kind == PM_CBOR_NEGINT;
	const char *wrong =
		zts_wrong_info(key.u, negative && key.u == ZTS_TIMESTAMP ? UINT64_MAX : value.u);
	if (wrong)
		return pm_cbor_malformed(&key, err, wrong);
	r->info_left--;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_INFO,
		.at = key.at,
		.key = key.u,
		.value = negative ? ~value.u : value.u};
	return 1;
}

/* True if the end of an array is the end of the innermost record. */
static bool ends_record(struct zts_records *r, const struct pm_cbor_event *e)
{
	return e->kind == PM_CBOR_END && r->n > 0 && r->cbor.depth + 1 == zts_inner_level(r) &&
		e->of == PM_CBOR_INDEF;
}

static int end_record(
	struct zts_records *r, const struct pm_cbor_event *e, struct zts_record_event *ret)
{
	r->n_told = --r->n;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_END, .at = e->at, .open = e->open};
	return 1;
}

int zts_records_next(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	if (tell(r, err) < 0)
		return -ENOMEM;
	for (;;) {
		if (r->info_left > 0)
			return read_info(r, ret, err);
		int n = pm_cbor_next(&r->cbor, &e, err);
		if (n <= 0)
			return n;
		if (ends_record(r, &e))
			return end_record(r, &e, ret);
		if (e.kind <= PM_CBOR_NEGINT)
			pm_cbor_skip_small(&r->cbor);
		if (e.kind != PM_CBOR_TAG || r->cbor.depth - 1 != zts_inner_level(r))
			continue;
		n = read_tagged(r, &e, ret, err);
		if (n != 0)
			return n;
	}
}

int zts_records_finish(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	if (tell(r, err) < 0)
		return -ENOMEM;
	for (;;) {
		int n = pm_cbor_finish(&r->cbor, &e, err);
		if (n <= 0)
			return n;
		if (ends_record(r, &e))
			return end_record(r, &e, ret);
	}
}
