/* What single threads cost, by category of work. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_THREADCATEGORIES_H
#define PROFMOUNT_FS_VIEWS_SUMS_THREADCATEGORIES_H

#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"

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
};

/* `a` has its memory, and may be in a build. */
int pmfs_thread_categories_start(struct pm_arena *a, struct pmfs_thread_categories *t,
	struct pmfs_model *m, struct pm_error *err);

/* Reads all values of the thread. */
int pmfs_thread_categories_read(
	struct pmfs_thread_categories *t, uint32_t thread, struct pm_error *err);

#endif
