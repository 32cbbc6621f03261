/*
 * Fixtures from first principles: nothing here shares code with the readers but checksums and the
 * text builder. Compression is the plainest that is valid: stored deflate blocks that never finish,
 * as real writers leave them, and LZ4 blocks of literals.
 */
#include "tests/zts/writer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/inflate.h"

static void put_be(struct pm_text *out, uint64_t value, unsigned bytes)
{
	while (bytes-- > 0)
		pm_text_char(out, (char)(value >> (8 * bytes)));
}

static void put_le(struct pm_text *out, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		pm_text_char(out, (char)(value >> (8 * i)));
}

/* ---- CBOR ---- */

void zts_put_head(struct pm_text *out, unsigned major, uint64_t value)
{
	unsigned low = value < 24 ? (unsigned)value
		: value <= 0xff   ? 24
		: value <= 0xffff ? 25
				  : (value <= 0xffffffff ? 26 : 27);
	pm_text_char(out, (char)(major << 5 | low));
	if (low >= 24)
		put_be(out, value, 1u << (low - 24));
}

void zts_put_break(struct pm_text *out)
{
	pm_text_char(out, (char)0xff);
}

void zts_put_info(struct pm_text *out, uint64_t key, uint64_t value)
{
	zts_put_head(out, 6, 0x0e);
	zts_put_head(out, 5, 1);
	zts_put_head(out, 0, key);
	zts_put_head(out, 0, value);
}

void zts_put_begin(struct pm_text *out, uint64_t tstart, uint64_t method)
{
	zts_put_head(out, 6, 0x08);
	pm_text_char(out, (char)0x9f);
	zts_put_info(out, 0x0c, tstart);
	zts_put_info(out, 0x0e, method);
}

void zts_put_end(struct pm_text *out, uint64_t tstop, uint64_t calls)
{
	zts_put_info(out, 0x0d, tstop);
	zts_put_info(out, 0x09, calls);
	zts_put_break(out);
}

void zts_put_attr(struct pm_text *out, uint64_t key, uint64_t value)
{
	zts_put_head(out, 6, 0x09);
	zts_put_head(out, 5, 1);
	zts_put_head(out, 6, 0x06);
	zts_put_head(out, 0, key);
	zts_put_head(out, 6, 0x06);
	zts_put_head(out, 0, value);
}

void zts_put_exception(struct pm_text *out, uint64_t id)
{
	zts_put_head(out, 6, 0x23);
	zts_put_head(out, 0, id);
}

/* ---- traces.dat ---- */

void zts_put_file_header(struct pm_text *out, uint32_t flags)
{
	pm_text_str(out, "ZTS0");
	put_be(out, flags, 4);
	put_be(out, 0, 8);
}

static void put_stored(struct pm_text *out, struct pm_bytes b)
{
	for (size_t at = 0; at < b.len;) {
		size_t n = b.len - at < 0xffff ? b.len - at : 0xffff;
		pm_text_char(out, 0); /* stored, and never the last block */
		put_le(out, n, 2);
		put_le(out, ~n, 2);
		pm_text_add(out, b.p + at, n);
		at += n;
	}
	pm_text_add(out, "\0\0\0\xff\xff", 5);
}

static void put_literals(struct pm_text *out, struct pm_bytes b)
{
	size_t left = b.len;
	pm_text_char(out, (char)((left < 15 ? left : 15) << 4));
	if (left >= 15) {
		for (left -= 15; left >= 255; left -= 255)
			pm_text_char(out, (char)0xff);
		pm_text_char(out, (char)left);
	}
	pm_text_bytes(out, b);
}

size_t zts_put_chunk(struct pm_text *out, uint32_t flags, struct pm_bytes payload)
{
	struct pm_text data = {0};
	size_t offset = out->len;
	switch (flags & 15) {
	case 1: put_stored(&data, payload); break;
	case 2: put_literals(&data, payload); break;
	default: pm_text_bytes(&data, payload);
	}
	pm_text_str(out, "ZCH0");
	put_be(out, data.len, 4);
	put_be(out, payload.len, 4);
	put_be(out, flags & 0x10 ? pm_crc32(0, pm_text_view(&data)) : 0, 4);
	pm_text_bytes(out, pm_text_view(&data));
	pm_text_done(&data);
	return offset;
}

/* ---- text index ---- */

static void put_number(struct pm_text *out, uint64_t value)
{
	if (value >= 64)
		put_number(out, value / 64);
	pm_text_char(out, (char)(0x30 + value % 64));
}

static void put_entry(struct pm_text *out, const struct zts_entry *e)
{
	put_number(out, e->id);
	pm_text_char(out, 1);
	pm_text_str(out, e->text);
	pm_text_char(out, 2);
	put_number(out, e->id);
	pm_text_char(out, 3);
}

void zts_put_wal(struct pm_text *out, const struct zts_entry *entries, size_t n)
{
	pm_text_str(out, "WAL\3");
	for (size_t i = 0; i < n; i++)
		put_entry(out, &entries[i]);
	for (size_t i = 0; i < 64; i++)
		pm_text_char(out, 0);
}

static int by_rotation(const void *a, const void *b, void *context)
{
	const struct pm_text *t = context;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	for (size_t n = 0; n < t->len; n++) {
		uint8_t x = (uint8_t)t->p[(i + n) % t->len], y = (uint8_t)t->p[(k + n) % t->len];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* The last column of the sorted rotations of `text`; the caller's. */
static uint8_t *transform(struct pm_text *text)
{
	size_t *rows = malloc(text->len * sizeof(*rows));
	uint8_t *column = malloc(text->len);
	for (size_t i = 0; i < text->len; i++)
		rows[i] = i;
	qsort_r(rows, text->len, sizeof(*rows), by_rotation, text);
	for (size_t i = 0; i < text->len; i++)
		column[i] = (uint8_t)text->p[(rows[i] + text->len - 1) % text->len];
	free(rows);
	return column;
}

/* Blocks of at most this many bytes: of one repeated byte, plain, and LZ4 with a rank table. */
enum { FM_BLOCK = 32, FM_HEADER = 0x20 + 1024, FM_DESCRIPTION = 14 };

static bool is_run(const uint8_t *p, size_t n)
{
	return n > 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Block i: its description, then its data. */
static void put_fm_block(
	struct pm_text *table, struct pm_text *data, size_t base, size_t i, struct pm_bytes block)
{
	bool run = is_run(block.p, block.len), packed = !run && i % 2 == 1;
	put_le(table, base + data->len, 4);
	put_le(table, i * FM_BLOCK, 4);
	put_le(table, 0, 4);
	pm_text_char(table, run ? (char)block.p[0] : (char)packed);
	pm_text_char(table, run ? 0 : packed ? 3 : 1);
	if (packed) {
		put_le(data, 0, 7); /* one rank */
		put_literals(data, block);
	} else if (!run) {
		pm_text_bytes(data, block);
	}
}

void zts_put_fm(struct pm_text *out, const struct zts_entry *entries, size_t n)
{
	struct pm_text text = {0}, data = {0}, table = {0};
	uint32_t counts[256] = {0};
	pm_text_char(&text, 3);
	for (size_t i = n; i-- > 0;)
		put_entry(&text, &entries[i]);
	pm_text_char(&text, 0);
	uint8_t *column = transform(&text);
	size_t n_blocks = (text.len + FM_BLOCK - 1) / FM_BLOCK;
	size_t base = FM_HEADER + n_blocks * FM_DESCRIPTION;
	for (size_t i = 0; i < n_blocks; i++) {
		size_t at = i * FM_BLOCK, len = text.len - at < FM_BLOCK ? text.len - at : FM_BLOCK;
		put_fm_block(&table, &data, base, i, (struct pm_bytes){column + at, len});
	}
	for (size_t i = 0; i < text.len; i++)
		counts[column[i]]++;
	pm_text_str(out, "0MFZ");
	put_le(out, n_blocks, 4);
	put_le(out, text.len, 4);
	put_le(out, n, 4);
	put_le(out, entries[0].id, 8);
	put_le(out, 0, 8);
	for (unsigned v = 0; v < 256; v++)
		put_le(out, counts[v], 4);
	pm_text_bytes(out, pm_text_view(&table));
	pm_text_bytes(out, pm_text_view(&data));
	free(column);
	pm_text_done(&text);
	pm_text_done(&data);
	pm_text_done(&table);
}

/* ---- metadata ---- */

void zts_put_meta(struct pm_text *out, const struct zts_record *r)
{
	const uint64_t fields[] = {r->trace_id[0], r->trace_id[1], r->parent_id, r->span_id, 0,
		r->flags, r->timestamp_ns, r->duration_ns, r->data_offset, r->start_offset, 0, 1,
		r->calls, r->errors, r->records, r->tstart, r->tstop};
	pm_text_str(out, "m?"); /* whatever stands before it in a page */
	zts_put_head(out, 6, 0x41);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		bool negative = fields[i] >> 63;
		zts_put_head(out, negative, negative ? ~fields[i] : fields[i]);
	}
	zts_put_head(out, 5, 1);
	zts_put_head(out, 0, r->method_key);
	zts_put_head(out, 0, r->method);
	zts_put_head(out, 5, 0);
}

void zts_put_qmeta(struct pm_text *out, const struct zts_record *records, size_t n)
{
	pm_text_str(out, "MQI0");
	put_be(out, 64 + 96 * n, 4);
	for (int i = 0; i < 7; i++)
		put_be(out, 0, 8);
	for (size_t i = 0; i < n; i++) {
		const struct zts_record *r = &records[i];
		put_be(out, r->start_offset << 32 | r->timestamp_ns / 1000000000, 8);
		put_be(out, 3ull << 48 | 4ull << 32 | 449 << 16 | r->errors << 8 | r->flags, 8);
		put_be(out, r->data_offset, 8);
		put_be(out, 2ull << 48 | (r->duration_ns / 1000000000) << 32 | r->method, 8);
		put_be(out, 0, 8);
		put_be(out, r->records << 40 | r->calls, 8);
		put_be(out, r->trace_id[0], 8);
		put_be(out, r->trace_id[1], 8);
		for (int k = 0; k < 4; k++)
			put_be(out, 0, 8);
	}
}

/* ---- a whole store ---- */

static const struct zts_entry sample_texts[] = {
	{1, "\5com.shop.Cart\5"},
	{2, "\6add\6"},
	{3, "\10([Ljava/lang/String;I)Lcom/shop/Item;\10"},
	{4, "\0131\0132\0133\013"}, /* Item com.shop.Cart.add(String[], int) */
	{5, "component"},
	{6, "http"},
	{7, "\5java.lang.IllegalStateException\5"},
	{8, "cart is full"},
	{9, "Cart.java"},
	{10, "\0161\0162\0169\0161:\016"}, /* line 74 */
	{11, "\r:\r:\r"},
	{12, "\f7\f8\f;\f=\f"},
	{13, "\f7\f0\f;\f0\f"},
	{14, "call.method"},
	{15, "\0131\0160\0130\013"}, /* no such shape: a plain string */
	{16, "\0131\0132\0130\013"}, /* void com.shop.Cart.add() */
	{17, "\0115\11x=1\11"},
	{18, "\n5\n6\n"},
};

#define N_TEXTS (sizeof(sample_texts) / sizeof(sample_texts[0]))
#define T0_MS   1558000000000ull

static size_t put_simple(struct zts_sample *s, uint32_t flags, bool old)
{
	struct pm_text p = {0};
	zts_put_begin(&p, 100, 4);
	zts_put_info(&p, 0x05, T0_MS);
	zts_put_info(&p, old ? 0x07 : 0x12, 0x11);
	zts_put_attr(&p, 5, 6);
	zts_put_begin(&p, 110, 16);
	zts_put_exception(&p, 12);
	zts_put_info(&p, 0x0b, 8);
	zts_put_end(&p, 150, 1);
	zts_put_end(&p, 200, 2);
	size_t offset = zts_put_chunk(&s->traces, flags, pm_text_view(&p));
	pm_text_done(&p);
	return offset;
}

static void put_parts(struct zts_sample *s, uint32_t flags, bool old)
{
	struct pm_text p = {0};
	zts_put_begin(&p, 1000, 4);
	zts_put_info(&p, 0x05, T0_MS + 5);
	zts_put_info(&p, old ? 0x07 : 0x12, 0x22);
	zts_put_begin(&p, 1010, 16);
	s->offsets[1] = zts_put_chunk(&s->traces, flags, pm_text_view(&p));
	pm_text_clear(&p);
	zts_put_end(&p, 1020, 1);
	zts_put_end(&p, 1100, 2);
	s->offsets[2] = zts_put_chunk(&s->traces, flags, pm_text_view(&p));
	pm_text_done(&p);
}

/* Returns where the inner span begins. */
static size_t put_nested(struct zts_sample *s, uint32_t flags, bool old)
{
	struct pm_text p = {0};
	zts_put_begin(&p, 2000, 4);
	zts_put_info(&p, 0x05, T0_MS + 10);
	zts_put_info(&p, old ? 0x07 : 0x12, 0x33);
	size_t inner = p.len;
	zts_put_begin(&p, 2010, 16);
	zts_put_info(&p, 0x05, T0_MS + 11);
	zts_put_info(&p, old ? 0x07 : 0x12, 0x34);
	zts_put_end(&p, 2020, 1);
	zts_put_end(&p, 2100, 2);
	s->offsets[4] = zts_put_chunk(&s->traces, flags, pm_text_view(&p));
	pm_text_done(&p);
	return inner;
}

void zts_sample_make(struct zts_sample *s, uint32_t flags, bool fm, enum zts_index index)
{
	bool old = index == ZTS_INDEX_OLD;
	*s = (struct zts_sample){.fm = fm, .index = index};
	zts_put_file_header(&s->traces, flags);
	s->offsets[0] = put_simple(s, flags, old);
	put_parts(s, flags, old);
	s->offsets[3] = zts_put_chunk(&s->traces, flags, (struct pm_bytes){NULL, 0});
	size_t inner = put_nested(s, flags, old);
	uint64_t ns = T0_MS * 1000000;
	const struct zts_record records[] = {
		{{1, 0xaa}, 0x11, 0, 0x68, ns, 100 << 16, s->offsets[0], 0, 2, 1, 2, 100, 200, 14,
			4},
		{{1, 0xbb}, 0x22, 0, 0x30, ns + 5000000, 0, s->offsets[1], 0, 1, 0, 2, 1000, 0, 14,
			4},
		{{1, 0xbb}, 0x22, 0, 0x50, ns + 5000001, 100 << 16, s->offsets[2], 0, 2, 0, 2, 1000,
			1100, 14, 4},
		{{1ull << 63, 0xcc}, 0x33, 0, 0x60, ns + 10000000, 100 << 16, s->offsets[4], 0, 2,
			0, 2, 2000, 2100, 14, 4},
		{{1ull << 63, 0xcc}, 0x34, 0x33, 0x60, ns + 11000000, 10 << 16, s->offsets[4],
			inner, 1, 0, 1, 2010, 2020, 14, 16},
	};
	if (fm)
		zts_put_fm(&s->texts, sample_texts, N_TEXTS);
	else
		zts_put_wal(&s->texts, sample_texts, N_TEXTS);
	if (old)
		zts_put_qmeta(&s->meta, records, 4);
	for (size_t copy = 0; index == ZTS_INDEX_NEW && copy < 2; copy++)
		for (size_t i = 0; i < 5; i++)
			zts_put_meta(&s->meta, &records[i]);
}

const char *zts_sample_text_name(const struct zts_sample *s)
{
	return s->fm ? "text-00000001-00000012.fmi" : "text-00000001.wal";
}

const char *zts_sample_meta_name(const struct zts_sample *s)
{
	switch (s->index) {
	case ZTS_INDEX_OLD: return "qmeta.idx";
	case ZTS_INDEX_NEW: return "meta.db.p";
	case ZTS_INDEX_NONE: break;
	}
	return NULL;
}

bool zts_write_file(const char *folder, const char *name, struct pm_bytes b)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	bool good = f && (b.len == 0 || fwrite(b.p, b.len, 1, f) == 1);
	return f && fclose(f) == 0 && good;
}

bool zts_sample_write(const struct zts_sample *s, const char *path)
{
	const char *meta = zts_sample_meta_name(s);
	return mkdir(path, 0700) == 0 &&
		zts_write_file(path, "traces.dat", pm_text_view(&s->traces)) &&
		zts_write_file(path, zts_sample_text_name(s), pm_text_view(&s->texts)) &&
		(!meta || zts_write_file(path, meta, pm_text_view(&s->meta)));
}

void zts_sample_done(struct zts_sample *s)
{
	pm_text_done(&s->traces);
	pm_text_done(&s->texts);
	pm_text_done(&s->meta);
}

void zts_remove_folder(const char *path)
{
	char file[4096];
	struct dirent *entry;
	DIR *folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		unlink(file);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}
