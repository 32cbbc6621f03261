/*
 * Wrapper for libdeflate: two to three times as fast as zlib if the whole stream and its output fit
 * in memory. It requires finished streams, but ours may only be flushed, so an empty final block is
 * appended to a copy of the input; a finished stream never reaches it. If libdeflate fails, zlib
 * decides and gives the reason.
 */
#include <libdeflate.h>
#include <stdlib.h>

#include "formats/common/inflate.h"

/* A final stored block without data. A flushed stream ends on a byte boundary. */
static const uint8_t last_block[] = {0x01, 0x00, 0x00, 0xff, 0xff};

/* Deflate adds at most 5 bytes per 64 KiB; longer input is not handled here. */
static bool is_plausible(size_t in, size_t out)
{
	return in > 0 && in / 2 <= out;
}

static bool inflate_whole(struct pm_bytes in, uint8_t *out, size_t n)
{
	bool done = false;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	uint8_t *copy = malloc(in.len + sizeof(last_block));
	if (d && copy) {
		memcpy(copy, in.p, in.len);
		memcpy(copy + in.len, last_block, sizeof(last_block));
		done = libdeflate_deflate_decompress(d, copy, in.len + sizeof(last_block), out, n,
			       NULL) == LIBDEFLATE_SUCCESS;
	}
	free(copy);
	if (d)
		libdeflate_free_decompressor(d);
	return done;
}

int pm_inflate_block(struct pm_bytes in, uint8_t *out, size_t n, struct pm_error *err)
{
	if (is_plausible(in.len, n) && inflate_whole(in, out, n))
		return 0;
	return pm_inflate_prefix(in, out, n, err);
}

uint32_t pm_crc32(uint32_t crc, struct pm_bytes b)
{
	return b.len ? libdeflate_crc32(crc, b.p, b.len) : crc;
}
