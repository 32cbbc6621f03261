/* LZ4: one raw block, without frame or size prefix. */
#ifndef PROFMOUNT_FORMATS_COMMON_UNLZ4_H
#define PROFMOUNT_FORMATS_COMMON_UNLZ4_H

#include "profmount/bytes.h"

/* Maximum number of decompressed bytes per byte of a block. */
#define PM_UNLZ4_RATIO 255

/*
 * Decompresses the block `in` to exactly `size` bytes at `out`; false if it is not such a block.
 * Never writes beyond `size`.
 */
bool pm_unlz4(struct pm_bytes in, uint8_t *out, size_t size);

#endif
