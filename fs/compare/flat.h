/* The tables of a comparison with one row per function, line, module … */
#ifndef PROFMOUNT_FS_COMPARE_FLAT_H
#define PROFMOUNT_FS_COMPARE_FLAT_H

#include "fs/compare/join.h"

/* The data by which runs are joined, filled run by run. 0 or a negative errno. */
typedef int pmfs_read_run_fn(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err);

/* How runs are read: `read` for each in turn, after `prepare`, which may be NULL, for two at once.
 */
struct pmfs_reader {
	pmfs_prepare_fn *prepare;
	pmfs_read_run_fn *read;
};

/* Reads each run that can be opened; it is only open while it is read. */
int pmfs_compare_read(struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_reader reader, void *self, struct pm_error *err);

/* Functions, modules, files, categories or callers. */
int pmfs_flat_join(struct pmfs_compare *c, enum pmfs_compare_part which, struct pmfs_joined *j,
	struct pm_error *err);

/* ---- lines.c ---- */

int pmfs_lines_join(struct pmfs_compare *c, struct pmfs_joined *j, struct pm_error *err);

/* ---- tables.c ---- */

/* The rows of a table, computed on the first call; owned by the comparison. */
int pmfs_joined_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	const struct pmfs_joined **ret, struct pm_error *err);

/* Any of the tables above. */
struct pm_table pmfs_joined_table(struct pmfs_compare *c, enum pmfs_compare_part which);

/* names.csv: the names that functions.csv has joined. */
struct pm_table pmfs_joined_names_table(struct pmfs_compare *c);

/* metrics.csv: the total of each quantity. */
struct pm_table pmfs_totals_table(struct pmfs_compare *c);

#endif
