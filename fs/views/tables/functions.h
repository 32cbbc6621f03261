/* Shared by tables with a row for each function. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_FUNCTIONS_H
#define PROFMOUNT_FS_VIEWS_TABLES_FUNCTIONS_H

#include "fs/views/sums/functions.h"

/* A table with the columns of functions.csv, and one of its rows; `timed` as above. */
int pmfs_function_table(struct pmfs_model *m, const struct pm_table_type *type,
	struct pm_table *ret, struct pm_error *err);
void pmfs_function_row(const struct pmfs_functions *f, uint32_t row, uint32_t contexts,
	const double *numbers, bool timed, struct pm_cell *cells);

#endif
