/*
 * Wrapper for ISA-L, which inflates zlib streams twice as fast as zlib, if it was available at
 * build time. Used by inflate.c only. If ISA-L rejects a stream, zlib is used, which also gives the
 * reason.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_INFLATE_ISAL_H
#define PROFMOUNT_FORMATS_COMMON_INFLATE_ISAL_H

#include "formats/common/ahead.h"

struct pm_isal;

/*
 * Opens a zlib stream (RFC 1950), which must outlive it. NULL if there is no ISA-L, or no memory.
 */
struct pm_isal *pm_isal_new(struct pm_bytes in);

/* Accepts NULL. Returns NULL. */
struct pm_isal *pm_isal_free(struct pm_isal *s);

/*
 * Inflates up to n bytes, at least one unless the stream ends. False if it fails: `out` and `ret`
 * are then undefined, and it must not be called again.
 */
bool pm_isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_ahead_step *ret);

#endif
