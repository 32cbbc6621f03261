/*
 * The columns of traces.csv. The most frequent attributes have columns, which are known after the
 * survey.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_COLUMNS_H
#define PROFMOUNT_FORMATS_ZTS_COLUMNS_H

#include "formats/common/arena.h"
#include "formats/zts/meta.h"

enum { ZTS_ATTR_COLUMNS = 16, ZTS_FIXED_COLUMNS = 14 };

struct zts_columns {
	/* All names, for struct pm_table: fixed ones, origins, attributes, the method. */
	const char *names[ZTS_FIXED_COLUMNS + ZTS_N_ORIGINS + ZTS_ATTR_COLUMNS];
	char types[ZTS_FIXED_COLUMNS + ZTS_N_ORIGINS + ZTS_ATTR_COLUMNS]; /* see struct pm_table */
	uint32_t n;
	bool origins;                     /* there are those of the first generation */
	uint32_t attrs[ZTS_ATTR_COLUMNS]; /* by frequency: numbers of names */
	uint32_t n_attrs;
	uint32_t first_attr; /* its place in `names` */
};

struct zts_survey;
struct zts_trace;

/* The trace's value of this attribute, or NULL. The last one if there are several. */
const struct zts_kept *zts_trace_attr(
	const struct zts_survey *v, const struct zts_trace *t, uint32_t name);

/*
 * The attribute column that describes a trace best, usually a URL or SQL; PM_NONE if the trace has
 * none of these.
 */
uint32_t zts_columns_telling(const struct zts_survey *v, const struct zts_trace *t);

/* The attribute column whose name contains `word`, or PM_NONE. */
uint32_t zts_columns_find(const struct zts_survey *v, const char *word);

/* Chooses the columns, after the traces have been sorted. 0 or -ENOMEM. */
int zts_columns_choose(struct zts_survey *v);

#endif
