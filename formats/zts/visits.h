/*
 * Payloads for reading traces one after another. Most chunks are needed only by consecutive traces:
 * their payload is decompressed into the reader's memory, which is reused for the next one. Only
 * chunks that are needed again later are cached.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_VISITS_H
#define PROFMOUNT_FORMATS_ZTS_VISITS_H

#include "formats/zts/survey.h"

struct zts_visits {
	struct zts_stores *stores;
	size_t *first_of; /* of each store: where its chunks begin in n */
	uint8_t *n;       /* how many times readers come to the chunk: 0, 1, 2 = more than once */
};

/* Counts them for all traces that remain, in the order of `by_store`. 0 or -ENOMEM. */
int zts_visits_init(struct zts_visits *v, struct zts_stores *stores,
	const struct zts_survey *survey, const struct zts_early *early);
void zts_visits_done(struct zts_visits *v);

/* The payload that a reader currently uses. */
struct zts_held {
	const struct zts_payload *payload; /* NULL: none */
	uint32_t store, chunk;
	bool cached;
};

/*
 * Moves on to the payload of the part, which may be the current one. There is no current payload
 * afterwards if it cannot be read, or if `part` is NULL.
 */
void zts_visits_hold(
	const struct zts_visits *v, const struct zts_part *part, struct zts_held *held);

/*
 * Whether this trace must be read to add up its calls. Other traces are unreadable, contained in
 * another one, or were added up by the scan.
 */
static inline bool zts_trace_remains(const struct zts_trace *t, const struct zts_early *early)
{
	return !t->lost && !t->inner && !(early && t->ticket != PM_NONE);
}

#endif
