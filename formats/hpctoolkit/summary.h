/* Costs of the whole run: the summary profile, else sums over threads. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_SUMMARY_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_SUMMARY_H

#include "formats/hpctoolkit/block.h"
#include "formats/hpctoolkit/metrics.h"
#include "formats/hpctoolkit/threads.h"

/* The source of the costs of the whole run. A value that need not be freed. */
struct hpctk_run_reader {
	const struct hpctk_opened *db;
	const struct hpctk_metrics *metrics;
	const struct hpctk_threads *threads;
	struct hpctk_block summary; /* empty where there is none */
};

/* O(1). Does not read the summary's index. */
int hpctk_run_reader_init(
	struct hpctk_run_reader *r, struct hpctk_opened *db, struct pm_error *err);

/* The summary's index entry for a context number, or HPCTK_NONE; see hpctk_block_find. */
uint32_t hpctk_run_find(const struct hpctk_run_reader *r, uint32_t number, uint32_t *next);

/* All costs of a context whose summary entry is known, in database order of metrics. */
int64_t hpctk_run_all(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	struct pm_value *ret, size_t room, struct pm_error *err);

/* One cost of a context whose summary entry is known; NaN if none is stored or readable. */
double hpctk_run_cost(
	const struct hpctk_run_reader *r, uint32_t number, uint32_t entry, uint32_t quantity);

#endif
