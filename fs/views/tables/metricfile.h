/* metrics/COLUMN of a context: one number and a line feed. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_METRICFILE_H
#define PROFMOUNT_FS_VIEWS_TABLES_METRICFILE_H

#include "fs/views/model/model.h"

/*
 * The document; rendering fails with -ENOENT if there is no value. Context and column are in range.
 */
int pmfs_value_document(
	struct pmfs_model *m, uint32_t context, uint32_t column, struct pm_doc *ret);

#endif
