/*
 * All traces and spans of all stores: records of the metadata indexes, verified by a scan of the
 * chunks. Built once, const from then on.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SURVEY_H
#define PROFMOUNT_FORMATS_ZTS_SURVEY_H

#include "formats/common/arena.h"
#include "formats/zts/meta.h"
#include "formats/zts/reader.h"
#include "formats/zts/scan.h"

enum { ZTS_ATTR_COLUMNS = 16, ZTS_FIXED_COLUMNS = 14, ZTS_SLOWEST = 100 };

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

/* Chooses the columns, after the traces have been sorted: a build of the survey's arena. */
void zts_columns_choose(struct zts_survey *v);

struct zts_trace {
	size_t part; /* its first, in zts_survey.parts */
	uint32_t n_parts;
	uint32_t store; /* of the first part */
	uint32_t place; /* in zts_survey.by_store */
	uint32_t twin;  /* number of earlier traces of the store with the same name */
	uint32_t added; /* see zts_found */
	uint64_t trace_id[2];
	uint64_t span_id, parent_id;        /* 0: none */
	uint64_t timestamp_ns, duration_ns; /* PM_NO_TIME: not known */
	uint64_t calls, records, errors;
	uint32_t attr; /* attributes of its own call: from here on in its store's scan */
	uint8_t n_attrs, adder;
	bool has_origin; /* the index is of the first generation and knows it */
	uint16_t origin[ZTS_N_ORIGINS];
	uint64_t method;   /* id in the text index of the first part's store; 0: not known */
	bool has_trace_id; /* the index knows it */
	bool error;
	bool lost;  /* its payload is missing or unreadable */
	bool moved; /* its payload is not where the index says */
	bool inner; /* its calls are also part of another trace */
	bool has_exception;
};

struct zts_survey {
	struct pm_arena arena;
	struct zts_scan *scans; /* of each store */
	uint32_t n_stores;
	struct zts_spans spans;   /* records of the indexes, and those only found by scans */
	struct zts_trace *traces; /* in time order */
	uint32_t n;
	size_t room;
	struct zts_part *parts;
	size_t n_parts, part_room;
	uint32_t *by_store;         /* traces, those of a store together, in time order */
	uint32_t *first_of;         /* n_stores + 1 places in by_store */
	uint32_t slow[ZTS_SLOWEST]; /* longest first */
	uint32_t n_slow;
	uint32_t *failed; /* those with an error, in time order */
	uint32_t n_failed;
	struct zts_attr_names attr_names; /* in all stores */
	struct zts_columns columns;
	/* Of all traces, and the calls of those that have not ended; PM_NO_TIME without one. */
	uint64_t origin_ns, end_ns;
	struct pm_damage_list damage; /* found in the indexes */
};

/* Unless `sums` is NULL, the scan also adds up traces. */
int zts_survey_build(struct zts_survey *v, struct zts_stores *stores, struct zts_adders *sums,
	struct pm_error *err);
void zts_survey_done(struct zts_survey *v);

/* The longest of the traces [first, end), longest first. 0, or PM_CANCELLED. */
int zts_survey_list_slow(const struct zts_survey *v, uint32_t first, uint32_t end,
	uint32_t ret[static ZTS_SLOWEST], uint32_t *ret_n);

/* `YYYYMMDDTHHMMSS.mmm-<trace id>-<span id>`, without unknown parts. */
void zts_trace_name(const struct zts_trace *t, struct pm_text *out);

#endif
