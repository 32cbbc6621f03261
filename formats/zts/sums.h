/*
 * What calls add up to: by path of methods (the context tree), by method, by exception, by value of
 * an attribute, and by statement of SQL. Each recorded call counts once.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SUMS_H
#define PROFMOUNT_FORMATS_ZTS_SUMS_H

#include <pthread.h>

#include "formats/common/crew.h"
#include "formats/common/map.h"
#include "formats/common/percentiles.h"
#include "formats/common/steps.h"
#include "formats/common/text.h"
#include "formats/zts/reader.h"
#include "profmount/documents.h"

struct zts_survey;
struct zts_spans;

/* ---- traces that were added up ---- */

/* What the place of a trace among others depends on, and what becomes known. */
struct zts_added {
	uint64_t timestamp_ns, start_offset;
	uint32_t store, chunk; /* of its first part, like start_offset */
	uint32_t calls;
	uint32_t trace; /* its number, after the survey */
};

/* Whether trace `a` is before `b` in order of time, see zts_survey.traces. NULL: that of numbers.
 */
static inline bool zts_earlier(const struct zts_added *all, uint32_t a, uint32_t b)
{
	if (!all || a == b)
		return a < b;
	const struct zts_added *x = &all[a], *y = &all[b];
	if (x->timestamp_ns != y->timestamp_ns)
		return x->timestamp_ns < y->timestamp_ns;
	if (x->store != y->store)
		return x->store < y->store;
	return x->chunk != y->chunk ? x->chunk < y->chunk : x->start_offset < y->start_offset;
}

/* The trace of a call, its begin, and `error` of traces.csv. */
struct zts_moment {
	const struct zts_added *all; /* `trace` is one of these; NULL: a number of the survey */
	uint32_t trace;
	uint64_t timestamp_ns;
	bool error;
};

/*
 * ---- attributes and statements (carried.c) ----
 * How many traces and calls have each, and how long these took. Requests are counted in the same
 * way. In an arena, of which these functions are a build (formats/common/arena.h).
 */

struct zts_attr_sums {
	/*
	 * Traces whose own call has it, of a statement those with any such call; and those of them
	 * with an error, which is that of traces.csv; of a trace inside another one, that of its
	 * call.
	 */
	uint64_t traces, trace_errors;
	uint64_t calls, errors;
	zts_sum time_ns; /* of calls that ended, without those below another one with the value */
	int64_t slowest_ns; /* of any of them, which is in this trace; PM_NONE: none ended */
	uint32_t slowest;
	/* The last trace and call with this value, and the end of the calls below the outermost. */
	uint32_t last_tree, last_call, end;
	uint32_t statement; /* of a value: its place among the statements; PM_NONE: it is none */
	struct pm_bytes key, value;
	struct pm_call_times times; /* after zts_attributes_end */
};

struct zts_attributes {
	struct pm_arena *arena;
	struct pm_strtab texts; /* key and value in one */
	struct zts_attr_sums *items;
	size_t room;
	struct pm_durations durations; /* by item */
	struct pm_text scratch;
	uint32_t n_trees; /* added so far */
};

/* `a` stays where it is as long as the arena. */
void zts_attributes_init(struct zts_attributes *a, struct pm_arena *arena);

/* Adds those of all calls of a trace, and the shapes of those that are SQL, without keys. */
void zts_attributes_add(struct zts_attributes *a, struct zts_attributes *statements,
	const struct zts_tree *tree, const struct zts_moment *moment);

/*
 * Adds a trace with that value, without a key and without its calls. `duration_ns` may be
 * PM_NO_TIME.
 */
void zts_attributes_add_trace(struct zts_attributes *a, struct pm_bytes value, uint64_t duration_ns,
	const struct zts_moment *moment);

/* Adds what `from` has, which nothing has been joined to. */
void zts_attributes_join(struct zts_attributes *to, const struct zts_attributes *from);

/*
 * Finds percentiles, for which `pass` may have to add all calls once more, and sorts: by key, then
 * most traces, then most time first, or by time alone. Nothing can be added afterwards.
 */
void zts_attributes_end(struct zts_attributes *a, bool by_time_alone, pm_pass pass, void *context);

/*
 * Begins a pass: `a`, which is empty, only counts the durations that `found` wants, of items that
 * are numbered as in `texts`.
 */
void zts_attributes_again(
	struct zts_attributes *a, const struct pm_strtab *texts, const struct pm_durations *found);

/* Does it begin with a verb of SQL, in upper or lower case, and go on behind it? */
bool zts_is_statement(struct pm_bytes value);

/*
 * Appends the statement with each number and quoted text as `?`, a list of `?` behind IN as one,
 * and white space as one blank. Names in double quotes or backquotes stay. Linear.
 */
void zts_statement_shape(struct pm_bytes statement, struct pm_text *out);

/* ---- exceptions of failed calls, in the same way (carried.c) ---- */

/* Exceptions of one class with one message. */
struct zts_thrown {
	uint64_t count;             /* of calls that ended with it */
	uint64_t first_ns, last_ns; /* when the first and the last of them began */
	uint32_t trace;             /* the first one's */
	struct pm_bytes class, message;
};

/* Exceptions of one class. */
struct zts_thrown_class {
	uint64_t count;
	uint32_t n_messages, most; /* the item with its most frequent message */
};

struct zts_exceptions {
	struct pm_arena *arena;
	struct pm_strtab texts; /* class and message in one */
	struct pm_map ids;      /* store and id → item */
	struct zts_thrown *items;
	size_t room;
	struct zts_thrown_class *classes; /* once sorted: most frequent first */
	uint32_t n_classes;
};

/* Appends class and message of an exception; if the index lacks it, its id as class. */
void zts_exception_names(
	const struct zts_texts *t, uint64_t id, struct pm_text *class, struct pm_text *message);

void zts_exceptions_add(struct zts_exceptions *e, struct zts_stores *stores,
	const struct zts_tree *tree, const struct zts_moment *moment);
void zts_exceptions_join(struct zts_exceptions *to, const struct zts_exceptions *from);

/* Most frequent first; nothing can be added afterwards. */
void zts_exceptions_sort(struct zts_exceptions *e);

/*
 * ---- the sums of one thread (sums.c) ----
 * The scan of the chunks adds up what begins and ends in one payload when it meets it, so that
 * payloads are decompressed and decoded once; contexts.c adds the remaining traces, and joins them
 * all. Nothing depends on the order in which traces are added.
 */

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

/* Of the calls of a path: one cache line. No call has ended where min_ns > max_ns. */
struct zts_path_sums {
	struct zts_sums sums;
	int64_t min_ns, max_ns;
};

/* Why all traces are read once more: for percentiles, see pm_percentiles. */
enum zts_again { ZTS_AGAIN_NOT, ZTS_AGAIN_METHODS, ZTS_AGAIN_ATTRIBUTES, ZTS_AGAIN_STATEMENTS };

struct zts_partial {
	struct pm_arena arena;
	enum zts_again again;
	bool only_carried;              /* no methods and paths: what calls carry */
	const struct pm_window *window; /* only methods, of calls that begin in it; NULL: all */
	struct zts_added *added;        /* traces, in the order in which they were */
	size_t n_added, added_room;
	struct zts_method *methods; /* by number */
	uint32_t n_methods;
	size_t method_room;
	struct pm_durations durations; /* by method */
	/* By path: */
	struct pm_paths paths;
	struct zts_path_sums *sums;
	uint64_t *first; /* where it was first, trace << 32 | call */
	size_t sum_room, first_room;
	uint32_t latest;   /* trace so far; PM_NONE: none */
	uint64_t left_out; /* calls beyond PM_LIMIT_CALL_PATHS */
	struct zts_attributes attributes, statements;
	struct zts_exceptions exceptions;
	/* What is needed while traces are added: */
	struct pm_arena *work;
	struct pm_guesses guesses;
	struct pm_duration *ended; /* calls of the current trace */
	struct pm_step *steps;     /* of each call of the current trace */
	zts_sum *ns;               /* of each call, too: see zts_call_settle */
	size_t ended_room, step_room, ns_room;
	/* By method, of calls that were left out; inclusive: outermost. */
	struct zts_path_sums *rest;
	size_t n_rest, rest_room;
	uint32_t *active; /* calls that have not ended, while some are left out */
	size_t active_room;
};

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

/* Adds what `from` has, after the end of both: in a build of `to`. */
void zts_partial_join(struct zts_partial *to, const struct zts_partial *from);

/* Frees what has been added up by path, before the rest. */
void zts_partial_drop_paths(struct zts_partial *p);

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

/* ---- of all traces (contexts.c) ---- */

struct zts_aggregate {
	struct zts_adders *adders;
	struct zts_partial *all;    /* the first one's, which the others have been joined with */
	struct zts_method *methods; /* with calls, by exclusive time, highest first */
	size_t n_methods;
	struct pm_damage_list damage; /* traces that cannot be read */
	/* Only of the run: */
	struct pm_tree *tree;
	struct zts_sums *sums; /* of each context */
	uint32_t *frames;      /* of the tree, by number of the method; PM_NONE: none */
	uint32_t n_frames;
	struct pm_call_times *times; /* by function of the tree */
	uint32_t *calls_of;          /* by trace: calls that count */
};

/* Which traces are added up, and what of them. */
struct zts_wanted {
	const uint32_t *traces; /* numbers of n traces; NULL: those from `first` on */
	uint32_t first, n;
	bool whole;        /* all traces, and all that they have */
	bool only_carried; /* what calls carry, without methods and paths */
	/* Not NULL: only methods of calls that begin in it, and of those errors and durations. */
	const struct pm_window *window;
};

/*
 * Reads the traces that are readable, on all cores, except those that the survey's scan has added
 * up in `sums`, which it frees; NULL: none were. Nothing is left after a failure.
 */
int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, const struct zts_wanted *wanted, struct zts_adders *sums,
	struct pm_error *err);

/* The function of a method in the tree of the run. */
static inline uint32_t zts_function_of(const struct zts_aggregate *run, const struct zts_method *m)
{
	uint32_t frame = m->number < run->n_frames ? run->frames[m->number] : PM_NONE;
	return frame == PM_NONE ? PM_NONE : run->tree->frames[frame].function;
}

/* Accepts a zeroed one. */
void zts_aggregate_done(struct zts_aggregate *a);

#endif
