/*
 * The flat profile by load module or source file. If functions have no modules, the package or
 * class in their names is used instead.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_ROLLUPS_H
#define PROFMOUNT_FS_VIEWS_SUMS_ROLLUPS_H

#include "formats/common/map.h"
#include "fs/views/model/flat.h"
#include "fs/views/sums/functions.h"

struct pmfs_rollup {
	const struct pmfs_functions *functions;
	bool of_files;
	uint32_t *file;            /* by row, of files: text of the tree */
	struct pmfs_sums sums;     /* a row for each module or file */
	struct pm_strtab names;    /* of the rows; they live in the tree */
	uint32_t *row_of_function; /* row of functions.csv → row of this table */
	uint32_t *n_functions;     /* by row; 0: there is only code outside of functions */
	uint32_t *order;           /* the rows, highest exclusive cost first */
};

/* Computed on the first call; owned by the model. */
int pmfs_modules(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err);
int pmfs_files(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err);

/*
 * Adds what contexts lack and lines have, statements: of each line to the row of `cells` that it
 * belongs to. Does nothing for most formats. 0 or a negative errno.
 */
int pmfs_add_statements(struct pmfs_model *m,
	uint32_t (*row_of)(const void *self, const struct pm_line *line), const void *self,
	double *cells, struct pm_error *err);

#endif
