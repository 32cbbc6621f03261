/* Costs: stored values × period, and their sums up the tree. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_COSTS_H
#define PROFMOUNT_FORMATS_HPCRUN_COSTS_H

#include "formats/common/costs.h"
#include "formats/hpcrun/contexts.h"

/* Fills `ret` with the costs of n_threads threads and freezes it. 0 or -ENOMEM. */
int hpcrun_spread(struct pm_costs *ret, const struct hpcrun_merged *m, uint32_t n_threads);

#endif
