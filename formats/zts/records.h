/*
 * Call records in payloads: tag 8, then an array of indefinite length with the numbers of the call,
 * its attributes, its exception and the records of the calls below it. A trace may continue in
 * further payloads: feed them one after another.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_RECORDS_H
#define PROFMOUNT_FORMATS_ZTS_RECORDS_H

#include "formats/common/cbor.h"
#include "formats/common/text.h"
#include "formats/zts/texts.h"
#include "profmount/limits.h"

/* Numbers of a call, with their keys in the payload. */
enum zts_info {
	ZTS_TIMESTAMP = 0x05, /* ms since the epoch; a record that has it begins a trace or span */
	ZTS_TYPE = 0x07,      /* first generation only */
	ZTS_CALLS = 0x09,
	ZTS_FLAGS = 0x0b,
	ZTS_TSTART = 0x0c, /* ticks */
	ZTS_TSTOP = 0x0d,
	ZTS_METHOD = 0x0e,
	ZTS_PARENT = 0x11,
	ZTS_SPAN = 0x12,
};

enum zts_tag {
	ZTS_TAG_INFO_DESCRIBED = 0x02,
	ZTS_TAG_ATTRS_DESCRIBED = 0x03,
	ZTS_TAG_RECORD = 0x08,
	ZTS_TAG_ATTRS = 0x09,
	ZTS_TAG_INFO = 0x0e,
	ZTS_TAG_EXCEPTION = 0x23,
};

#define ZTS_TICK_BITS 16
#define ZTS_TICK_NS   (1ull << ZTS_TICK_BITS)
#define ZTS_MOST_TICK ((1ull << 40) - 1)
#define ZTS_MS_NS     1000000ull
/* The latest time stamp, in ms, that fits into signed 64 bits of ns. */
#define ZTS_MOST_MS ((uint64_t)INT64_MAX / ZTS_MS_NS)

enum zts_record_kind {
	ZTS_RECORD_BEGIN, /* at: its place in the part */
	ZTS_RECORD_INFO,  /* key, value */
	ZTS_RECORD_ATTRS, /* pairs of values can be read with zts_value_read now, or are skipped */
	ZTS_RECORD_EXCEPTION, /* value: its id */
	ZTS_RECORD_END,       /* open: the data ended before it */
};

struct zts_record_event {
	enum zts_record_kind kind;
	size_t at;
	uint64_t key, value;
	bool open;
};

struct zts_records {
	struct pm_cbor cbor;
	uint32_t *levels; /* for each open record, how many CBOR items are open inside of it */
	size_t n, room;
	size_t n_told;      /* number of open records known to the CBOR reader */
	uint64_t info_left; /* pairs of the map of numbers that is being read */
};

void zts_records_init(struct zts_records *r);
void zts_records_feed(struct zts_records *r, struct pm_bytes part);

/* Like pm_cbor_next. Also returns data outside records, with n == 0. */
int zts_records_next(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err);

/* Like pm_cbor_finish: ends records that are still open. */
int zts_records_finish(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err);

void zts_records_done(struct zts_records *r);

/*
 * Reads one item, a key or value of an attribute, and appends it: as text where it is one
 * (*ret_text, and always with `as_key`), else as JSON. References are resolved with `t`.
 */
int zts_value_read(struct zts_records *r, const struct zts_texts *t, bool as_key,
	struct pm_text *out, bool *ret_text, struct pm_error *err);

/* How many CBOR items are open where the items of the innermost record that it knows of stand. */
static inline uint32_t zts_inner_level(const struct zts_records *r)
{
	return r->n_told ? r->levels[r->n_told - 1] : 0;
}

/* Why a number of a call is invalid; NULL if it is valid. */
static inline const char *zts_wrong_info(uint64_t key, uint64_t value)
{
	if ((key == ZTS_TSTART || key == ZTS_TSTOP) && value > ZTS_MOST_TICK)
		return "a call's time is beyond 40 bits";
	if (key == ZTS_TIMESTAMP && value > ZTS_MOST_MS)
		return "a time stamp is beyond what ns can hold";
	return NULL;
}

/* The usual form of what most of a payload consists of, see zts_reader_run. */
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

#endif
