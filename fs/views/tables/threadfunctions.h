/* The flat profile of one thread. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_THREADFUNCTIONS_H
#define PROFMOUNT_FS_VIEWS_TABLES_THREADFUNCTIONS_H

#include "fs/views/sums/functions.h"

struct pmfs_thread_functions {
	const struct pmfs_functions *functions; /* of the whole run */
	uint32_t n;                             /* functions that have a context on this thread */
	uint32_t *order;    /* their rows in functions.csv, most exclusive cost here first */
	uint32_t *contexts; /* row → how many */
	double *cells;      /* row → columns->n cells, of this thread */
};

/* Reads all of the thread's values. `*ret` is the caller's. */
int pmfs_thread_functions(struct pmfs_model *m, uint32_t thread, struct pmfs_thread_functions **ret,
	struct pm_error *err);

/* Accepts NULL. */
void pmfs_thread_functions_free(struct pmfs_thread_functions *t);

#endif
