/* Tables that show runs side by side: one column or one row for each. */
#ifndef PROFMOUNT_FS_RUNS_SIDES_H
#define PROFMOUNT_FS_RUNS_SIDES_H

#include "fs/runs/internal.h"

struct pm_table pmfs_wide_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_noise_table(const struct pmfs_ensemble *e);

struct pm_table pmfs_scaling_table(const struct pmfs_ensemble *e);
/* The columns of one of them; that of contexts has a = 1. */
int pmfs_scaling_columns(struct pm_table *table, struct pm_error *err);
struct pm_table pmfs_scaling_contexts_table(const struct pmfs_ensemble *e);

/*
 * 1 where runs differ in their number of threads, 0 where they do not. Where telling would take
 * opening very many runs, 1: the tables are then perhaps without rows.
 */
int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err);

#endif
