/* What the files of the survey share: survey.c and survey_index.c; nobody else's. */
#ifndef PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H
#define PROFMOUNT_FORMATS_ZTS_SURVEY_PRIVATE_H

#include "formats/zts/survey.h"

struct zts_surveyor {
	struct zts_survey *v;
	struct zts_stores *stores;
	uint64_t effort; /* bytes of payload that chunked traces may still take to assemble */
};

/* A step of zts_survey_build: makes traces of the records in v->spans. */
int zts_survey_take_index(struct zts_surveyor *s, struct pm_error *err);

/* Both 0 or -ENOMEM. */
int zts_survey_add_part(struct zts_surveyor *s, const struct zts_span *span);
int zts_survey_add_trace(struct zts_survey *v, const struct zts_trace *t);

/* How long a trace took as its payload has it, or PM_NO_TIME. */
uint64_t zts_found_duration(const struct zts_found *f);

#endif
