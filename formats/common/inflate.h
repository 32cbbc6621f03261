/*
 * Everything that zlib, libdeflate, ISA-L and liblz4 do for us: a pull stream over deflated bytes,
 * inflating a block of known size, checksums, and gzip for exports. Only inflate.c knows them.
 * Streams of zstd are unzstd.c's.
 *
 * The stream: request a window of at least n bytes, use some of them, and consume what was used.
 *
 *	struct pm_bytes w = pm_inflate_peek(s, HEADER_SIZE);
 *	if (w.len < HEADER_SIZE)
 *		… the data ends here; pm_inflate_status says whether it should have
 *	pm_inflate_consume(s, HEADER_SIZE);
 *
 * Memory is bounded by the largest requested `min`, never by what the input claims. The data before
 * a damaged place remain readable. A long stream is inflated ahead by a thread that ends with the
 * stream; the results do not depend on it.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_INFLATE_H
#define PROFMOUNT_FORMATS_COMMON_INFLATE_H

#include "formats/common/text.h"
#include "profmount/bytes.h"
#include "profmount/error.h"

enum pm_inflate_kind {
	PM_INFLATE_RAW,    /* RFC 1951, no header, no checksum */
	PM_INFLATE_ZLIB,   /* RFC 1950 */
	PM_INFLATE_GZIP,   /* RFC 1952, one member or several */
	PM_INFLATE_ZSTD,   /* RFC 8878, one frame or several; broken without libzstd */
	PM_INFLATE_STORED, /* not compressed: the window is all that is left of the input */
};

enum pm_inflate_state {
	PM_INFLATE_MORE,   /* the end has not been reached */
	PM_INFLATE_ENDED,  /* the stream ended as it should; there may be input after it */
	PM_INFLATE_BROKEN, /* cut or damaged; `why` says which */
	PM_INFLATE_FAILED, /* out of memory: what follows is unknown */
};

struct pm_inflate_status {
	enum pm_inflate_state state;
	uint64_t in;  /* input bytes used: where a broken stream broke, where an ended one ended */
	uint64_t out; /* bytes consumed by the reader: the position of the window */
	const char *why; /* why the stream is broken, for messages; static text */
};

struct pm_inflate;

/* By its first bytes, what a source is as a whole: gzip, zstd, or stored. */
enum pm_inflate_kind pm_inflate_kind_of(struct pm_bytes head);

/* Reads `in`, which outlives the stream. NULL if out of memory. Inflates nothing yet. */
struct pm_inflate *pm_inflate_new(enum pm_inflate_kind kind, struct pm_bytes in);

/* Accepts NULL. Returns NULL. */
struct pm_inflate *pm_inflate_free(struct pm_inflate *s);

/*
 * The next bytes: at least `min`, usually far more; fewer only if the stream ended or broke, or if
 * `min` is above PM_LIMIT_WINDOW. Valid until the next peek; O(1) while the window is long enough.
 */
struct pm_bytes pm_inflate_peek(struct pm_inflate *s, size_t min);

/* Moves on by n bytes of the last window. */
void pm_inflate_consume(struct pm_inflate *s, size_t n);

struct pm_inflate_status pm_inflate_status(const struct pm_inflate *s);

/*
 * Inflates the first n bytes of a raw stream into `out`. Further output is ignored, and the stream
 * may be incomplete. -EINVAL if it gives fewer bytes or is damaged before; the offset in `err` is
 * that in `in`.
 */
int pm_inflate_block(struct pm_bytes in, uint8_t *out, size_t n, struct pm_error *err);

/* CRC-32 (of gzip, PNG …) of what `crc` covers and b after it; begin with 0. */
uint32_t pm_crc32(uint32_t crc, struct pm_bytes b);

/* Appends `in` as one gzip member; equal input gives equal bytes. Failure shows in `out`. */
void pm_gzip(struct pm_text *out, struct pm_bytes in);

/* ---- LZ4: one raw block, without frame or size prefix ---- */

/* Maximum number of decompressed bytes per byte of a block. */
#define PM_UNLZ4_RATIO 255

/*
 * Decompresses the block `in` to exactly `size` bytes at `out`; false if it is not such a block.
 * Never writes beyond `size`.
 */
bool pm_unlz4(struct pm_bytes in, uint8_t *out, size_t size);

#endif
