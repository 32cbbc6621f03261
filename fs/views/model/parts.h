/*
 * Results that views compute once and keep in the model. Each part belongs to one .c file, which
 * builds it on first need and provides access functions.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_PARTS_H
#define PROFMOUNT_FS_VIEWS_MODEL_PARTS_H

#include "formats/common/lazy.h"
#include "fs/views/model/model.h"

enum pmfs_part {
	PMFS_PART_COLUMNS,
	PMFS_PART_COLUMN_NAMES,
	PMFS_PART_HEADERS,
	PMFS_PART_ORDER,
	PMFS_PART_THREADS,
	PMFS_PART_THREAD_TOTALS,
	PMFS_PART_EMPTY_THREADS,
	PMFS_PART_TOTALS,
	PMFS_PART_SPREADS,
	PMFS_PART_PEERS,
	PMFS_PART_WORKS,
	PMFS_PART_MISSING,
	PMFS_PART_FUNCTION_IMBALANCE,
	PMFS_PART_EFFICIENCY,
	PMFS_PART_IDENTITY,
	PMFS_PART_FUNCTIONS,
	PMFS_PART_LINES,
	PMFS_PART_CALLERS,
	PMFS_PART_MODULES,
	PMFS_PART_FILES,
	PMFS_PART_SOURCES,
	PMFS_PART_CATEGORIES,
	PMFS_PART_CATEGORY_SUMS,
	PMFS_PART_COLOURS,
	PMFS_PART_GPU,
	PMFS_PART_GPU_GAPS,
	PMFS_PART_TRACE_LENGTHS,
	PMFS_PART_TIMELINE,
	PMFS_PART_ITERATIONS,
	PMFS_PART_DURATIONS,
	PMFS_PART_BLAME,
	PMFS_N_PARTS,
};

/*
 * Gets the part, which is built on the first call; the model is its owner. A part always has the
 * same type. `ret` points to a pointer to the part, or to its first member if only that is public;
 * NULL after a failure.
 */
#define pmfs_model_part(m, which, type, ret, err)                                                  \
	pm_part_get(pmfs_model_part_of(m, which), type, m, ret, err)

struct pm_part *pmfs_model_part_of(struct pmfs_model *m, enum pmfs_part which);

/* The model that is `self` of a document or table. */
static inline struct pmfs_model *pmfs_model_of(const void *self)
{
	return (struct pmfs_model *)(uintptr_t)self;
}

static inline int pmfs_no_memory(struct pm_error *err)
{
	return pm_error_plain(err, -ENOMEM);
}

/* Sets the result of pmfs_model_wish; for columns.c. */
void pmfs_model_set_wish(struct pmfs_model *m, const char *name);

#endif
