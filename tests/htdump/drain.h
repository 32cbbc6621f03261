/* Opens a stream in memory, and reads everything in a profile: for sweeps and fuzzing. */
#ifndef PROFMOUNT_TESTS_HTDUMP_DRAIN_H
#define PROFMOUNT_TESTS_HTDUMP_DRAIN_H

#include "profmount/profile.h"

/*
 * Opens a copy of the bytes in a block of exactly their size, so that a sanitizer sees each byte
 * read beyond it. 0 or a negative errno; close with stream_close.
 */
int stream_open(const uint8_t *p, size_t n, struct pm_profile *ret, struct pm_error *err);
void stream_close(struct pm_profile *p);

/* The same with -o values: fields with `,` between them. */
int stream_open_values(const uint8_t *p, size_t n, const char *values, struct pm_profile *ret,
	struct pm_error *err);

/*
 * Reads everything through the seam and checks what must hold whatever the input is. Returns
 * NULL, or what does not hold.
 */
const char *stream_drain(const struct pm_profile *p);

/* The document of that name (raw/events.csv, classes/NAME/events.csv, counters/NAME.csv). */
bool stream_document(const struct pm_profile *p, const char *path, struct pm_doc *ret);

/*
 * Row `row` of a table as text, cells separated by `|`, NUL-terminated in `out`; false where there
 * is none. Floating-point numbers as %g.
 */
bool stream_row(const struct pm_table *table, uint64_t row, char *out, size_t size);

#endif
