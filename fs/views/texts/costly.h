/* The parts of summary.txt that tell where cost is: each is left out where it has nothing to say.
 */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_COSTLY_H
#define PROFMOUNT_FS_VIEWS_TEXTS_COSTLY_H

#include "fs/views/sums/functions.h"
#include "fs/views/sums/totals.h"

/* The primary quantity and the others with their wholes. */
void pmfs_add_quantities(
	struct pm_text *out, const struct pmfs_columns *c, const struct pmfs_totals *wholes);

/*
 * The first rows of a flat profile with their shares of `whole`: `order` has rows (NULL: as they
 * are), `cells` is by row. Functions of one name are told apart by their places.
 */
void pmfs_add_costly_functions(struct pm_text *out, const struct pmfs_functions *f,
	const uint32_t *order, uint32_t n, const double *cells, double whole);

/* What GPUs did, by operation, and the kernels where another quantity is primary. */
int pmfs_add_gpu(struct pm_text *out, const struct pmfs_functions *f,
	const struct pmfs_totals *wholes, struct pm_error *err);

/* Where time is measured by statement, too: how much, how much of it in main code, and where. */
int pmfs_add_costly_lines(struct pm_text *out, struct pmfs_model *m, struct pm_error *err);

#endif
