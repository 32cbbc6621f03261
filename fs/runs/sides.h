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

struct pm_table pmfs_efficiencies_table(const struct pmfs_ensemble *e);

/* The functions with the largest losses in a group, as lines: at most `most`. */
int pmfs_scaling_lines(const struct pmfs_ensemble *e, uint32_t group, unsigned most,
	const struct pmfs_column *column, struct pm_text *out, struct pm_error *err);

/* 1 if a run has sampled time on processors and several threads, else 0. */
int pmfs_has_efficiencies(const struct pmfs_ensemble *e, struct pm_error *err);

/* Runs that are opened to find out whether there are tables about threads. */
enum { PMFS_MOST_OPENED = 200 };

/*
 * 1 if runs differ in their number of threads, else 0. If very many runs would have to be opened to
 * find out, 1: the tables may then be empty.
 */
int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err);

#endif
