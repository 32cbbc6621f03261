/* Measures a table's text without formatting it, with several threads if it is big. */
#ifndef PROFMOUNT_FS_DOCUMENT_MEASURE_H
#define PROFMOUNT_FS_DOCUMENT_MEASURE_H

#include "fs/document/body.h"

/* Rows per mark: 16 bytes of memory for about 64 KiB of text. */
#define PMFS_ROWS_PER_MARK 1024

/*
 * Adds marks and size for the rows from position `at` on, whose text begins at body->size. -ENOMEM
 * if the work is cancelled.
 */
int pmfs_measure(struct pmfs_body *body, const struct pm_table *table, enum pm_form form,
	uint64_t at, struct pm_error *err);

#endif
