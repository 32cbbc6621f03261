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
	struct pm_tree *tree;
	struct zts_sums *sums;      /* of each context */
	struct zts_method *methods; /* by exclusive time, highest first */
	size_t n_methods;
	struct pm_call_times *times;                  /* by function of the tree */
	struct zts_attributes attributes, statements; /* sorted */
	struct zts_exceptions exceptions;             /* sorted */
	uint32_t *calls_of; /* by place in zts_survey.by_store: calls that count */
	uint64_t left_out;  /* calls beyond PM_LIMIT_CALL_PATHS */
	struct pm_arena texts;
	struct pm_damage_list damage; /* traces that cannot be read */
};

/*
 * Reads all readable traces, on all cores, except those that the survey's scan has added up in
 * `sums`, which it frees; NULL: none were.
 */
int zts_aggregate_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, struct zts_adders *sums, struct pm_error *err);
/* Only what the calls of the traces from `first` up to `end` carry, and no damage. */
int zts_carried_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, uint32_t first, uint32_t end, struct pm_error *err);
/*
 * Only the methods of calls that begin in a window, and of those errors and durations: of `n`
 * traces at these places in zts_survey.by_store.
 */
int zts_window_calls_build(struct zts_aggregate *a, struct zts_stores *stores,
	const struct zts_survey *survey, const struct pm_window *window, const uint32_t *places,
	uint32_t n, struct pm_error *err);
void zts_aggregate_done(struct zts_aggregate *a);

#endif
