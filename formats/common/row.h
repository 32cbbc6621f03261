/*
 * Cells as text: one row of CSV (RFC 4180, LF) or TSV (nothing quoted; tab, CR and LF in text are
 * one space each). Text is shown as UTF-8: invalid bytes and NUL become U+FFFD.
 */
#ifndef PROFMOUNT_ROW_H
#define PROFMOUNT_ROW_H

#include "formats/common/text.h"
#include "profmount/table.h"

/* Appends the row and its line feed. */
void pm_row_render(struct pm_text *out, enum pm_form form, const struct pm_cell *cells, uint32_t n);

/* Bytes that pm_row_render would append; formats nothing. */
uint64_t pm_row_length(enum pm_form form, const struct pm_cell *cells, uint32_t n);

/* Bytes of a text cell. */
uint64_t pm_row_text_length(enum pm_form form, struct pm_bytes text);

/* The header row. */
void pm_row_header(struct pm_text *out, enum pm_form form, const struct pm_table *table);

#endif
