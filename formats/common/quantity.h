/*
 * Classes of measured quantities, which determine the primary quantity of a profile (order of
 * siblings, first columns, pictures, texts). Formats and views both use this file, so that they
 * agree.
 */
#ifndef PROFMOUNT_QUANTITY_H
#define PROFMOUNT_QUANTITY_H

#include "formats/common/map.h"
#include "profmount/profile.h"

/* Classes in order of preference. */
enum pm_quantity {
	PM_QUANTITY_TIME,     /* on processors: CPUTIME, REALTIME, task-clock … */
	PM_QUANTITY_GPU_WORK, /* of all GPU operations: GPUOP */
	PM_QUANTITY_GPU_TIME, /* any other time of a GPU: kernels, copies, synchronisation */
	PM_QUANTITY_CYCLES,
	PM_QUANTITY_INSTRUCTIONS,
	PM_QUANTITY_BYTES,
	PM_QUANTITY_OTHER,
	PM_N_QUANTITIES,
};

/* Determined by name and unit only. */
enum pm_quantity pm_quantity_of(struct pm_bytes name, struct pm_bytes unit);

/* The unit in ns; 0 if it is not a unit of time. */
double pm_unit_ns(struct pm_bytes unit);

/* Number of groups of the metrics: the largest group number plus one. */
uint32_t pm_metrics_groups(const struct pm_metrics *m);

/*
 * The primary group: the first, in database order, of the best class among those with a column and
 * a total other than 0. `whole` has the totals by group; NULL: unknown, consider all. PM_NONE if
 * there is none.
 */
uint32_t pm_quantity_leading(const struct pm_metrics *m, const double *whole);

/*
 * The fields that are to be quantities (pm_open_options.values), each once: added to an empty
 * table, which has an arena and is its owner's to release, also on failure. 0; -EINVAL: there are
 * none or more than PM_LIMIT_COUNTER_FIELDS; -ENOMEM.
 */
int pm_quantity_fields(const char *list, struct pm_strtab *ret, struct pm_error *err);

#endif
