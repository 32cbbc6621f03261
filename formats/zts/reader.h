/*
 * The one reader of calls in payloads: it knows the records that have not ended, with their
 * numbers, and keeps calls as a tree where that is wanted. The scan of the chunks (scan_payload.c)
 * reads all records of a payload with it, and zts_tree_read those of one trace.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_READER_H
#define PROFMOUNT_FORMATS_ZTS_READER_H

#include "formats/zts/calls.h"

/* The numbers of a call that has not ended, by key: each is stored in the same way. */
enum { ZTS_KEYS = 24 }; /* greater ones have no meaning */
_Static_assert(ZTS_HAS_EXCEPTION >= 1 << ZTS_KEYS, "bits of keys are bits of numbers only");

struct zts_numbers {
	uint32_t given; /* bit k: key k was there */
	uint64_t of[ZTS_KEYS];
};

static inline bool zts_is_given(const struct zts_numbers *n, enum zts_info key)
{
	return n->given >> key & 1;
}

/* 0 if it was not there. */
static inline uint64_t zts_number(const struct zts_numbers *n, enum zts_info key)
{
	return zts_is_given(n, key) ? n->of[key] : 0;
}

/* A record that has not ended. */
struct zts_open_record {
	struct zts_numbers numbers;
	uint32_t start;  /* in the payload */
	uint32_t within; /* start of the innermost record with a time stamp around it; or PM_NONE */
	uint32_t has;    /* ZTS_HAS_FLAGS if it failed, and ZTS_HAS_EXCEPTION */
	uint32_t records, errors; /* before it in the payload */
	size_t attrs;             /* before those of the record */
};

/* A tree that calls are added to as they are read. */
struct zts_growing {
	struct zts_tree *tree;
	const struct zts_part *part; /* the part being read */
	const struct zts_texts *texts;
	uint32_t open; /* the innermost call that has not ended, or PM_NONE */
	struct pm_text scratch;
};

/* Begins a tree in `ret`, which is zeroed or of another trace. Free with zts_growing_done. */
void zts_growing_init(struct zts_growing *g, struct zts_tree *ret);
void zts_growing_done(struct zts_growing *g);

/* Empties the tree; its memory is reused. */
void zts_growing_restart(struct zts_growing *g);

/* Call when the trace's own record has ended: sorts its attributes. 0 or -ENOMEM. */
int zts_growing_end(struct zts_growing *g);

struct zts_reader {
	struct zts_records records;
	struct zts_open_record *open; /* records.n of them, from the outermost inwards */
	size_t room;
	struct zts_growing *growing; /* NULL: calls are not kept */
	uint32_t n, errors;          /* records so far, and those that failed */
	size_t attrs;                /* of open records, counted by the caller */
};

void zts_reader_init(struct zts_reader *r);
void zts_reader_done(struct zts_reader *r);

/*
 * Takes plain records inside of an outermost one: their beginnings, numbers, and ends. Stops before
 * anything else, which may be at once, and there zts_records_next goes on. False if the work has
 * been cancelled.
 */
bool zts_reader_run(struct zts_reader *r);

/* What an event from zts_records_next says of records that have not ended. 0 or -ENOMEM. */
int zts_reader_take(struct zts_reader *r, const struct zts_record_event *e);

/*
 * What it says of the tree; after the former. `values` is where attributes can be read. Returns 1
 * to continue, 0 when the trace's own record has ended.
 */
int zts_reader_grow(struct zts_reader *r, const struct zts_record_event *e,
	struct zts_records *values, struct pm_error *err);

#endif
