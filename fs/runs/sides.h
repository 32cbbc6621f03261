/* Tables that show runs side by side: one column or one row per run. */
#ifndef PROFMOUNT_FS_RUNS_SIDES_H
#define PROFMOUNT_FS_RUNS_SIDES_H

#include "fs/runs/internal.h"

struct pm_table pmfs_wide_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_noise_table(const struct pmfs_ensemble *e);

struct pm_table pmfs_scaling_table(const struct pmfs_ensemble *e);
/* The columns of one of them; for that of contexts, a = 1. */
int pmfs_scaling_columns(struct pm_table *table, struct pm_error *err);
struct pm_table pmfs_scaling_contexts_table(const struct pmfs_ensemble *e);

/*
 * 1 if runs differ in their number of threads, else 0. If very many runs would have to be opened to
 * find out, 1: the tables may then be empty.
 */
int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err);

#endif
