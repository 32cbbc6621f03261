/* The parts of summary.txt about costs; parts without content are left out. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_COSTLY_H
#define PROFMOUNT_FS_VIEWS_TEXTS_COSTLY_H

#include "fs/views/sums/functions.h"
#include "fs/views/sums/totals.h"

/* The primary quantity and the others with their totals. `chosen`: -o metric chooses the former. */
void pmfs_add_quantities(struct pm_text *out, const struct pmfs_columns *c,
	const struct pmfs_totals *totals, bool chosen);

/* A flat profile of the run or a part of it. */
struct pmfs_costly {
	const struct pmfs_functions *f;
	uint32_t n;
	const uint32_t *order; /* its rows, most expensive first; NULL: in order */
	const uint32_t *of;    /* row → row of functions.csv; NULL: identical */
	const double *cells;   /* by row */
	double whole;          /* shares are of this */
};

/*
 * The sum of its own costs, of a difference what all increases and decreases add up to: of it are
 * shares of a part of the run.
 */
double pmfs_costly_sum(const struct pmfs_costly *c);

/*
 * Its first rows, at most `most`, as far as they cost anything. Functions with the same name are
 * distinguished by their places.
 */
void pmfs_add_costly_functions(struct pm_text *out, const struct pmfs_costly *c, uint32_t most);

/*
 * functions.txt: the same for people who want more than one screen has: at most PMFS_TEXT_ROWS
 * rows, also those without a cost of their own, with inclusive costs and calls.
 */
enum { PMFS_TEXT_ROWS = 100 };
void pmfs_add_function_table(struct pm_text *out, const struct pmfs_costly *c);

/*
 * The column of the time of GPUs, or of samples beside calls, in a profile whose primary quantity
 * is that of processors: PM_ROLE_INCLUSIVE or PM_ROLE_EXCLUSIVE. PM_NONE: there is none, as in all
 * but windows and trace events.
 */
uint32_t pmfs_gpu_column(const struct pmfs_columns *c, enum pm_role role);

/* Of that column: the time in which something ran. */
double pmfs_gpu_busy(const struct pmfs_functions *f, const struct pmfs_totals *totals);

/* GPU operations by kind, and kernels if another quantity is primary. */
int pmfs_add_gpu(struct pm_text *out, const struct pmfs_functions *f,
	const struct pmfs_totals *totals, struct pm_error *err);

/*
 * If time is also measured by statement: the total, the part in main code, and the slowest lines.
 */
int pmfs_add_costly_lines(struct pm_text *out, struct pmfs_model *m, struct pm_error *err);

#endif
