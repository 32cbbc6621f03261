/*
 * All recorded calls: by path of methods (the context tree), by method, by exception, and by value
 * of an attribute. Each recorded call counts once.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_AGGREGATE_H
#define PROFMOUNT_FORMATS_ZTS_AGGREGATE_H

#include "formats/zts/attributes.h"
#include "formats/zts/exceptions.h"
#include "formats/zts/partial.h"
#include "formats/zts/survey.h"
#include "profmount/documents.h"
#include "profmount/profile.h"

struct zts_aggregate {
	struct pm_tree *tree;  /* only of the run, as what follows */
	struct zts_sums *sums; /* of each context */
	uint32_t *frames;      /* of the tree, by number of the method; PM_NONE: none */
	uint32_t n_frames;
	struct zts_method *methods; /* with calls, by exclusive time, highest first */
	size_t n_methods;
	struct pm_call_times *times;                  /* by function of the tree */
	struct zts_attributes attributes, statements; /* sorted */
	struct zts_exceptions exceptions;             /* sorted */
	uint32_t *calls_of; /* by trace: calls that count; only of the run */
	uint64_t left_out;  /* calls beyond PM_LIMIT_CALL_PATHS */
	struct pm_arena texts;
	struct pm_damage_list damage; /* traces that cannot be read */
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

void zts_aggregate_done(struct zts_aggregate *a);

#endif
