/*
 * Large tables whose number of rows and texts are known (pm_table_type.texts): where everything is
 * in the file follows from the number of rows, so that the size, and the row groups that a reader
 * needs, cost no pass over the others. A column takes the same room in each full row group: levels
 * are one bit per row, null cells leave room at the end of the page, and every row group has the
 * dictionary of all texts. The footer, with the bounds that are cheap, is made when it is read.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_LAYOUT_H
#define PROFMOUNT_FS_DOCUMENT_LAYOUT_H

#include "fs/document/parquet.h"

/*
 * Lays the document's table out: fills p->layout, groups and n_rows. 1, or 0 where the table must
 * be measured: it is small, has too many texts, or does not tell them. One pass over its texts.
 */
int pmfs_layout_make(struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err);

/* Appends the footer, preceded by zeros up to its room. Reads the bounds on all processors. */
int pmfs_layout_footer(const struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_text *out,
	struct pm_error *err);

/* Accepts NULL. */
void pmfs_layout_free(struct pmfs_layout *layout, uint32_t n_columns);

#endif
