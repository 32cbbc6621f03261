/*
 * data.cbor, data.json and info.txt of a chunk. In these documents `a` is the store and `b` the
 * chunk.
 */
#include "formats/common/text.h"
#include "formats/zts/parts.h"
#include "formats/zts/payload.h"

int zts_render_payload(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct zts_stores *s = &((struct zts_opened *)(uintptr_t)doc->text.self)->stores;
	const struct zts_payload *payload;
	int r = zts_payload_get(s, (uint32_t)doc->text.a, (uint32_t)doc->text.b, &payload, err);
	if (r < 0)
		return r;
	/* Not at once: where the text flows, it is never whole in memory. */
	enum { PIECE = 1 << 20 };
	for (size_t at = 0; at < payload->bytes.len && !out->failed; at += PIECE) {
		size_t left = payload->bytes.len - at;
		pm_text_add(out, payload->bytes.p + at, left < PIECE ? left : PIECE);
	}
	zts_payload_release(s, payload);
	return 0;
}

int zts_render_payload_json(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct zts_stores *s = &((struct zts_opened *)(uintptr_t)doc->text.self)->stores;
	const struct zts_payload *payload;
	int r = zts_payload_get(s, (uint32_t)doc->text.a, (uint32_t)doc->text.b, &payload, err);
	if (r < 0)
		return r;
	r = zts_payload_write(payload->bytes, out, err);
	zts_payload_release(s, payload);
	return r == -EINVAL ? -EIO : r;
}

int zts_render_chunk_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	const struct zts_store *store = &z->stores.items[doc->text.a];
	const struct zts_chunks *chunks = &store->chunks;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	const struct zts_chunk *chunk = &chunks->chunks[doc->text.b];
	pm_text_printf(out, "store: %s\n", store->number);
	pm_text_printf(out, "chunk: %llu\n", (unsigned long long)doc->text.b);
	pm_text_printf(out, "offset: %llu\n", (unsigned long long)chunk->offset);
	pm_text_printf(out, "compressed_bytes: %u\n", chunk->compressed_bytes);
	pm_text_printf(out, "bytes: %u\n", chunk->bytes);
	pm_text_printf(out, "checksum: %08x\n", chunk->checksum);
	pm_text_printf(out, "checksums recorded: %s\n", zts_has_checksums(chunks) ? "yes" : "no");
	pm_text_printf(out, "flags: %08x\n", chunks->flags);
	pm_text_printf(out, "compression: %s\n", zts_codec_text(chunks->codec));
	pm_text_printf(
		out, "status: %s\n", zts_status_text(v->scans[doc->text.a].status[doc->text.b]));
	return 0;
}
