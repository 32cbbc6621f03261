/* What calls add up to: of a method, and of a path of methods. Tallies are a part of partial.c. */
#ifndef PROFMOUNT_FORMATS_ZTS_TALLY_H
#define PROFMOUNT_FORMATS_ZTS_TALLY_H

#include "formats/common/steps.h"
#include "formats/zts/exceptions.h"
#include "profmount/traces.h"

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
	struct pm_bytes name;
	uint32_t function;    /* of the run's tree, once that is finished */
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
	uint64_t *first;            /* of each path: where it was first, see zts_tally_add */
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

/* 0 or -ENOMEM; call zts_tally_done in either case. */
int zts_tally_init(struct zts_tally *t);

/* Makes room for the steps of a trace of n calls. 0 or -ENOMEM. */
int zts_tally_room(struct zts_tally *t, uint32_t n);

/*
 * Adds the calls of a trace, which is all[trace]. Their steps are in t->steps, with methods as
 * keys. `first` of a path is the first of its traces, store by store, and the number of the call in
 * it: trace << 32 | call. 0 or -ENOMEM.
 */
int zts_tally_add(struct zts_tally *t, const struct zts_tree *tree, const struct zts_added *all,
	uint32_t trace);

/*
 * Adds the sums of paths, whose methods are `methods[key]` here, when `first` has numbers that both
 * understand. Not the shortest and longest calls, nor those without a path: see zts_tally_fold.
 * 0 or -ENOMEM.
 */
int zts_tally_join(struct zts_tally *to, const struct zts_tally *from, const uint32_t *methods);

/* Adds the sums to `methods`; inclusive times are of outermost calls only. 0 or -ENOMEM. */
int zts_tally_fold(const struct zts_tally *t, struct zts_method *methods, uint32_t n_methods);

/* Frees what is only needed for adding. */
void zts_tally_end(struct zts_tally *t);
void zts_tally_done(struct zts_tally *t);

/* Adds the calls of `from` to a method. */
void zts_method_add(struct zts_method *to, const struct zts_method *from);

/* Calls of the method took from `min_ns` to `max_ns`. */
void zts_method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns);

/* For pm_sort: by exclusive time, highest first, then by name. */
int zts_method_by_time(const void *a, const void *b);

#endif
