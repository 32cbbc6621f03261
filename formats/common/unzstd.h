/*
 * Everything that libzstd does for us: pieces of one stream, decompressed one after the other, or a
 * whole one. Only unzstd.c knows it. Without the library, every stream is broken, and says why.
 */
#ifndef PROFMOUNT_UNZSTD_H
#define PROFMOUNT_UNZSTD_H

#include "formats/common/ahead.h"
#include "formats/common/text.h"

struct pm_unzstd;

/* NULL if out of memory, or without the library; the functions below accept that. */
struct pm_unzstd *pm_unzstd_new(void);

/*
 * Appends what the next bytes of the stream decompress to. The stream need not end. NULL, or why it
 * is broken, a static text; what was appended before stays. Bounded by the limit of `out`. If zstd
 * has no memory, the build of `out`'s arena is left, if there is one (arena.h).
 */
const char *pm_unzstd_add(struct pm_unzstd *z, struct pm_bytes in, struct pm_text *out);

/*
 * Of a stream that is there as a whole, one frame or several: the next bytes that it decompresses
 * to, at most n, as inflate.c takes them. `in` is the same each time.
 */
struct pm_ahead_step pm_unzstd_step(
	struct pm_unzstd *z, struct pm_bytes in, uint8_t *out, size_t n);

void pm_unzstd_free(struct pm_unzstd *z);

#endif
