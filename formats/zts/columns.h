/*
 * The columns of traces.csv. Which attributes have one is known when the survey is there: those
 * that most traces carry.
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

/* The trace's value of that attribute, or NULL. The last one where it has several. */
const struct zts_kept *zts_trace_attr(
	const struct zts_survey *v, const struct zts_trace *t, uint32_t name);

/*
 * Which of the columns of attributes says best what a trace was about, an URL or SQL mostly;
 * PM_NONE where the trace has none of the kind.
 */
uint32_t zts_columns_telling(const struct zts_survey *v, const struct zts_trace *t);

/* The column of attributes whose name has `word` in it, or PM_NONE. */
uint32_t zts_columns_find(const struct zts_survey *v, const char *word);

/* Chooses, once the traces are in order. 0 or -ENOMEM. */
int zts_columns_choose(struct zts_survey *v);

#endif
