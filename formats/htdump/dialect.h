/* Which variant of the format a stream is (docs/formats/htdump.md §variants). */
#ifndef PROFMOUNT_HTDUMP_DIALECT_H
#define PROFMOUNT_HTDUMP_DIALECT_H

#include "formats/htdump/klass.h"

struct htd_dialect {
	bool timestamp_first; /* header order and type numbers of the design document */
	bool big;             /* byte order at the beginning */
	struct htd_fixed_ids ids;
};

/*
 * The variant of a stream that begins with these bytes (the first 4096 are enough), and how sure
 * that is: 0 to 100. With 0 `*ret` is the most common variant.
 */
int htd_dialect_detect(struct pm_bytes head, struct htd_dialect *ret);

/* Whether there is a class description with a readable name at `at`. */
bool htd_dialect_klass_info(
	struct pm_bytes bytes, uint64_t at, const struct htd_dialect *d, bool big);

#endif
