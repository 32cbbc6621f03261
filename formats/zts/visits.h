/*
 * Payloads for reading traces one after another. Most chunks are needed by neighbours in that
 * order alone: their payload is decompressed into memory of the reader's own, which is free again
 * when the next one is read. Only those to which a later trace returns go through the cache.
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

/* The payload that a reader has at hand. */
struct zts_held {
	const struct zts_payload *payload; /* NULL: none */
	uint32_t store, chunk;
	bool cached;
};

/*
 * Goes on to the payload of that part, which may be the one at hand. There is none afterwards where
 * it cannot be read; NULL gives up what is at hand.
 */
void zts_visits_hold(
	const struct zts_visits *v, const struct zts_part *part, struct zts_held *held);

/*
 * Must this trace be read to add up its calls? Those of other traces are unreadable, stand in a
 * third, or were added up by the scan.
 */
static inline bool zts_trace_remains(const struct zts_trace *t, const struct zts_early *early)
{
	return !t->lost && !t->inner && !(early && t->ticket != PM_NONE);
}

#endif
