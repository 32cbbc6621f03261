/*
 * Costs: of the whole run (the summary profile, else sums over threads), of a thread (profile.db)
 * and of a context over threads (cct.db, else gathered from profile.db).
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_VALUES_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_VALUES_H

#include "formats/hpctoolkit/block.h"
#include "formats/hpctoolkit/metrics.h"
#include "formats/hpctoolkit/threads.h"

/* What the costs of the whole run are read from. A value; needs no end. */
struct hpctk_run_reader {
	const struct hpctk_db *db;
	const struct hpctk_metrics *metrics;
	const struct hpctk_threads *threads;
	struct hpctk_block summary; /* empty where there is none */
};

/* O(1). The summary's index is not looked at. */
int hpctk_run_reader_init(struct hpctk_run_reader *r, struct hpctk_db *db, struct pm_error *err);

/* The summary's index entry for a context number, or HPCTK_NONE. */
uint32_t hpctk_run_find(const struct hpctk_run_reader *r, uint32_t number);

/* All costs of a context whose summary entry is known, in database order of metrics. */
int64_t hpctk_run_all(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	struct pm_value *ret, size_t room, struct pm_error *err);

/* One cost of a context whose summary entry is known; NaN where none is stored, or readable. */
double hpctk_run_cost(
	const struct hpctk_run_reader *r, uint32_t number, uint32_t entry, uint32_t quantity);

/* As in pm_profile_ops. */
int64_t hpctk_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err);
int64_t hpctk_thread_costs(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);
int64_t hpctk_context_costs(const struct pm_profile *p, uint64_t number, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);

#endif
