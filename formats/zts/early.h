/*
 * Traces added up while the chunks are scanned, so that their payloads are decompressed and decoded
 * once. The index says which traces to expect; those of a single part are added up when the scan
 * meets them. Which traces count is known only when the survey is complete: if they are others than
 * those that were added up, the sums are dropped, and made from all traces as without this.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_EARLY_H
#define PROFMOUNT_FORMATS_ZTS_EARLY_H

#include <pthread.h>

#include "formats/zts/calls.h"
#include "formats/zts/meta.h"
#include "formats/zts/partial.h"

/* A trace of one part that the index knows. */
struct zts_expected {
	uint32_t store, chunk;
	uint64_t start_offset, timestamp_ns;
	uint64_t trace_id[2], span_id;
	uint32_t ticket;    /* its place in order of stores, then of time */
	uint32_t time_rank; /* its place in order of time */
	bool error;
};

/* What one thread adds up. */
struct zts_summing {
	struct zts_partial partial;
	struct zts_growing growing;
	struct zts_tree tree;
	struct zts_part part;
	struct zts_records values;             /* reads attributes */
	const struct zts_expected *next, *end; /* traces of the chunk that were not met yet */
	const struct zts_expected *open;       /* the trace that is being read; NULL: none */
	uint32_t ticket;                       /* of the trace added up last; PM_NONE: taken */
	uint32_t added;                        /* traces */
};

struct zts_early {
	struct zts_stores *stores;
	struct zts_expected *items; /* by place */
	uint32_t n;
	struct zts_summing *summings;
	unsigned n_summings, n_free;
	struct zts_summing **free;
	pthread_mutex_t lock;   /* of `free` */
	uint32_t *time_rank_of; /* of each ticket */
	uint32_t *calls_of;     /* of each ticket: calls that were added up; 0: none were */
	/* Set by the survey: */
	uint32_t *rank_of;  /* of each ticket: the trace's place in zts_survey.by_store */
	uint32_t *trace_of; /* of each time_rank: the trace */
};

/*
 * Expects the `n` traces of `singles`, in order of place. NULL if out of memory. Free with
 * zts_early_free.
 */
struct zts_early *zts_early_new(
	struct zts_stores *stores, const struct zts_span *const *singles, size_t n);
void zts_early_free(struct zts_early *early);

/* One for a thread, to be given back; there are as many as pm_crew_width(). */
struct zts_summing *zts_early_lend(struct zts_early *early);
void zts_early_give_back(struct zts_early *early, struct zts_summing *s);

/* How many traces were added up. */
uint32_t zts_early_added(const struct zts_early *early);

/* The chunk whose payload is read next. */
void zts_summing_chunk(
	struct zts_summing *s, const struct zts_early *early, uint32_t store, uint32_t chunk);

/* A record begins outside of all others: makes it the open one if it was expected. */
int zts_summing_begin(struct zts_summing *s, const struct zts_early *early, uint64_t at);

/* Lets the reader of values begin where the payload's reader is. */
void zts_summing_values(struct zts_summing *s, const struct zts_records *reader);

/* The open trace has ended: adds it up if it is the expected one. 0 or -ENOMEM. */
int zts_summing_end(struct zts_summing *s, const struct zts_early *early);

/* The open trace is not added up, because it cannot be read that far. */
void zts_summing_drop(struct zts_summing *s);

/* Takes an event of the open trace. 0 or -ENOMEM. */
static inline int zts_summing_take(struct zts_summing *s, const struct zts_early *early,
	const struct zts_record_event *e, const struct zts_records *reader)
{
	if (e->kind == ZTS_RECORD_ATTRS)
		zts_summing_values(s, reader);
	int n = zts_growing_take(&s->growing, e, &s->values, NULL);
	if (n > 0)
		return 0;
	if (n == 0)
		return zts_summing_end(s, early);
	zts_summing_drop(s);
	return n == -ENOMEM ? n : 0;
}

#endif
