/*
 * The kind of work of a context: waiting in MPI, allocating memory, input and output … Tables show
 * categories by name.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H

#include "fs/views/model/model.h"

enum pmfs_category {
	PMFS_PROGRAM, /* the program's own code: an empty field */
	PMFS_IDLE,
	PMFS_MPI,
	PMFS_OPENMP,
	PMFS_GPU,
	PMFS_THREAD,
	PMFS_IO,
	PMFS_MEMORY,
	PMFS_GC,
	PMFS_SQL,
	PMFS_NET,
	PMFS_N_CATEGORIES,
};

/* enum pmfs_category by context; owned by the model. One pass over the tree on the first call. */
int pmfs_categories(struct pmfs_model *m, const uint8_t **ret, struct pm_error *err);

/* The text in the column `category`: idle, mpi … or empty. */
struct pm_bytes pmfs_category_name(enum pmfs_category category);

/* Is it time in which a thread waits, or may do so? */
static inline bool pmfs_is_waiting(enum pmfs_category category)
{
	return category == PMFS_MPI || category == PMFS_OPENMP || category == PMFS_THREAD ||
		category == PMFS_IDLE;
}

/* The category of a trace row: idle if nothing is running, empty for an unknown context. */
static inline enum pmfs_category pmfs_category_of(
	const uint8_t *categories, uint32_t context, uint64_t number)
{
	if (context != PM_NONE)
		return (enum pmfs_category)categories[context];
	return number == 0 ? PMFS_IDLE : PMFS_PROGRAM;
}

#endif
