/*
 * Large tables whose number of rows and texts are known in advance (pm_table_type.texts): all
 * positions in the file follow from the number of rows. So neither the size nor the columns that a
 * reader needs require a pass over the other columns. A column has the same size in each full row
 * group: levels are one bit per row, null cells leave space at the end of the page, and every row
 * group has the dictionary of all texts. The footer is made when it is read, and has the bounds
 * that are cheap to compute.
 *
 * Row groups are stored in blocks. In a block, the first column of all its row groups comes first,
 * then the second one, and so on, so that the kernel reads ahead in the column that is being read.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_LAYOUT_H
#define PROFMOUNT_FS_DOCUMENT_LAYOUT_H

#include "fs/document/parquet.h"

/*
 * Lays the document's table out, in a build of the arena, as what follows: fills p->layout, groups
 * and n_rows. False if the table must be measured because it is small, has too many texts, or does
 * not report them. One pass over its texts.
 */
bool pmfs_layout_make(
	struct pm_arena *a, struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err);

/* Where a column of a row group begins. In footer.c. */
uint64_t pmfs_layout_offset(const struct pmfs_parquet *p, size_t group, uint32_t column);

/* Finds the row group and column that contain an offset before the footer. In footer.c. */
void pmfs_layout_find(
	const struct pmfs_parquet *p, uint64_t offset, size_t *ret_group, uint32_t *ret_column);

/* Columns [from, to) of a row group. */
struct pmfs_layout_part {
	size_t group;
	uint32_t from, to;
};

/* Appends their pages. One pass over the rows of the row group. */
void pmfs_layout_chunks(struct pm_arena *a, const struct pmfs_parquet *p,
	const struct pm_table *table, const struct pmfs_layout_part *part, struct pm_text *out,
	struct pm_error *err);

/* Appends the footer, preceded by zeros up to its room. Reads the bounds on all processors. */
void pmfs_layout_footer(struct pm_arena *a, const struct pmfs_parquet *p, const struct pm_doc *doc,
	struct pm_text *out, struct pm_error *err);

#endif
