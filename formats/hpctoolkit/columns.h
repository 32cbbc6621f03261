/* The metrics for views: roles, groups, and whether they have a value anywhere. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_COLUMNS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_COLUMNS_H

#include "formats/hpctoolkit/parts.h"

struct hpctk_columns {
	struct pm_metrics list;
	struct pm_metric *metrics;
};

/* The text in the parentheses at the end of a metric's name: sec of `CPUTIME (sec)`. */
struct pm_bytes hpctk_unit_of(struct pm_bytes name);

/* Computed on first need; lives as long as the database. */
int hpctk_columns_get(
	struct hpctk_opened *db, const struct hpctk_columns **ret, struct pm_error *err);

#endif
