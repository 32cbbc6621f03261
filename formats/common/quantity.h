/*
 * Measured quantities by what they are: which of several leads a profile (order of siblings, first
 * columns, pictures, texts). Formats and views ask here, so that they agree.
 */
#ifndef PROFMOUNT_QUANTITY_H
#define PROFMOUNT_QUANTITY_H

#include "profmount/profile.h"

/* Classes in the order in which they lead. */
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

/* By its name and unit alone. */
enum pm_quantity pm_quantity_of(struct pm_bytes name, struct pm_bytes unit);

/* How many ns one of the unit is; 0 if it is no unit of time. */
double pm_unit_ns(struct pm_bytes unit);

/* Groups that the metrics have: one more than the largest number. */
uint32_t pm_metrics_groups(const struct pm_metrics *m);

/*
 * The group that leads: the first, in database order, of the best class among those that have a
 * column and a whole that is not 0. `whole` is by group; NULL: not known, all count. PM_NONE where
 * there is none.
 */
uint32_t pm_quantity_leading(const struct pm_metrics *m, const double *whole);

#endif
