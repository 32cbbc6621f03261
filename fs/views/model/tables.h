/* Helpers for views that are tables. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_TABLES_H
#define PROFMOUNT_FS_VIEWS_MODEL_TABLES_H

#include "formats/common/sheet.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/views.h"

/* The table's columns: those of `before`, every metric and derived column, those of `after`. */
int pmfs_table_with_metrics(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err);

/* The same with the _self columns behind the metric columns, before the derived ones. */
int pmfs_table_with_self(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err);

/* A table without metric columns; `columns` ends with NULL. */
struct pm_table pmfs_table_plain(
	struct pmfs_model *m, const struct pm_table_type *type, const char *const *columns);

/* Fills one cell for each metric and derived column. Returns the cell after the last. */
struct pm_cell *pmfs_number_cells(
	const struct pmfs_columns *c, const pm_number *numbers, struct pm_cell *cells);

/* A line number, thread or other number, where the value `none` means unknown. */
static inline void pmfs_set_known(struct pm_cell *cell, uint64_t number, uint64_t none)
{
	if (number == none)
		pm_set_empty(cell);
	else
		pm_set_u64(cell, number);
}

/* The kind of a frame. */
void pmfs_set_kind(struct pm_cell *cell, const struct pm_frame *frame);

/* The name of a frame, as of pmfs_frame_name. */
void pmfs_set_name(struct pm_cell *cell, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch);

/* A text document, rendered by `render` with self = the model, a = the item. */
struct pm_doc pmfs_doc_of_text(struct pmfs_model *m, uint64_t item,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err));

/*
 * For cursors with memory of their own: rows->own becomes `size` bytes, zeroed and filled in by a
 * build of an arena, which .done = pmfs_rows_done frees with it.
 */
int pmfs_rows_build(struct pm_rows *rows, size_t size,
	void (*build)(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err),
	struct pm_error *err);
void pmfs_rows_done(struct pm_rows *rows);

#endif
