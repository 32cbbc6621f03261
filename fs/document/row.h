/*
 * Cells as text: one row of CSV (RFC 4180, LF) or TSV (nothing quoted; tab, CR and LF in text are
 * one space each). Text is shown as UTF-8: invalid bytes and NUL become U+FFFD.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_ROW_H
#define PROFMOUNT_FS_DOCUMENT_ROW_H

#include "formats/common/text.h"
#include "profmount/table.h"

enum pmfs_form { PMFS_CSV, PMFS_TSV };

/* Appends the row and its line feed. */
void pmfs_row_render(
	struct pm_text *out, enum pmfs_form form, const struct pm_cell *cells, uint32_t n);

/* Bytes that pmfs_row_render would append; formats nothing. */
uint64_t pmfs_row_length(enum pmfs_form form, const struct pm_cell *cells, uint32_t n);

/* The header row. */
void pmfs_header_render(struct pm_text *out, enum pmfs_form form, const struct pm_table *table);

#endif
