/* Shared by tables with a row for each function. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_FUNCTIONS_H
#define PROFMOUNT_FS_VIEWS_TABLES_FUNCTIONS_H

#include "fs/views/sums/functions.h"

/* Does functions.csv say how long calls took? Where it is of a part of the run, that is not known.
 */
bool pmfs_functions_are_timed(const struct pmfs_model *m);

/* A table with the columns of functions.csv, and one of its rows; `timed` as above. */
int pmfs_function_table(struct pmfs_model *m, const struct pm_table_type *type,
	struct pm_table *ret, struct pm_error *err);
void pmfs_function_row(const struct pmfs_functions *f, uint32_t row, uint32_t contexts,
	const double *numbers, bool timed, struct pm_cell *cells);

#endif
