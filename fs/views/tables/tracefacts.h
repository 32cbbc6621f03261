/* Traces by column, and bounds of rows without rendering them: for traces as Parquet. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_TRACEFACTS_H
#define PROFMOUNT_FS_VIEWS_TABLES_TRACEFACTS_H

#include "fs/views/model/model.h"
#include "profmount/table.h"

/* Columns of trace.csv; rows that are calls have two more before the category. */
enum {
	PMFS_TRACE_TIME,
	PMFS_TRACE_DURATION,
	PMFS_TRACE_TIMESTAMP,
	PMFS_TRACE_CONTEXT,
	PMFS_TRACE_DEPTH,
	PMFS_TRACE_CATEGORY, /* then the function and the name */
	PMFS_TRACE_SELF = PMFS_TRACE_CATEGORY,
	PMFS_TRACE_SEQ,
	PMFS_TRACE_CALL_CATEGORY,
	PMFS_TRACE_MOST_COLUMNS = PMFS_TRACE_CALL_CATEGORY + 3,
};

/* The column of the category: depends on what rows are. */
uint32_t pmfs_trace_category(struct pmfs_model *m);

/*
 * pm_table_type.texts of trace.csv: categories, functions and names of all contexts, each once.
 * `before` columns stand before the trace's.
 */
int pmfs_trace_texts(struct pmfs_model *m, uint32_t before, pm_text_fn *each, void *context,
	struct pm_error *err);

/* pm_table_type.strips of a thread's trace. In tracestrips.c. */
int pmfs_trace_strips(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err);

/* The same, but cells of rows that cannot be read are empty. In tracestrips.c. */
int pmfs_trace_strips_if_readable(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err);

/* Advances strips past the first `n` rows. In tracestrips.c. */
void pmfs_strips_advance(struct pm_strip *strips, uint32_t n_columns, uint64_t n);

/* Least and greatest times of samples; zeroed = of none. */
struct pmfs_trace_range {
	uint64_t n, n_durations;
	uint64_t first, last; /* times */
	uint64_t n_times;     /* of samples that have one */
	uint64_t first_known, last_known;
	uint64_t shortest, longest;
};

/*
 * Adds samples [from, to) of a thread's trace; of calls the times only, and only if they are in
 * order. pmfs_is_unreadable() where they cannot be read.
 */
int pmfs_trace_range_add(struct pmfs_trace_range *range, struct pmfs_model *m, uint32_t thread,
	uint64_t from, uint64_t to, struct pm_error *err);

/* Sets cells [PMFS_TRACE_TIME] … of both from it. */
int pmfs_trace_range_cells(const struct pmfs_trace_range *range, struct pmfs_model *m,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err);

#endif
