/*
 * The records of one payload (scan_payload.c), which are added to the results of a piece of chunks
 * (scan.c), and runs of records in their usual form (scan_run.c).
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SCAN_PAYLOAD_H
#define PROFMOUNT_FORMATS_ZTS_SCAN_PAYLOAD_H

#include "formats/zts/calls.h"
#include "formats/zts/early.h"
#include "formats/zts/meta.h"
#include "formats/zts/scan.h"
#include "profmount/profile.h"

/* The results of one piece of chunks. */
struct zts_scan_piece {
	struct zts_found *found;
	size_t n, room;
	struct zts_formless *formless;
	size_t n_formless, formless_room;
	struct zts_met *attrs; /* of `found`, each one's attributes adjacent */
	size_t n_attrs, attr_room;
	struct pm_arena texts;
};

struct zts_scan_source {
	const struct zts_store *store;
	const struct zts_early *early;
	struct zts_summing *summing; /* NULL: nothing is added up */
};

/*
 * Adds the records of a chunk's payload, and, if it is malformed, the reason. 0 or -ENOMEM. Only
 * uses the names of attributes, not the index.
 */
int zts_scan_payload(struct zts_scan_piece *piece, const struct zts_scan_source *from,
	uint32_t chunk, struct pm_bytes payload);

/* ---- records that have not ended, and runs ---- */

/* A record that has not ended. */
struct zts_open_record {
	struct zts_numbers numbers;
	uint32_t start;  /* in the payload */
	uint32_t within; /* start of the innermost record with a time stamp around it; or PM_NONE */
	uint32_t has;    /* ZTS_HAS_FLAGS if it failed, and ZTS_HAS_EXCEPTION */
	uint32_t records, errors; /* before it in the payload */
	size_t attrs;             /* before those of the record */
};

struct zts_scan_run {
	struct zts_records *reader;
	struct zts_open_record *open; /* from the outermost inwards */
	size_t room;                  /* of `open` */
	struct zts_growing *growing;  /* NULL: calls are not kept */
	uint32_t records, errors;     /* so far */
	size_t attrs;                 /* of open records; none of plain ones */
};

/* Begins the record `r` of run->open. */
static inline void zts_open_begin(struct zts_scan_run *run, struct zts_open_record *r, uint32_t at)
{
	r->numbers.given = 0;
	r->start = at;
	r->within = PM_NONE;
	if (r > run->open)
		r->within =
			zts_is_given(&r[-1].numbers, ZTS_TIMESTAMP) ? r[-1].start : r[-1].within;
	r->has = 0;
	r->records = run->records++;
	r->errors = run->errors;
	r->attrs = run->attrs;
}

/* A number of a record; its key is less than ZTS_KEYS. */
static inline void zts_open_number(
	struct zts_scan_run *run, struct zts_open_record *r, uint64_t key, uint64_t value)
{
	r->numbers.of[key] = value;
	r->numbers.given |= 1u << key;
	if (key == ZTS_FLAGS && (value & ZTS_FLAG_ERROR) && !(r->has & ZTS_HAS_FLAGS)) {
		r->has |= ZTS_HAS_FLAGS;
		run->errors++;
	}
}

/*
 * Takes plain records inside of an outermost one: their beginnings, numbers, and ends. Stops before
 * anything else, which may be at once, and there the reader continues. False if the work has been
 * cancelled.
 */
bool zts_scan_run(struct zts_scan_run *run);

#endif
