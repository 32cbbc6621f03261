/*
 * ISA-L, wrapped: inflates zlib streams twice as fast as zlib, where it was there when this was
 * built. For inflate.c alone. What ISA-L refuses is left to zlib, which says why.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_INFLATE_ISAL_H
#define PROFMOUNT_FORMATS_COMMON_INFLATE_ISAL_H

#include "formats/common/ahead.h"

struct pm_isal;

/* Of a zlib stream (RFC 1950), which outlives it. NULL where there is no ISA-L, or no memory. */
struct pm_isal *pm_isal_new(struct pm_bytes in);

/* Accepts NULL. Returns NULL. */
struct pm_isal *pm_isal_free(struct pm_isal *s);

/*
 * Inflates up to n bytes, at least one unless the stream ends. False where it cannot: nothing of
 * `out` and `ret` counts then, and it is not asked again.
 */
bool pm_isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_step *ret);

#endif
