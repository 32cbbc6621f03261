/*
 * traces.dat: a header of 16 bytes, then chunks, each a header of 16 bytes and compressed data.
 * See docs/formats/zts.md.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_CHUNKS_H
#define PROFMOUNT_FORMATS_ZTS_CHUNKS_H

#include "formats/common/watch.h"
#include "profmount/error.h"
#include "profmount/limits.h"

/* Compression, with the numbers of the writer's code. */
enum zts_codec {
	ZTS_RAW = 0,
	ZTS_DEFLATE = 1,
	ZTS_LZ4 = 2,
	ZTS_UNKNOWN = 3, /* or more */
};

enum zts_status {
	ZTS_UNCHECKED,
	ZTS_OK,
	ZTS_CUT,      /* the file ends inside it */
	ZTS_CHECKSUM, /* does not match the recorded one */
	ZTS_LENGTH,   /* claims more bytes than its codec can produce, or than the limit */
	ZTS_STREAM,   /* does not decompress to its length */
	ZTS_CODEC,    /* unknown compression */
	ZTS_TANGLED,  /* one of too many overlapping chunks: not read */
};

struct zts_chunk {
	uint64_t offset;
	uint32_t compressed_bytes;
	uint32_t bytes;
	uint32_t checksum;
	uint8_t status; /* enum zts_status, known when its payload was read; see zts_chunk_read */
};

/* Bytes between chunks that do not belong to any. */
struct zts_gap {
	uint64_t offset, bytes;
};

struct zts_chunks {
	struct pm_bytes file;
	struct pm_watch *watch; /* NULL: the bytes stay as they are */
	bool has_header;
	uint32_t flags; /* as stored */
	bool settled;   /* a chunk was decompressed with `codec` */
	enum zts_codec codec;
	struct zts_chunk *chunks; /* by offset */
	uint32_t n;
	struct zts_gap *gaps; /* by offset */
	size_t n_gaps;
	size_t room, gap_room;
	uint64_t effort; /* bytes that the walk may still decompress to verify chunks */
};

/* Whether the file begins like a traces.dat. Reads 16 bytes. */
bool zts_has_header(struct pm_bytes file);

/*
 * Walks from header to header. Payloads are read only if the next header is not at the expected
 * place, and to determine the codec. Fails only if out of memory.
 */
int zts_chunks_walk(struct zts_chunks *c, struct pm_bytes file, struct pm_error *err);

/*
 * Checks and decompresses chunk i into a block of `bytes` bytes, to be freed by the caller. Returns
 * 0, -EINVAL with the reason in *ret_status, or -ENOMEM.
 */
int zts_chunk_read(
	const struct zts_chunks *c, uint32_t i, uint8_t **ret, enum zts_status *ret_status);

/* Bytes of memory that zts_chunk_read needs for it at most; 0 if its length cannot be true. */
uint64_t zts_chunk_takes(const struct zts_chunks *c, uint32_t i);

/* The chunk at this offset, or PM_NONE (UINT32_MAX). O(log n). */
uint32_t zts_chunk_find(const struct zts_chunks *c, uint64_t offset);

/* True if the offset is in bytes that belong to no chunk. O(log n). */
bool zts_is_gap(const struct zts_chunks *c, uint64_t offset);

/* The end of the bytes affected by damage of chunk i. */
uint64_t zts_chunk_end(const struct zts_chunks *c, uint32_t i);

/* True where the file's flags say that chunks have checksums. */
bool zts_has_checksums(const struct zts_chunks *c);

/* A short text for people; `ok` for a valid chunk. */
const char *zts_status_text(enum zts_status status);
const char *zts_codec_text(enum zts_codec codec);

void zts_chunks_done(struct zts_chunks *c);

#endif
