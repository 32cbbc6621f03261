/*
 * How libFuzzer changes inputs that are compressed inside: a payload is unpacked, changed and
 * packed again, with the lengths and checksums that are right for it; else a change of one byte
 * ends in the decompressor. Payloads: chunks of a trace store, and records of NYTProf; in a folder
 * of fuzz_seam.c those of one of its files. Other inputs are changed as ever.
 */
#include <stdlib.h>
#include <zlib.h>

#include "formats/zts/chunks.h"
#include "tests/fuzz/shape.h"
#include "tests/zts/writer.h"

enum {
	MOST_PAYLOAD = 4 << 20, /* unpacked; larger ones are changed as they lie there */
	FILE_HEAD = 5,          /* of a file in a folder: its number, its length */
};

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* Appends the payload, changed; how, `find` and chance say. */
static void change(struct pm_bytes payload, void (*find)(struct shape *, struct pm_bytes),
	uint64_t *random, struct pm_text *out)
{
	static struct shape shape;
	if (shape_random(random) % 3 == 0) {
		size_t room = payload.len + 4096;
		char *p = pm_text_reserve(out, room);
		if (!p)
			return;
		if (payload.len)
			memcpy(p, payload.p, payload.len);
		out->len += LLVMFuzzerMutate((uint8_t *)p, payload.len, room);
		return;
	}
	find(&shape, payload);
	shape_change(&shape, random, out);
}

/* ---- trace stores ---- */

static bool change_store(struct pm_bytes file, uint64_t *random, struct pm_text *out)
{
	struct zts_chunks c = {.n = 0};
	enum zts_status status;
	uint8_t *payload = NULL;
	if (!zts_has_header(file) || zts_chunks_walk(&c, file, NULL) < 0)
		return false;
	uint32_t i = c.n ? (uint32_t)(shape_random(random) % c.n) : 0;
	bool good = c.n > 0 && c.chunks[i].bytes <= MOST_PAYLOAD &&
		zts_chunk_read(&c, i, &payload, &status) == 0;
	if (good) {
		struct pm_text changed = {.p = NULL};
		uint64_t end = zts_chunk_end(&c, i);
		uint32_t codec = c.codec == ZTS_UNKNOWN ? ZTS_RAW : c.codec;
		change((struct pm_bytes){payload, c.chunks[i].bytes}, shape_cbor, random, &changed);
		pm_text_add(out, file.p, c.chunks[i].offset);
		zts_put_chunk(out, (c.flags & 0x10) | codec, pm_text_view(&changed));
		pm_text_add(out, file.p + end, file.len - end);
		pm_text_done(&changed);
	}
	free(payload);
	zts_chunks_done(&c);
	return good;
}

/* ---- NYTProf ---- */

static struct pm_text inflated(struct pm_bytes b)
{
	struct pm_text out = {.limit = MOST_PAYLOAD + 1};
	z_stream z = {.next_in = (Bytef *)(uintptr_t)b.p, .avail_in = (uInt)b.len};
	int r = inflateInit(&z);
	while (r == Z_OK) {
		enum { STEP = 64 << 10 };
		z.next_out = (Bytef *)pm_text_reserve(&out, STEP);
		if (!z.next_out)
			break;
		z.avail_out = STEP;
		r = inflate(&z, Z_NO_FLUSH);
		out.len += STEP - z.avail_out;
	}
	inflateEnd(&z);
	return out;
}

static void put_deflated(struct pm_text *out, struct pm_bytes b)
{
	uLongf len = compressBound(b.len);
	char *p = pm_text_reserve(out, len);
	if (p && compress2((Bytef *)p, &len, b.p, b.len, 1) == Z_OK)
		out->len += len;
}

static bool change_records(struct pm_bytes file, uint64_t *random, struct pm_text *out)
{
	const uint8_t *deflated = memmem(file.p, file.len, "\nz\x78", 3);
	const uint8_t *plain = memmem(file.p, file.len, "\nP", 2);
	const uint8_t *first = deflated ? deflated : plain;
	if (file.len < 7 || memcmp(file.p, "NYTProf", 7) != 0 || !first)
		return false;
	size_t kept = (size_t)(first - file.p) + (deflated ? 2 : 1);
	struct pm_bytes rest = {file.p + kept, file.len - kept};
	struct pm_text was = {.p = NULL}, changed = {.p = NULL};
	if (deflated)
		was = inflated(rest);
	bool good = !was.failed;
	if (good)
		change(deflated ? pm_text_view(&was) : rest, shape_records, random, &changed);
	pm_text_add(out, file.p, kept);
	if (deflated)
		put_deflated(out, pm_text_view(&changed));
	else
		pm_text_bytes(out, pm_text_view(&changed));
	pm_text_done(&was);
	pm_text_done(&changed);
	return good;
}

/* ---- folders, see fuzz_seam.c ---- */

static bool change_file(struct pm_bytes file, uint64_t *random, struct pm_text *out)
{
	return change_store(file, random, out) || change_records(file, random, out);
}

static bool change_folder(struct pm_bytes b, uint64_t *random, struct pm_text *out)
{
	static const char magic[] = "profmount folder\n";
	enum { MOST_FILES = 64, MAGIC = sizeof(magic) - 1 };
	size_t at = MAGIC, n = 0, places[MOST_FILES], lengths[MOST_FILES];
	if (b.len < MAGIC || memcmp(b.p, magic, MAGIC) != 0)
		return change_file(b, random, out);
	for (; b.len - at >= FILE_HEAD && n < MOST_FILES; n++) {
		uint32_t len = (uint32_t)b.p[at + 1] | (uint32_t)b.p[at + 2] << 8 |
			(uint32_t)b.p[at + 3] << 16 | (uint32_t)b.p[at + 4] << 24;
		places[n] = at + FILE_HEAD;
		lengths[n] = len < b.len - places[n] ? len : b.len - places[n];
		at = places[n] + lengths[n];
	}
	size_t i = n ? shape_random(random) % n : 0;
	struct pm_text changed = {.p = NULL};
	bool good = n > 0 &&
		change_file((struct pm_bytes){b.p + places[i], lengths[i]}, random, &changed);
	if (good) {
		pm_text_add(out, b.p, places[i] - 4);
		for (unsigned k = 0; k < 4; k++)
			pm_text_char(out, (char)(changed.len >> 8 * k));
		pm_text_bytes(out, pm_text_view(&changed));
		at = places[i] + lengths[i];
		pm_text_add(out, b.p + at, b.len - at);
	}
	pm_text_done(&changed);
	return good;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	uint64_t random = seed;
	struct pm_text out = {.p = NULL};
	bool good = shape_random(&random) % 8 != 0 &&
		change_folder((struct pm_bytes){data, size}, &random, &out) && !out.failed &&
		out.len <= room;
	if (good && out.len)
		memcpy(data, out.p, out.len);
	size_t len = good ? out.len : LLVMFuzzerMutate(data, size, room);
	pm_text_done(&out);
	return len;
}
