/* Shared by survey.c and survey_traces.c only. */
#ifndef PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H
#define PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H

#include "formats/zts/survey.h"

struct zts_surveyor {
	struct zts_survey *v;
	struct zts_stores *stores;
	struct zts_early *early;       /* NULL: nothing is added up */
	const struct zts_span **index; /* records of the indexes, parts of a trace together */
	uint64_t effort; /* bytes of payload that chunked traces may still take to assemble */
};

/*
 * Steps of zts_survey_build: sort the records in v->spans, prepare to add up traces of one part,
 * make traces from the records, then from those only found by scans.
 */
int zts_survey_sort_index(struct zts_surveyor *s);
int zts_survey_expect(struct zts_surveyor *s);
int zts_survey_take_index(struct zts_surveyor *s, struct pm_error *err);
int zts_survey_take_unclaimed(struct zts_surveyor *s, struct pm_error *err);

#endif
