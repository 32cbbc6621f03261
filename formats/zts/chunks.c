/*
 * Finds the chunks of traces.dat and returns their payloads. A chunk is valid if its checksum is
 * correct or absent, and its data decompresses to the stored length; further data is ignored. Does
 * not interpret payloads.
 *
 * Compression is numbered as in the writer's code. There are stores whose header follows the
 * written specification, which has deflate and LZ4 the other way round: the first readable chunk
 * decides.
 */
#include "formats/zts/chunks.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/inflate.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "profmount/profile.h"

enum {
	HEADER_SIZE = 0x10,
	MAGIC_SIZE = 4,
	FLAG_COMPRESSION = 0x0f,
	FLAG_CHECKSUM = 0x10,
	CODEC_TRIES = 64, /* chunks tried to determine the codec */
};

static const uint8_t chunk_magic[MAGIC_SIZE] = {'Z', 'C', 'H', '0'};
static const uint8_t file_magic[MAGIC_SIZE] = {'Z', 'T', 'S', '0'};

/*
 * 0x00 magic · 0x04 compressed bytes · 0x08 bytes · 0x0c checksum; big-endian
 */
static void chunk_decode(const uint8_t *d, struct zts_chunk *ret)
{
	ret->compressed_bytes = pm_be32(d + 0x04);
	ret->bytes = pm_be32(d + 0x08);
	ret->checksum = pm_be32(d + 0x0c);
}

static bool has_magic(struct pm_bytes file, uint64_t at)
{
	struct pm_bytes found;
	return pm_bytes_sub(file, at, MAGIC_SIZE, &found) &&
		memcmp(found.p, chunk_magic, MAGIC_SIZE) == 0;
}

/* The next magic at or after `at`, or the end of the file. */
static uint64_t find_magic(struct pm_bytes file, uint64_t at)
{
	struct pm_bytes rest;
	if (at >= file.len || !pm_bytes_sub(file, at, file.len - at, &rest))
		return file.len;
	const uint8_t *found = memmem(rest.p, rest.len, chunk_magic, MAGIC_SIZE);
	return found ? at + (uint64_t)(found - rest.p) : file.len;
}

static struct pm_bytes compressed(const struct zts_chunks *c, const struct zts_chunk *chunk)
{
	struct pm_bytes data;
	pm_bytes_sub(c->file, chunk->offset + HEADER_SIZE, chunk->compressed_bytes, &data);
	return data;
}

/* Compared before any allocation: a greater length cannot be true. */
static uint64_t most_bytes(enum zts_codec codec, uint64_t compressed_bytes)
{
	switch (codec) {
	case ZTS_RAW: return compressed_bytes;
	case ZTS_DEFLATE: return compressed_bytes * 1040 + 64;
	case ZTS_LZ4: return compressed_bytes * PM_UNLZ4_RATIO + 64;
	case ZTS_UNKNOWN: break;
	}
	return 0;
}

/* 0, -EINVAL if the data does not decompress to these bytes, or -ENOMEM. */
static int decompress(enum zts_codec codec, struct pm_bytes in, uint8_t *out, size_t size)
{
	switch (codec) {
	case ZTS_RAW:
		if (in.len != size)
			return -EINVAL;
		memcpy(out, in.p, size);
		return 0;
	case ZTS_DEFLATE: return pm_inflate_block(in, out, size, NULL);
	case ZTS_LZ4: return pm_unlz4(in, out, size) ? 0 : -EINVAL;
	case ZTS_UNKNOWN: break;
	}
	return -EINVAL;
}

bool zts_has_checksums(const struct zts_chunks *c)
{
	return c->flags & FLAG_CHECKSUM;
}

static enum zts_status sound_so_far(const struct zts_chunks *c, const struct zts_chunk *chunk)
{
	struct pm_bytes data = compressed(c, chunk);
	if (chunk->status != ZTS_UNCHECKED && chunk->status != ZTS_OK)
		return chunk->status;
	if (zts_has_checksums(c) && pm_crc32(0, data) != chunk->checksum)
		return ZTS_CHECKSUM;
	if (c->codec == ZTS_UNKNOWN)
		return ZTS_CODEC;
	return ZTS_OK;
}

static bool is_too_long(const struct zts_chunk *chunk, enum zts_codec codec)
{
	return chunk->bytes > most_bytes(codec, chunk->compressed_bytes) ||
		chunk->bytes > PM_LIMIT_PAYLOAD;
}

uint64_t zts_chunk_takes(const struct zts_chunks *c, uint32_t i)
{
	return is_too_long(&c->chunks[i], c->codec) ? 0 : c->chunks[i].bytes;
}

static int read_with(const struct zts_chunks *c, const struct zts_chunk *chunk,
	enum zts_codec codec, uint8_t **ret, enum zts_status *ret_status)
{
	*ret_status = ZTS_LENGTH;
	if (is_too_long(chunk, codec))
		return -EINVAL;
	uint8_t *out = malloc(chunk->bytes ? chunk->bytes : 1);
	if (!out)
		return -ENOMEM;
	int r = decompress(codec, compressed(c, chunk), out, chunk->bytes);
	if (r < 0) {
		free(out);
		*ret_status = ZTS_STREAM;
		return r;
	}
	*ret_status = ZTS_OK;
	*ret = out;
	return 0;
}

int zts_chunk_read(
	const struct zts_chunks *c, uint32_t i, uint8_t **ret, enum zts_status *ret_status)
{
	const struct zts_chunk *chunk = &c->chunks[i];
	struct pm_bytes data = compressed(c, chunk);
	*ret_status = ZTS_UNCHECKED;
	if (!pm_bytes_fetch(data))
		return -ENOMEM;
	if (c->watch && data.len)
		pm_watch_use(c->watch, c->file, chunk->offset + HEADER_SIZE, data.len);
	*ret_status = sound_so_far(c, chunk);
	if (*ret_status != ZTS_OK)
		return -EINVAL;
	return read_with(c, chunk, c->codec, ret, ret_status);
}

static enum zts_codec other_codec(enum zts_codec codec)
{
	return codec == ZTS_DEFLATE ? ZTS_LZ4 : ZTS_DEFLATE;
}

/* Reads a chunk to check whether it is valid, and to determine the codec while it is unknown. */
static int check_chunk(struct zts_chunks *c, struct zts_chunk *chunk)
{
	uint8_t *payload = NULL;
	if (!pm_bytes_fetch(compressed(c, chunk)))
		return -ENOMEM;
	enum zts_status status = sound_so_far(c, chunk);
	int r = status == ZTS_OK ? read_with(c, chunk, c->codec, &payload, &status) : -EINVAL;
	bool telling = chunk->bytes > 0 && c->codec != ZTS_RAW;
	if (status == ZTS_OK && telling)
		c->settled = true;
	if (r == -EINVAL && telling && !c->settled &&
		(status == ZTS_STREAM || status == ZTS_LENGTH)) {
		enum zts_status second;
		r = read_with(c, chunk, other_codec(c->codec), &payload, &second);
		if (r == 0) {
			c->codec = other_codec(c->codec);
			c->settled = true;
			status = ZTS_OK;
		}
	}
	free(payload);
	chunk->status = (uint8_t)status;
	return pm_is_passing(r) ? r : 0;
}

/* Zeros at the end are space that the writer preallocated. */
static bool is_zero(struct pm_bytes b)
{
	return b.len == 0 || (b.p[0] == 0 && memcmp(b.p, b.p + 1, b.len - 1) == 0);
}

static int add_gap(struct zts_chunks *c, uint64_t offset, uint64_t end)
{
	struct pm_bytes lost;
	pm_bytes_sub(c->file, offset, end - offset, &lost);
	if (end == c->file.len && is_zero(lost))
		return 0;
	if (pm_list_room(&c->gaps, c->n_gaps, &c->gap_room, sizeof(*c->gaps)) < 0)
		return -ENOMEM;
	c->gaps[c->n_gaps++] = (struct zts_gap){offset, end - offset};
	return 0;
}

/*
 * The cost of reading the chunk is subtracted from a budget, because hostile headers may overlap.
 */
static bool can_afford(struct zts_chunks *c, const struct zts_chunk *chunk)
{
	uint64_t cost = (uint64_t)chunk->compressed_bytes + chunk->bytes;
	if (cost > c->effort)
		return false;
	c->effort -= cost;
	return true;
}

/* Adds the chunk at `at`; *ret_next is where to continue. */
static int take_chunk(struct zts_chunks *c, uint64_t at, uint64_t *ret_next)
{
	struct pm_bytes header;
	struct zts_chunk chunk = {.offset = at};
	if (!pm_bytes_sub(c->file, at, HEADER_SIZE, &header)) {
		*ret_next = c->file.len;
		return add_gap(c, at, c->file.len);
	}
	chunk_decode(header.p, &chunk);
	uint64_t end = at + HEADER_SIZE + chunk.compressed_bytes;
	*ret_next = end;
	if (end > c->file.len) {
		chunk.status = ZTS_CUT;
	} else if (end < c->file.len && !has_magic(c->file, end)) {
		if (!can_afford(c, &chunk))
			chunk.status = ZTS_TANGLED;
		else if (check_chunk(c, &chunk) < 0)
			return -ENOMEM;
	}
	if (chunk.status != ZTS_UNCHECKED && chunk.status != ZTS_OK)
		*ret_next = find_magic(c->file, at + MAGIC_SIZE);
	if (c->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&c->chunks, c->n, &c->room, sizeof(*c->chunks)) < 0)
		return -ENOMEM;
	c->chunks[c->n++] = chunk;
	return 0;
}

static void read_file_header(struct zts_chunks *c)
{
	struct pm_bytes header;
	c->flags = ZTS_DEFLATE | FLAG_CHECKSUM; /* the number in all real stores */
	if (pm_bytes_sub(c->file, 0, HEADER_SIZE, &header) &&
		memcmp(header.p, file_magic, MAGIC_SIZE) == 0) {
		c->has_header = true;
		c->flags = pm_be32(header.p + 4);
	}
	uint32_t codec = c->flags & FLAG_COMPRESSION;
	c->codec = codec < ZTS_UNKNOWN ? (enum zts_codec)codec : ZTS_UNKNOWN;
}

static int settle_codec(struct zts_chunks *c)
{
	bool open = c->codec == ZTS_DEFLATE || c->codec == ZTS_LZ4;
	for (uint32_t i = 0; open && !c->settled && i < c->n && i < CODEC_TRIES; i++)
		if (c->chunks[i].status == ZTS_UNCHECKED && can_afford(c, &c->chunks[i]) &&
			check_chunk(c, &c->chunks[i]) < 0)
			return -ENOMEM;
	return 0;
}

bool zts_has_header(struct pm_bytes file)
{
	struct zts_chunks c = {.file = file};
	read_file_header(&c);
	return c.has_header;
}

int zts_chunks_walk(struct zts_chunks *c, struct pm_bytes file, struct pm_error *err)
{
	int r = 0;
	*c = (struct zts_chunks){.file = file, .effort = (uint64_t)file.len * 8 + PM_LIMIT_PAYLOAD};
	read_file_header(c);
	uint64_t at = has_magic(file, 0) ? 0 : HEADER_SIZE;
	while (at < file.len && r == 0) {
		pm_work_progress(at, file.len);
		if (has_magic(file, at)) {
			r = pm_work_cancelled() ? PM_CANCELLED : take_chunk(c, at, &at);
			continue;
		}
		uint64_t next = find_magic(file, at + 1);
		r = add_gap(c, at, next);
		at = next;
	}
	if (r == 0)
		r = settle_codec(c);
	if (r < 0)
		return pm_error_set(err, r, "traces.dat", at, "no memory for the list of chunks");
	return 0;
}

uint32_t zts_chunk_find(const struct zts_chunks *c, uint64_t offset)
{
	uint32_t at = PM_LOWER_BOUND(i, 0, c->n, c->chunks[i].offset < offset);
	return at < c->n && c->chunks[at].offset == offset ? at : PM_NONE;
}

/* The index of the first gap that begins after `offset`. */
static size_t gap_after(const struct zts_chunks *c, uint64_t offset)
{
	return PM_LOWER_BOUND(i, 0, c->n_gaps, c->gaps[i].offset <= offset);
}

bool zts_is_gap(const struct zts_chunks *c, uint64_t offset)
{
	size_t next = gap_after(c, offset);
	return next > 0 && offset - c->gaps[next - 1].offset < c->gaps[next - 1].bytes;
}

uint64_t zts_chunk_end(const struct zts_chunks *c, uint32_t i)
{
	uint64_t end = i + 1 < c->n ? c->chunks[i + 1].offset : c->file.len;
	size_t next = gap_after(c, c->chunks[i].offset);
	return next < c->n_gaps && c->gaps[next].offset < end ? c->gaps[next].offset : end;
}

const char *zts_status_text(enum zts_status status)
{
	switch (status) {
	case ZTS_UNCHECKED: return "not read";
	case ZTS_OK: return "ok";
	case ZTS_CUT: return "the file ends inside the chunk";
	case ZTS_CHECKSUM: return "the checksum is wrong";
	case ZTS_LENGTH: return "claims more bytes than its compression can produce";
	case ZTS_STREAM: return "does not decompress to the length it claims";
	case ZTS_CODEC: return "the compression of the file is unknown";
	case ZTS_TANGLED: return "overlaps too many other chunks";
	}
	return "";
}

const char *zts_codec_text(enum zts_codec codec)
{
	switch (codec) {
	case ZTS_RAW: return "none";
	case ZTS_DEFLATE: return "deflate";
	case ZTS_LZ4: return "lz4";
	case ZTS_UNKNOWN: break;
	}
	return "unknown";
}

void zts_chunks_done(struct zts_chunks *c)
{
	free(c->chunks);
	free(c->gaps);
	*c = (struct zts_chunks){.n = 0};
}
