/* An opened source: its files, and the parts built from them on first need. */
#ifndef PROFMOUNT_FORMATS_ZTS_H
#define PROFMOUNT_FORMATS_ZTS_H

#include "formats/common/lazy.h"
#include "formats/common/text.h"
#include "formats/zts/store.h"
#include "formats/zts/sums.h"
#include "formats/zts/survey.h"
#include "profmount/format.h"
#include "profmount/profile.h"
#include "profmount/table.h"

/* ---- cells ---- */

/* Empty where it is PM_NO_TIME. */
static inline struct pm_cell zts_known_u64(uint64_t u)
{
	return u == PM_NO_TIME ? pm_cell_empty() : pm_cell_u64(u);
}

/* 16 hex digits; empty where it is 0. */
static inline struct pm_cell zts_known_id(uint64_t id)
{
	return id ? pm_cell_id(id, 16) : pm_cell_empty();
}

/* Text of the row's scratch, from `from` up to `to`. */
static inline struct pm_cell zts_scratch_cell(const struct pm_rows *rows, size_t from, size_t to)
{
	if (rows->scratch->failed || from == to)
		return pm_cell_empty();
	return pm_cell_text((struct pm_bytes){(const uint8_t *)rows->scratch->p + from, to - from});
}

static inline void zts_add_trace_id(struct pm_text *out, const uint64_t id[2])
{
	pm_text_hex(out, id[0], 16);
	pm_text_hex(out, id[1], 16);
}

/*
 * ---- samples ----
 * All recorded calls, one trace after another, as one trace of the run: what samples() reads.
 * Traces are in the order of zts_survey.by_store, calls in the order in which they are stored.
 */

/* What is needed to find a call and its context. */
struct zts_samples {
	uint64_t *first; /* by place in by_store: number of its first call; one more */
	uint32_t n_traces;
	const struct zts_aggregate *run;
	const struct pm_tree *tree; /* of it */
	uint32_t *slots;            /* by hash of all frames from the top: context + 1; 0: free */
	size_t n_slots;
	struct pm_thread lane;
	struct pm_threads traces; /* the single lane */
};

void zts_samples_done(struct zts_samples *s);

/* Of a call, while its context is searched for. */
struct zts_finding {
	uint64_t hash; /* of all frames from the top */
	uint32_t frame;
	uint32_t context; /* the result; PM_NONE: beyond PM_LIMIT_CALL_PATHS */
};

/* The place in by_store of the trace that has that call, which there is. */
uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call);

/* ---- traces, one after another, with the contexts of their calls ---- */

struct zts_traces {
	const struct zts_opened *z;
	struct zts_samples *s;
	struct zts_tree tree;      /* the current trace */
	struct zts_finding *found; /* of its calls: their contexts */
	size_t room;
	struct zts_held held;
};

/* Reads nothing. Builds what samples need; zts_traces_done in any case. */
int zts_traces_init(struct zts_traces *r, const struct zts_opened *z, struct pm_error *err);
void zts_traces_done(struct zts_traces *r);

/*
 * The trace with that number, without `found`: 1, 0 if no call of it counts, as in one that is lost
 * or part of another, or a negative errno.
 */
int zts_traces_get(struct zts_traces *r, uint32_t trace, struct pm_error *err);

enum { ZTS_N_FACTS = 5, ZTS_N_SECTIONS = 3 };

/* Traces that tables are of. */
struct zts_scope {
	const struct zts_opened *z;
	uint32_t first, end;    /* numbers of traces: those that begin in it */
	const uint32_t *slow;   /* the longest, longest first */
	const uint32_t *failed; /* those with an error, in time order */
	uint32_t n_slow, n_failed;
	struct pm_part *requests; /* see zts_requests_table */
	struct pm_part *carried;  /* see zts_get_carried; NULL: that of the aggregate */
};

struct zts_opened {
	struct zts_stores stores;
	struct pm_lazy survey_once, aggregate_once, samples_once, damage_once, facts_once;
	int adds_up; /* atomic: a caller that waits for the survey needs the sums, too */
	struct zts_adders *sums;        /* of the scan, until they are in the aggregate */
	struct zts_survey survey;       /* see zts_get_survey */
	struct zts_scope whole;         /* made with it */
	struct zts_aggregate aggregate; /* see zts_get_aggregate */
	struct zts_samples samples;     /* see zts_get_samples */
	struct pm_part requests;        /* of all traces */
	struct pm_damage_list found;    /* by all of them */
	struct pm_damages damages;
	struct pm_named_doc *documents;
	size_t n_documents, documents_room;
	struct pm_collection *collections;
	size_t n_collections, collections_room;
	struct pm_fact facts[ZTS_N_FACTS];
	struct pm_section sections[ZTS_N_SECTIONS];
	struct pm_span span;
	struct pm_parts parts;
	struct pm_arena arena; /* names of documents and collections */
};

/* The parts that are built on first need; const from then on. */
int zts_get_survey(const struct zts_opened *z, const struct zts_survey **ret, struct pm_error *err);
int zts_get_aggregate(
	const struct zts_opened *z, const struct zts_aggregate **ret, struct pm_error *err);
/* With the survey and the aggregate. */
int zts_get_samples(const struct zts_opened *z, struct zts_samples **ret, struct pm_error *err);

/* The call tree of a trace from the cache, to be released. -EIO for a lost trace. */
int zts_get_tree(const struct zts_opened *z, uint32_t trace, const struct zts_tree **ret,
	struct pm_error *err);
void zts_release_tree(const struct zts_opened *z, const struct zts_tree *tree);

/* `stores/000000/traces/NAME` */
void zts_trace_path(const struct zts_opened *z, const struct zts_trace *t, struct pm_text *out);

/* The text index for the ids of a call; it was read together with the tree. */
const struct zts_texts *zts_texts_of(const struct zts_opened *z, uint32_t store);

/* damage.c: builds pm_parts.damage: reads everything. */
int zts_damage(void *opened, struct pm_error *err);

/*
 * parts.c: what `self` of a table or collection is, and therefore which traces it has: all
 * (of struct zts_opened), or those that begin in a window (of struct pm_window).
 */
enum zts_of { ZTS_OF_RUN, ZTS_OF_WINDOW };

int zts_scope_of(const void *self, uint64_t of, const struct zts_scope **ret, struct pm_error *err);

/* What the calls of these traces carry: attributes, statements and exceptions of *ret. */
int zts_get_carried(
	const struct zts_scope *scope, const struct zts_aggregate **ret, struct pm_error *err);

/* tables.c, raw.c: tables at fixed paths below the root. */
enum zts_table {
	ZTS_TABLE_TRACES,
	ZTS_TABLE_METHODS,
	ZTS_TABLE_ATTRIBUTES,
	ZTS_TABLE_STATEMENTS,
	ZTS_TABLE_EXCEPTIONS,
};

struct pm_table zts_table(const void *self, enum zts_of of, enum zts_table which);

/* The columns of traces.csv, and a row of it; the survey is there. */
int zts_traces_columns(const struct zts_opened *z, struct pm_table *table, struct pm_error *err);
/* time_ns_incl,p50_ns,p99_ns,max_ns,slowest; the survey is there. Returns the next cell. */
struct pm_cell *zts_put_times(const struct zts_opened *z, const struct zts_attr_sums *sums,
	struct pm_rows *rows, struct pm_cell *cells);
void zts_method_row(const struct zts_method *m, struct pm_cell *cells); /* of methods.csv */
int zts_trace_row(const struct zts_opened *z, uint32_t trace, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_error *err);

/* samples.c: pm_profile_ops.samples, .call_path */
int64_t zts_samples_read(const struct pm_profile *p, uint32_t lane, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);
int zts_call_path(
	const struct pm_profile *p, uint64_t seq, struct pm_text *out, struct pm_error *err);

/* windows.c, collections.c: pm_profile_ops.window. */
enum { ZTS_WINDOW_METHODS, ZTS_WINDOW_TRACES }; /* pm_window.parts */
void zts_window(const struct pm_window *window, struct pm_window_own *ret);
void zts_window_collections(const struct pm_window *window, struct pm_window_own *ret);

struct pm_table zts_requests_table(const void *self, enum zts_of of); /* requests.c */
struct pm_table zts_spans_table(const void *self, enum zts_of of);    /* spans.c */
struct pm_table zts_raw_spans_table(const struct zts_opened *z);
struct pm_table zts_chunks_table(const struct zts_opened *z, uint32_t store);
struct pm_table zts_strings_table(const struct zts_opened *z, uint32_t store);

/* documents.c: documents of one trace or chunk. */
int zts_render_trace_json(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int zts_render_trace_text(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int zts_render_exceptions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
struct pm_table zts_calls_table(const struct zts_opened *z, uint32_t trace);
struct pm_table zts_trace_attrs_table(const struct zts_opened *z, uint32_t trace);
int zts_render_payload(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int zts_render_payload_json(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int zts_render_chunk_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* collections.c: documents and collections. Called when the source is opened. */
int zts_list_documents(struct zts_opened *z);

/* sections.c */
void zts_list_sections(
	const void *self, enum zts_of of, struct pm_section ret[static ZTS_N_SECTIONS]);

/* sections.c */
int zts_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);

/* trace_profile.c: a trace as a profile of its own, `source` naming where it is; ops->close. */
int zts_trace_profile(const struct zts_opened *z, uint32_t trace, const char *source,
	struct pm_profile **ret, struct pm_error *err);

/* model.c: the profile, which borrows `z`. */
void zts_model_init(struct zts_opened *z, struct pm_profile *ret);

static inline struct zts_opened *zts_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/* Profiles are const; what is read on need is built under locks. */
static inline struct zts_stores *zts_stores_of(const struct zts_opened *z)
{
	return (struct zts_stores *)(uintptr_t)&z->stores;
}

#endif
