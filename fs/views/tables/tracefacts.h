/* What is known of a trace's rows without making them: for traces as Parquet. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_TRACEFACTS_H
#define PROFMOUNT_FS_VIEWS_TABLES_TRACEFACTS_H

#include "fs/views/model/model.h"
#include "profmount/table.h"

/* The columns of trace.csv that have bounds, and the texts after `category`. */
enum {
	PMFS_TRACE_TIME,
	PMFS_TRACE_DURATION,
	PMFS_TRACE_TIMESTAMP,
};

/*
 * pm_table_type.texts of trace.csv: categories and names of all contexts. `category` is the
 * column of the first of these three.
 */
int pmfs_trace_texts(struct pmfs_model *m, uint32_t category, pm_text_fn *each, void *context,
	struct pm_error *err);

/* Least and greatest times of samples; zeroed = of none. */
struct pmfs_trace_range {
	uint64_t n, n_durations;
	uint64_t first, last; /* times */
	uint64_t n_times;     /* of samples that have one */
	uint64_t first_known, last_known;
	uint64_t shortest, longest;
};

/* Adds samples [from, to) of a thread's trace. -EIO where they cannot be read. */
int pmfs_trace_range_add(struct pmfs_trace_range *range, struct pmfs_model *m, uint32_t thread,
	uint64_t from, uint64_t to, struct pm_error *err);

/* Sets cells [PMFS_TRACE_TIME] … of both from it. */
int pmfs_trace_range_cells(const struct pmfs_trace_range *range, struct pmfs_model *m,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err);

#endif
