/* Rows of contexts, shared by the tables that show them. */
#ifndef PROFMOUNT_FS_VIEWS_TABLES_CONTEXTS_H
#define PROFMOUNT_FS_VIEWS_TABLES_CONTEXTS_H

#include "fs/views/model/views.h"

/* State of a cursor over contexts. */
struct pmfs_context_rows {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const uint8_t *categories; /* by context */
};

/* As pm_table_type.start: sets rows->own to a single allocation. */
int pmfs_context_rows_start(struct pm_rows *rows, struct pm_error *err);

/* Fills a row of contexts.csv. Returns 1 or a negative errno. */
int pmfs_context_row(struct pmfs_context_rows *c, uint32_t context, struct pm_cell *cells,
	struct pm_text *scratch, struct pm_error *err);

/* A table with the columns of contexts.csv. */
int pmfs_context_table(struct pmfs_model *m, const struct pm_table_type *type, struct pm_table *ret,
	struct pm_error *err);

#endif
