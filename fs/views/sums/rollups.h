/*
 * Costs by load module, source file and category, and of what has no names. If functions have no
 * modules, the package or class in their names is used instead.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_ROLLUPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_ROLLUPS_H

#include "formats/common/map.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/views.h"
#include "fs/views/sums/functions.h"

struct pmfs_rollup {
	const struct pmfs_functions *functions;
	bool of_files;
	uint32_t *file;            /* by row, of files: text of the tree */
	struct pmfs_sums sums;     /* a row for each module or file */
	struct pm_strtab names;    /* of the rows; they live in the tree */
	uint32_t *row_of_function; /* row of functions.csv → row of this table */
	uint32_t *n_functions;     /* by row; 0: there is only code outside of functions */
	uint32_t *order;           /* the rows, highest exclusive cost first */
};

/* Computed on the first call; owned by the model. */
int pmfs_modules(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err);
int pmfs_files(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err);

/* ---- costs by category ---- */

/* Rows of categories.csv. */
struct pmfs_category_sums {
	const struct pmfs_columns *columns;
	uint32_t n; /* categories with contexts or costs, most expensive first */
	uint32_t order[PMFS_N_CATEGORIES];
	uint64_t contexts[PMFS_N_CATEGORIES];
	double whole;
	double idle;      /* of it, what context 0 costs, which has no share */
	double busy;      /* the rest, which shares are of */
	pm_number *cells; /* columns->n per category */
};

/* Computed on the first call; owned by the model. */
int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err);

/*
 * The share of a category of what is busy: of `idle`, only what is not the time in which nothing
 * runs (`<omp idle>`). NAN: none.
 */
double pmfs_category_share(enum pmfs_category category, double cost, double idle, double busy);

/*
 * The total of the primary quantity: the sum of exclusive costs, or of top-level inclusive costs if
 * there are no exclusive ones. One pass over the contexts on the first call.
 */
int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err);

/*
 * ---- code without names ----
 *
 * By load module: what it costs, and why it has none.
 */

struct pmfs_missing {
	struct pm_bytes module, build_id;
	const char *why, *tried; /* or NULL */
	pm_number cost, samples; /* of its addresses: own cost; NaN = none */
};

/* Rows of missing-symbols.csv. */
struct pmfs_missings {
	uint32_t n;
	struct pmfs_missing *rows; /* highest cost first */
	pm_number cost, whole;     /* of the primary quantity: of all rows, of the run */
	const char *advice;        /* what a reader can do about it, or NULL */
	const char *columns[6];
};

/* Computed on the first call; owned by the model. Needs the flat profile. */
int pmfs_missings(struct pmfs_model *m, const struct pmfs_missings **ret, struct pm_error *err);

/* ---- what single threads cost, by category of work ---- */

/* For one reader. */
struct pmfs_thread_categories {
	struct pmfs_model *model;
	const struct pmfs_columns *columns;
	const struct pm_tree *tree;
	const struct pmfs_identity *identity;
	const uint8_t *of; /* by context */
	bool *outer;       /* by context: none of its category is above it */
	pm_number *cells;  /* by category and column: of the thread that was read last; NaN: none */
	double nothing;    /* of its primary quantity: in context 0, in which nothing runs */
	struct pm_arena *arena; /* while it is read */
	uint32_t thread;
	struct pm_error *err;
};

/* `a`, which is in a build, has its memory. */
void pmfs_thread_categories_start(struct pm_arena *a, struct pmfs_thread_categories *t,
	struct pmfs_model *m, struct pm_error *err);

/* Reads all values of the thread. 0 or a negative errno: others may be read. */
int pmfs_thread_categories_read(
	struct pmfs_thread_categories *t, uint32_t thread, struct pm_error *err);

#endif
