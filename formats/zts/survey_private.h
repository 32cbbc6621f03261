/* Shared by the files survey*.c only. */
#ifndef PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H
#define PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H

#include "formats/zts/survey.h"

/* A trace without a payload at its place. */
struct zts_missing {
	const struct zts_span *span; /* of its first part */
	uint64_t tstop;              /* of its call in that part; PM_NO_TIME: it ends in another */
	uint32_t trace;              /* index in zts_survey.traces */
};

/* Negative, 0 or positive, for sorting. */
static inline int zts_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

struct zts_surveyor {
	struct zts_survey *v;
	struct zts_stores *stores;
	struct zts_early *early;       /* NULL: nothing is added up */
	const struct zts_span **index; /* records of the indexes, parts of a trace together */
	struct zts_missing *missing;   /* to be found elsewhere */
	size_t n_missing, missing_room;
	uint64_t effort; /* bytes of payload that chunked traces may still take to assemble */
};

/*
 * Steps of zts_survey_build: sort the records in v->spans, prepare to add up traces of one part,
 * make traces from the records, find payloads that have moved, make traces from those only found by
 * scans.
 */
int zts_survey_sort_index(struct zts_surveyor *s);
int zts_survey_expect(struct zts_surveyor *s);
int zts_survey_take_index(struct zts_surveyor *s, struct pm_error *err);
int zts_survey_find_moved(struct zts_surveyor *s, struct pm_error *err);
int zts_survey_take_unclaimed(struct zts_surveyor *s, struct pm_error *err);

/* Extends the run to the last call of traces whose end is not known. */
int zts_survey_find_end(struct zts_surveyor *s, struct pm_error *err);

/* Add a part of a trace, or a trace, to the survey. 0 or -ENOMEM. */
int zts_survey_add_part(struct zts_surveyor *s, const struct zts_span *span);
int zts_survey_add_trace(struct zts_survey *v, const struct zts_trace *t);

/* In ns; PM_NO_TIME: not known. */
uint64_t zts_survey_duration(const struct zts_found *f);

/* Reads a trace in several parts, whose payloads are there; it is lost if that fails. */
int zts_survey_assemble(
	struct zts_surveyor *s, struct zts_trace *t, bool old, struct pm_error *err);

/* What the payload of a trace tells besides the index. */
void zts_survey_take_payload(struct zts_trace *t, const struct zts_found *f);

#endif
