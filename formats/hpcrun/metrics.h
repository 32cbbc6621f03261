/* The metrics of all files, one group for each name, and the costs of their values. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_METRICS_H
#define PROFMOUNT_FORMATS_HPCRUN_METRICS_H

#include "formats/common/map.h"
#include "formats/hpcrun/harvest.h"
#include "profmount/profile.h"

enum {
	HPCRUN_METRIC_USED = 1,  /* a value of it is stored */
	HPCRUN_METRIC_MOVES = 2, /* values belong to the enclosing function, not to a line */
};

/* Used while files are merged. Zeroed = empty. */
struct hpcrun_metric_names {
	struct pm_strtab names; /* by first appearance */
	uint8_t *flags;         /* by name: HPCRUN_METRIC_… */
	size_t room;
	struct pm_arena arena;
};

/*
 * The index of a metric's name, new or known, with `flags` added to its own. PM_NONE if out of
 * memory.
 */
uint32_t hpcrun_metric_names_add(
	struct hpcrun_metric_names *n, struct pm_bytes name, uint8_t flags);

/*
 * The metrics of the names that are used, in their order: `ret` has _excl of group g as 2g and
 * _incl as 2g + 1. `*ret_groups` becomes the group of each name, PM_NONE of unused ones; it lives
 * in the arena, too. 0 or -ENOMEM.
 */
int hpcrun_metric_names_list(const struct hpcrun_metric_names *n, struct pm_arena *arena,
	struct pm_metrics *ret, uint32_t **ret_groups);

void hpcrun_metric_names_done(struct hpcrun_metric_names *n);

/* The cost of a stored value of a metric: × period; NaN if that is not a number. */
double hpcrun_cost(const struct hpcrun_crop_metric *metric, uint64_t bits);

#endif
