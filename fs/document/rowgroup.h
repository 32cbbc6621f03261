/* Makes one row group of a table that is not laid out: reads its rows, renders its columns. */
#ifndef PROFMOUNT_FS_DOCUMENT_ROWGROUP_H
#define PROFMOUNT_FS_DOCUMENT_ROWGROUP_H

#include "fs/document/parquet.h"

/* Makes row groups one after the other. */
struct pmfs_group_maker {
	const struct pm_table *table;
	const struct pmfs_parquet *p;
	struct pmfs_chunk *chunks;
	struct pm_cell *cells;
	struct pm_rows rows;
};

/* Begins at that position. The caller calls pmfs_group_maker_done also after a failure. */
int pmfs_group_maker_start(struct pmfs_group_maker *m, const struct pmfs_parquet *p,
	const struct pm_table *table, uint64_t at, struct pm_error *err);
void pmfs_group_maker_done(struct pmfs_group_maker *m);

/*
 * Reads rows below position `to` until the group is full: at `rows`, or by its size if that is 0.
 * Sets group->at and ->rows. 1, 0 if the rows ended, or a negative errno.
 */
int pmfs_group_read(struct pmfs_group_maker *m, struct pmfs_rowgroup *group, uint32_t rows,
	uint64_t to, struct pm_error *err);

/* An upper bound of the bytes that it takes to render what was read. */
uint64_t pmfs_group_bytes(const struct pmfs_group_maker *m);

/*
 * Appends what was read; sets the facts of each column. -EFBIG if the text is too long for a row
 * group.
 */
int pmfs_group_render(struct pmfs_group_maker *m, struct pmfs_chunk_facts *facts,
	struct pm_text *out, struct pm_error *err);

#endif
