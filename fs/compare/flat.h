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

/* ---- rows.c: rows of runs that are joined by the names of functions, modules … ---- */

/* A row in a run: spellings; those of callers are two, of which the first may be PM_NONE. */
struct pmfs_row_key {
	uint32_t first, second;
	enum pmfs_side side;
};

struct pmfs_joining {
	struct pmfs_compare *compare;
	const struct pmfs_costs *costs;
	enum pmfs_compare_part which;
	struct pmfs_joined *joined;
	const struct pmfs_joined *functions; /* `joined`, or already matched */
	struct pmfs_run_rows *rows;          /* by run */
	struct pm_map known;                 /* two spellings and the side → key */
	struct pmfs_row_key *keys;
	size_t n_keys, room_keys;
};

/* The place of its text among name, module, file. */
static inline unsigned pmfs_text_place(enum pmfs_compare_part which)
{
	return which == PMFS_COMPARE_MODULES ? 1 : which == PMFS_COMPARE_FILES ? 2 : 0;
}

/* `cells` are the values of the run's columns. 0 or -ENOMEM. */
int pmfs_joining_add(
	struct pmfs_joining *j, uint32_t run, uint32_t first, uint32_t second, const double *cells);

/* The rows of the table, once everything is matched. 0 or -ENOMEM. */
int pmfs_joining_join(struct pmfs_joining *j);

void pmfs_joining_done(struct pmfs_joining *j);

/* 0, or -EIO if the run was closed and has changed since: its columns are different. */
int pmfs_joining_check(
	const struct pmfs_joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err);

/* ---- functions.c ---- */

/* The rows of functions.csv, with the match of functions for all tables; see pmfs_joined_get. */
int pmfs_functions_get(
	struct pmfs_compare *c, const struct pmfs_joined **ret, struct pm_error *err);

struct pmfs_calls;

/* Prepares for what a run compiled (pmfs_match_evals), unless names are matched as they are. */
int pmfs_compare_evals(
	struct pmfs_match *m, struct pmfs_model *run, bool exact, struct pm_error *err);

/* The edges of a run whose functions have been matched. */
int pmfs_joining_calls(const struct pmfs_joining *j, uint32_t run, struct pmfs_model *m,
	const struct pmfs_calls **ret, struct pm_error *err);

/* ---- flat.c: modules, files, categories or callers ---- */

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
