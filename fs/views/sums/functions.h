/*
 * The flat profile: the cost of each function over all its call sites. Inclusive costs count
 * recursion once: only contexts that are not below another context of the function.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONS_H
#define PROFMOUNT_FS_VIEWS_SUMS_FUNCTIONS_H

#include "fs/views/model/identity.h"
#include "fs/views/model/views.h"

/* Rows of functions.csv, in its order; functions/ is indexed by row number. */
struct pmfs_functions {
	uint32_t n;
	const uint32_t *function;     /* row → function */
	const uint32_t *row;          /* function → row, or PM_NONE */
	const uint32_t *first;        /* row → its first index in `contexts`; n + 1 items */
	const uint32_t *contexts;     /* instances by row, in pre-order */
	const pm_number *cells;       /* columns->n per row; NaN = no value */
	const uint8_t *category;      /* by function: enum pmfs_category */
	const struct pm_evals *evals; /* or NULL */
	const struct pmfs_identity *identity;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
};

/* Computed on the first call; owned by the model. */
int pmfs_functions(struct pmfs_model *m, const struct pmfs_functions **ret, struct pm_error *err);

static inline const struct pmfs_function *pmfs_function_at(
	const struct pmfs_functions *f, uint32_t row)
{
	return &f->identity->functions[f->function[row]];
}

/* function_id: the database's own number, or the position in functions.csv from 1. */
static inline uint32_t pmfs_function_id(const struct pmfs_functions *f, uint32_t row)
{
	uint32_t id = pmfs_function_at(f, row)->id;
	return id != PM_NONE ? id : row + 1;
}

/* The name as shown in `name` columns. */
static inline struct pm_bytes pmfs_function_name(const struct pmfs_functions *f, uint32_t row)
{
	return pmfs_function_at(f, row)->name;
}

/* Number of contexts of a row. */
static inline uint32_t pmfs_function_count(const struct pmfs_functions *f, uint32_t row)
{
	return f->first[row + 1] - f->first[row];
}

/* Nothing runs in it: it is no function of the program, and costs time in windows alone. */
static inline bool pmfs_function_is_nothing(const struct pmfs_functions *f, uint32_t row)
{
	return pmfs_function_count(f, row) > 0 &&
		pm_tree_frame(f->tree, f->contexts[f->first[row]])->is_nothing;
}

/* A cell of the row. */
static inline pm_number pmfs_function_cell(
	const struct pmfs_functions *f, uint32_t row, uint32_t column)
{
	return f->cells[(size_t)row * f->columns->n + column];
}

/*
 * 1 if functions.csv says how long calls took, 0, or a negative errno; it may have to read
 * everything. In functions.csv of a part of the run these cells are empty.
 */
int pmfs_functions_are_timed(const struct pmfs_model *m, struct pm_error *err);

/* ---- the flat profile of a part of the run: a subtree or a thread ---- */

struct pmfs_flat_profile {
	const struct pmfs_functions *functions; /* of the whole run */
	uint32_t n;                             /* functions with a context in the part */
	uint32_t *order;    /* rows of this profile, highest exclusive cost first */
	uint32_t *whole;    /* row → row of functions.csv; NULL: identical */
	uint32_t *contexts; /* row → number of contexts */
	pm_number *cells;   /* row → functions->columns->n cells */
};

/* Reads the costs of the subtree, in a build of the arena. */
struct pmfs_flat_profile *pmfs_context_functions(
	struct pm_arena *a, struct pmfs_model *m, uint32_t context, struct pm_error *err);

/* The same for all values of the thread. */
struct pmfs_flat_profile *pmfs_thread_functions(
	struct pm_arena *a, struct pmfs_model *m, uint32_t thread, struct pm_error *err);

#endif
