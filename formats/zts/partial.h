/*
 * The sums of a subset of traces, computed by one thread. The scan of the chunks adds up what
 * begins and ends in one payload when it meets it, so that payloads are decompressed and decoded
 * once; formats/zts/contexts.c adds the remaining traces, and joins them all. Nothing depends on
 * the order in which traces are added.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_PARTIAL_H
#define PROFMOUNT_FORMATS_ZTS_PARTIAL_H

#include <pthread.h>

#include "formats/common/crew.h"
#include "formats/common/map.h"
#include "formats/common/percentiles.h"
#include "formats/common/steps.h"
#include "formats/common/text.h"
#include "formats/zts/attributes.h"
#include "formats/zts/exceptions.h"
#include "formats/zts/meta.h"
#include "formats/zts/reader.h"
#include "profmount/documents.h"

struct zts_sums {
	uint64_t calls, errors;
	zts_sum inclusive_ns, exclusive_ns;
};

static inline void zts_sums_add(struct zts_sums *to, const struct zts_sums *from)
{
	to->calls += from->calls;
	to->errors += from->errors;
	to->inclusive_ns += from->inclusive_ns;
	to->exclusive_ns += from->exclusive_ns;
}

struct zts_method {
	struct pm_bytes name; /* in zts_aggregate.methods */
	uint32_t number;
	struct zts_sums sums; /* inclusive: of outermost calls */
	bool ended;           /* one call at least: min and max are known */
	int64_t min_ns, max_ns;
	struct pm_call_times times;
};

/* ---- calls added up by paths of methods ---- */

/* Of the calls of a path: one cache line. No call has ended where min_ns > max_ns. */
struct zts_path_sums {
	struct zts_sums sums;
	int64_t min_ns, max_ns;
};

struct zts_tally {
	struct pm_paths paths;
	struct zts_path_sums *sums; /* of each path */
	uint64_t *first;            /* of each path: where it was first, trace << 32 | call */
	size_t sum_room, first_room;
	uint32_t latest; /* trace so far; PM_NONE: none */
	struct pm_guesses guesses;
	struct pm_step *steps; /* of each call of the current trace */
	zts_sum *ns;           /* of each call, too: see zts_call_settle */
	size_t step_room, ns_room;
	struct zts_path_sums
		*rest; /* by method, of calls that were left out; inclusive: outermost */
	size_t n_rest, rest_room;
	uint32_t *active; /* of each method, while calls are left out: those that have not ended */
	size_t active_room;
	uint64_t left_out;
};

/* How many calls of a method took 0, 1 … ticks: most calls are brief. */
enum { ZTS_BRIEF = 16 };

struct zts_brief {
	uint32_t calls[ZTS_BRIEF];
};

/* Why all traces are read once more: for percentiles, see pm_percentiles. */
enum zts_again { ZTS_AGAIN_NOT, ZTS_AGAIN_METHODS, ZTS_AGAIN_ATTRIBUTES, ZTS_AGAIN_STATEMENTS };

struct zts_partial {
	struct pm_arena texts;
	struct zts_method *methods; /* by number */
	uint32_t n_methods;
	size_t method_room;
	struct zts_tally tally;
	struct pm_durations durations; /* by method; zts_partial_end adds those of brief calls */
	struct zts_brief *brief;       /* by method */
	size_t brief_room;
	struct pm_duration *ended; /* calls of the current trace that were not brief */
	size_t ended_room;
	enum zts_again again;
	bool only_carried;              /* no methods and paths: what calls carry */
	const struct pm_window *window; /* only methods, of calls that begin in it; NULL: all */
	struct zts_added *added;        /* traces, in the order in which they were */
	size_t n_added, added_room;
	struct zts_attributes attributes, statements;
	struct zts_exceptions exceptions;
};

/* 0 or -ENOMEM; call zts_partial_done in either case. */
int zts_partial_init(struct zts_partial *p);

/*
 * The partial, which is empty, only counts the durations that `found` wants, of methods, or of
 * attributes or statements, which are numbered as in `texts`. 0 or -ENOMEM.
 */
int zts_partial_again(struct zts_partial *p, enum zts_again again, const struct pm_strtab *texts,
	const struct pm_durations *found);

/* Joins what a pass has counted. 0 or -ENOMEM. */
int zts_partial_join_again(struct pm_durations *found, const struct zts_partial *p);

/* Adds the calls of one trace. 0 or -ENOMEM. */
int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_added *trace, bool error);

/* Call after the last trace: adds up methods, and frees what is no longer needed. 0 or -ENOMEM. */
int zts_partial_end(struct zts_partial *p);

/* Adds what `from` has, after the end of both. 0 or -ENOMEM. */
int zts_partial_join(struct zts_partial *to, const struct zts_partial *from);

void zts_partial_done(struct zts_partial *p);

/* Frees what has been added up by path, before the rest. */
void zts_tally_done(struct zts_tally *t);

/* For pm_sort: by exclusive time, highest first, then by name. */
int zts_method_by_time(const void *a, const void *b);

/* ---- of all threads ---- */

/* What one thread adds up, and into which it reads traces. */
struct zts_adder {
	struct zts_partial partial;
	struct zts_growing growing;
	struct zts_tree tree;
	struct zts_records values; /* reads attributes, beside a scan */
};

struct zts_adders {
	struct zts_stores *stores;
	const struct zts_spans *index; /* by place: for the scan */
	struct zts_adder *items;
	unsigned n;           /* pm_crew_width() */
	pthread_mutex_t lock; /* of what follows */
	unsigned n_free;
	uint8_t free[PM_CREW_MOST]; /* adders that nobody uses */
};

/* NULL if out of memory. Free with zts_adders_free, which accepts NULL. */
struct zts_adders *zts_adders_new(struct zts_stores *stores);
void zts_adders_free(struct zts_adders *sums);

/* The number of an adder for a thread, which gives it back. */
uint8_t zts_adders_lend(struct zts_adders *sums);
void zts_adders_give_back(struct zts_adders *sums, uint8_t adder);

#endif
