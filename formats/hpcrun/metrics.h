/* The metrics of all files: one group for each name, and how each file's values of it are meant. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_METRICS_H
#define PROFMOUNT_FORMATS_HPCRUN_METRICS_H

#include "formats/common/map.h"
#include "formats/hpcrun/harvest.h"
#include "profmount/profile.h"

/* How values of one metric of one kind of file are meant. */
struct hpcrun_scale {
	uint32_t group; /* of struct pm_metric; PM_NONE where no value is stored */
	bool real;
	uint64_t period;
};

/* While files come in. Zeroed = empty. */
struct hpcrun_metric_names {
	struct pm_strtab names; /* by first appearance */
	struct pm_strtab keys; /* distinct (name, value format, period): their index is the scale */
	struct pm_arena arena;
	struct hpcrun_scale *scales; /* group: of names, until they are listed */
	size_t room;
};

/* The scale of a file's metric, new or known. PM_NONE without memory. */
uint32_t hpcrun_metric_names_scale(
	struct hpcrun_metric_names *n, const struct hpcrun_crop_metric *metric);

/*
 * Numbers the groups, those with a scale in `used`, in the order in which files name them: scales
 * get them, `ret` their metrics, _excl of group g as 2g and _incl as 2g + 1. 0 or -ENOMEM.
 */
int hpcrun_metric_names_list(struct hpcrun_metric_names *n, const bool *used,
	struct pm_arena *arena, struct pm_metrics *ret);

void hpcrun_metric_names_done(struct hpcrun_metric_names *n);

#endif
