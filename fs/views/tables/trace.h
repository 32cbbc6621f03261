/*
 * The trace of a thread, as rows and by column: for trace.csv and for timeline.parquet, where
 * thread_id stands before its columns.
 */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_TRACE_H
#define PROFMOUNT_FS_VIEWS_TABLES_TRACE_H

#include "fs/views/model/model.h"
#include "profmount/table.h"

enum { PMFS_TRACE_COLUMNS = 10 }; /* of a trace, at most */

/* What all traces need: 0, or a negative errno. */
int pmfs_trace_prepare(struct pmfs_model *m, struct pm_error *err);

/* Sets the columns: thread_id and those of traces. */
void pmfs_trace_set_columns(struct pmfs_model *m, struct pm_table *ret);

/* The trace of a thread with these columns but the first: without the weights of samples. */
int pmfs_trace_table(
	struct pmfs_model *m, uint32_t thread, struct pm_table *ret, struct pm_error *err);

/*
 * pm_table_type.texts: categories, functions and names of all contexts, each once. `before` columns
 * stand before the trace's.
 */
int pmfs_trace_texts(struct pmfs_model *m, uint32_t before, pm_text_fn *each, void *context,
	struct pm_error *err);

/* pm_table_type.strips of a thread's trace. After an error, the cells of some rows are filled. */
int pmfs_trace_strips(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err);

/* Advances strips past the first `n` rows. */
void pmfs_strips_advance(struct pm_strip *strips, uint32_t n_columns, uint64_t n);

/*
 * Widens the bounds of times by samples [from, to) of a thread's trace; of calls, which have to be
 * decoded, only by the first and the last, and only if they are in order.
 */
int pmfs_trace_bounds(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err);

/* Widens bounds, which are empty before the first. */
static inline void pmfs_widen(struct pm_cell *least, struct pm_cell *greatest, int64_t value)
{
	if (least->kind == PM_CELL_EMPTY || value < least->i)
		pm_set_i64(least, value);
	if (greatest->kind == PM_CELL_EMPTY || value > greatest->i)
		pm_set_i64(greatest, value);
}

#endif
