/* Shared by the renderers of the report's data. */
#ifndef PROFMOUNT_FS_VIEWS_REPORT_DATA_H
#define PROFMOUNT_FS_VIEWS_REPORT_DATA_H

#include "formats/common/json.h"
#include "fs/views/model/model.h"
#include "fs/views/report/report.h"

/*
 * A document being written, in a build of its arena: what cannot be read, and memory that is not
 * there, end it.
 */
struct pmfs_report {
	struct pm_arena *a;
	struct pm_error *err;
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	uint32_t n[3]; /* the numbers in its name */
	struct pm_json json;
	struct pm_text scratch;
	struct pm_cell *derived; /* of the row that is written */
	uint32_t *named;         /* rows of functions.csv, whose names pmfs_report_names writes */
	size_t n_named, room;
};

/* Leaves the build with the code of a function that has failed. */
static inline void pmfs_report_check(struct pmfs_report *r, int e)
{
	pm_build_check(r->a, e);
}

/* Each writes one JSON value, `null` for numbers that are out of range. */
typedef void pmfs_report_fn(struct pmfs_report *r);

pmfs_report_fn pmfs_report_start, pmfs_report_categories, pmfs_report_functions,
	pmfs_report_thread_functions, pmfs_report_function, pmfs_report_up, pmfs_report_hot,
	pmfs_report_path, pmfs_report_children, pmfs_report_flame, pmfs_report_thread_flame,
	pmfs_report_sandwich, pmfs_report_threads, pmfs_report_costs, pmfs_report_function_costs,
	pmfs_report_time, pmfs_report_stack, pmfs_report_sources, pmfs_report_source,
	pmfs_report_sites, pmfs_report_table, pmfs_report_plot;

/*
 * Writes a document as the script FUNCTION("KEY", DATA); pmfs_report_has is true for the key. 0 or
 * a negative errno.
 */
int pmfs_report_write(struct pmfs_model *m, struct pmfs_report_key key, const char *function,
	struct pm_text *out, struct pm_error *err);

/* The lists of tables and of counters, as parts of start.js. */
pmfs_report_fn pmfs_report_documents;
pmfs_report_fn pmfs_report_counters;

/* The cells of a row as an array: of the columns that are shown, and of the derived ones. */
void pmfs_report_cells(struct pmfs_report *r, const pm_number *cells);

struct pmfs_functions;

/* The row of a function in functions.csv, which is named later; -1 for PM_NONE. */
void pmfs_report_row(struct pmfs_report *r, const struct pmfs_functions *f, uint32_t function);

/*
 * Appends the names of the rows that were written, as {"ROW": name}: whoever shows them needs no
 * chunk of functions.csv for each.
 */
void pmfs_report_names(struct pmfs_report *r, const struct pmfs_functions *f);

/* A cell of a table: numbers as numbers, hexadecimal and text as text, empty as null. */
void pmfs_report_cell(struct pmfs_report *r, const struct pm_cell *cell);

#endif
