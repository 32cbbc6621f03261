/* The text index of a store, from its WAL files and FM files. Does not interpret entries. */
#include "formats/zts/texts.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/inflate.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "profmount/bytes.h"
#include "profmount/error.h"
#include "profmount/limits.h"

/*
 * ==== FM files: stored as their Burrows-Wheeler transform ====
 * Reads an FM file as a whole: the blocks give the last column L of the sorted rotations, and
 * following it gives the text. The rank tables, which are made for searching in the file, are not
 * needed.
 *
 * The text ends with 00, its smallest byte, so row 0 is the rotation that begins with that byte and
 * continues with the beginning of the text: the walk starts there, and the stored number of the
 * starting row is not needed. A text is complete if L has the recorded number of each byte and the
 * walk returns after exactly all of L; the checksums of the file add nothing to that.
 */

struct fm {
	uint8_t *data; /* the text, the caller's to free() */
	size_t len;
};

enum {
	HEADER_SIZE = 0x20,
	COUNTS_SIZE = 256 * 4,
	BLOCKS_AT = HEADER_SIZE + COUNTS_SIZE,
	BLOCK_SIZE = 14,
	BLOCK_HAS_DATA = 1,
	BLOCK_LZ4 = 2,
	RANK_SIZE = 7,   /* of one byte value in a block's rank table */
	SMALL = 1 << 16, /* a text of this size is accepted for any file */
};

struct header {
	uint32_t n_blocks;
	uint32_t length;
};

struct block {
	uint64_t data_off;
	uint64_t text_off;
	uint8_t n_ranks; /* of a block without data: the byte that it repeats */
	uint8_t flags;
};

/* 0x00 magic · 0x04 blocks · 0x08 length · 0x0c entries · 0x10 first id · 0x18 checksum · 0x1c row
 */
static void header_decode(const uint8_t *d, struct header *ret)
{
	ret->n_blocks = pm_le32(d + 0x04);
	ret->length = pm_le32(d + 0x08);
}

/* 0x00 data · 0x04 place in the text · 0x08 checksum · 0x0c ranks · 0x0d flags */
static void block_decode(const uint8_t *d, struct block *ret)
{
	ret->data_off = pm_le32(d + 0x00);
	ret->text_off = pm_le32(d + 0x04);
	ret->n_ranks = d[0x0c];
	ret->flags = d[0x0d];
}

/* A text is decoded if its file is large enough for it, and has the counts of such a text. */
static int check_length(struct pm_bytes file, const struct header *h, struct pm_error *err)
{
	uint64_t most = SMALL + (uint64_t)file.len * PM_LIMIT_TEXT_INDEX_RATIO, sum = 0;
	if (most > PM_LIMIT_TEXT_INDEX)
		most = PM_LIMIT_TEXT_INDEX;
	for (unsigned v = 0; v < 256; v++)
		sum += pm_le32(file.p + HEADER_SIZE + v * 4);
	if (sum != h->length)
		return pm_error_set(
			err, -EINVAL, NULL, HEADER_SIZE, "the byte counts do not match the blocks");
	if (h->length > most)
		return pm_error_set(err, -EINVAL, NULL, 0x08,
			"claims a text of %u bytes, more than the limit of %llu for this file",
			h->length, (unsigned long long)most);
	return 0;
}

/* The position of block i, and that of the next one. */
static void block_get(struct pm_bytes table, const struct header *h, uint64_t file_len, uint32_t i,
	struct block *ret, struct block *ret_next)
{
	block_decode(pm_bytes_row(table, i, BLOCK_SIZE), ret);
	if (i + 1 < h->n_blocks)
		block_decode(pm_bytes_row(table, i + 1, BLOCK_SIZE), ret_next);
	else
		*ret_next = (struct block){.data_off = file_len, .text_off = h->length};
}

static bool read_block(struct pm_bytes file, const struct block *b, const struct block *next,
	uint8_t *out, size_t size)
{
	struct pm_bytes data;
	if (!(b->flags & BLOCK_HAS_DATA)) {
		memset(out, b->n_ranks, size);
		return true;
	}
	uint64_t skipped = (uint64_t)b->n_ranks * RANK_SIZE;
	if (next->data_off < b->data_off || next->data_off - b->data_off < skipped ||
		!pm_bytes_sub(
			file, b->data_off + skipped, next->data_off - b->data_off - skipped, &data))
		return false;
	if (b->flags & BLOCK_LZ4)
		return pm_unlz4(data, out, size);
	if (data.len != size)
		return false;
	memcpy(out, data.p, size);
	return true;
}

static int read_column(
	struct pm_bytes file, const struct header *h, uint8_t *out, struct pm_error *err)
{
	struct pm_bytes table;
	struct block b, next;
	uint64_t at = 0;
	if (!pm_bytes_table(file, BLOCKS_AT, h->n_blocks, BLOCK_SIZE, BLOCK_SIZE, &table))
		return pm_error_set(err, -EINVAL, NULL, 0x04, "%u blocks do not fit into the file",
			h->n_blocks);
	for (uint32_t i = 0; i < h->n_blocks; i++, at = next.text_off) {
		block_get(table, h, file.len, i, &b, &next);
		if (b.text_off != at || next.text_off < at || next.text_off > h->length ||
			!read_block(file, &b, &next, out + at, (size_t)(next.text_off - at)))
			return pm_error_set(err, -EINVAL, NULL,
				BLOCKS_AT + (uint64_t)i * BLOCK_SIZE, "block %u cannot be read", i);
	}
	if (at != h->length)
		return pm_error_set(err, -EINVAL, NULL, 0x08, "the blocks contain %llu of %u bytes",
			(unsigned long long)at, h->length);
	return 0;
}

/* Counts the bytes of L; false if the file's own table differs. */
static bool count_bytes(struct pm_bytes file, const uint8_t *column, uint32_t n, uint32_t *counts)
{
	memset(counts, 0, 256 * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++)
		counts[column[i]]++;
	for (unsigned v = 0; v < 256; v++)
		if (counts[v] != pm_le32(file.p + HEADER_SIZE + v * 4))
			return false;
	return true;
}

/*
 * Fills `next` (row → the row of the following byte) and sorts L, which gives the byte of each row.
 * False if L is not such a column: the walk returns too early.
 */
static bool walk_column(uint8_t *column, uint32_t n, const uint32_t *counts, uint32_t *next)
{
	uint32_t place[256], sum = 0;
	for (unsigned v = 0; v < 256; v++) {
		place[v] = sum;
		sum += counts[v];
	}
	for (uint32_t i = 0; i < n; i++)
		next[place[column[i]]++] = i;
	uint32_t row = 0;
	for (unsigned v = 0; v < 256; v++) /* the sorted column; L is not needed any more */
		for (uint32_t k = 0; k < counts[v]; k++)
			column[row++] = (uint8_t)v;
	row = 0;
	for (uint32_t i = 0; i < n; i++) {
		row = next[row];
		if (row == 0 && i + 1 < n)
			return false;
	}
	return row == 0;
}

static int invert(struct pm_bytes file, uint8_t *column, uint32_t n, struct pm_error *err)
{
	uint32_t counts[256];
	if (!count_bytes(file, column, n, counts))
		return pm_error_set(
			err, -EINVAL, NULL, HEADER_SIZE, "the byte counts do not match the blocks");
	uint32_t *next = malloc(sizeof(*next) * n + 1);
	uint8_t *text = malloc((size_t)n + 1);
	bool whole = next && text && walk_column(column, n, counts, next);
	for (uint32_t i = 0, row = 0; whole && i < n; i++, row = next[row])
		text[i] = column[row];
	if (whole)
		memcpy(column, text, n);
	free(text);
	free(next);
	if (!next || !text)
		return pm_error_set(
			err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the text index");
	return whole
		? 0
		: pm_error_set(err, -EINVAL, NULL, BLOCKS_AT, "the blocks do not form one text");
}

/* -EINVAL with the offset in the file where it cannot be read, or -ENOMEM. */
static int read_fm(struct pm_bytes file, struct fm *ret, struct pm_error *err)
{
	struct pm_bytes front;
	struct header h;
	if (!pm_bytes_sub(file, 0, BLOCKS_AT, &front) || memcmp(front.p, "0MFZ", 4) != 0)
		return pm_error_set(err, -EINVAL, NULL, 0, "is not an FM file");
	header_decode(front.p, &h);
	int r = check_length(file, &h, err);
	if (r < 0)
		return r;
	uint8_t *text = malloc((size_t)h.length + 1);
	if (!text)
		return pm_error_set(
			err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the text index");
	r = read_column(file, &h, text, err);
	if (r == 0 && h.length > 0)
		r = invert(file, text, h.length, err);
	if (r < 0) {
		free(text);
		return r;
	}
	*ret = (struct fm){.data = text, .len = h.length};
	return 0;
}

/*
 * ==== entries ====
 * Reads entries, `id 01 text 02 id 03`, and keeps them by id. An entry is only used if both numbers
 * agree, so bytes that were damaged or cut off are skipped up to the next 03.
 */

enum { WAL_HEADER_SIZE = 4, MOST_DIGITS = 6 };

size_t zts_wal_length(struct pm_bytes file)
{
	struct pm_bytes entries;
	if (!pm_bytes_sub(file, WAL_HEADER_SIZE, file.len - WAL_HEADER_SIZE, &entries))
		return file.len;
	const uint8_t *zero = memchr(entries.p, 0, entries.len);
	return zero ? WAL_HEADER_SIZE + (size_t)(zero - entries.p) : file.len;
}

bool zts_number_read(struct pm_bytes digits, uint64_t *ret)
{
	uint64_t value = 0;
	if (digits.len == 0 || digits.len > MOST_DIGITS)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.p[i] < 0x30 || digits.p[i] > 0x6f)
			return false;
		value = value << 6 | (uint64_t)(digits.p[i] - 0x30);
	}
	*ret = value;
	return true;
}

/* The entry within the bytes before a 03. */
static bool entry_decode(struct pm_bytes b, struct zts_text *ret)
{
	struct pm_bytes first, second;
	const uint8_t *begin = memchr(b.p, 1, b.len);
	const uint8_t *end = memrchr(b.p, 2, b.len);
	if (!begin || !end || end < begin)
		return false;
	size_t text_off = (size_t)(begin - b.p) + 1, text_end = (size_t)(end - b.p);
	pm_bytes_sub(b, 0, text_off - 1, &first);
	pm_bytes_sub(b, text_end + 1, b.len - text_end - 1, &second);
	return pm_bytes_equal(first, second) && zts_number_read(first, &ret->id) &&
		pm_bytes_sub(b, text_off, text_end - text_off, &ret->raw);
}

struct loss {
	uint64_t n, offset, bytes; /* of the first */
};

/*
 * Adds the entries of `b`; 00 and 03 separate them. Bytes outside of entries are counted in `loss`.
 */
static int add_entries(struct zts_texts *t, struct pm_bytes b, struct loss *loss)
{
	for (size_t at = 0; at < b.len;) {
		struct zts_text entry;
		struct pm_bytes rest, one;
		if (pm_work_cancelled())
			return PM_CANCELLED;
		pm_bytes_sub(b, at, b.len - at, &rest);
		if (rest.p[0] == 0 || rest.p[0] == 3) {
			at++;
			continue;
		}
		const uint8_t *end = memchr(rest.p, 3, rest.len);
		size_t len = end ? (size_t)(end - rest.p) : rest.len;
		pm_bytes_sub(rest, 0, len, &one);
		if (end && entry_decode(one, &entry)) {
			if (pm_list_room(&t->items, t->n, &t->room, sizeof(entry)) < 0)
				return -ENOMEM;
			t->items[t->n++] = entry;
		} else if (loss->n++ == 0) {
			loss->offset = at;
			loss->bytes = len;
		}
		at += len;
	}
	return 0;
}

int zts_texts_add_wal(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file)
{
	struct pm_bytes magic, entries;
	struct loss loss = {0};
	if (data.len == 0)
		return 0;
	if (!pm_bytes_sub(data, 0, WAL_HEADER_SIZE, &magic) || memcmp(magic.p, "WAL\3", 4) != 0)
		pm_damage_add(damage, file, 0, PM_NO_OFFSET, "has no WAL header");
	if (!pm_bytes_sub(data, WAL_HEADER_SIZE, data.len - WAL_HEADER_SIZE, &entries))
		return 0;
	int r = add_entries(t, entries, &loss);
	if (loss.n > 0)
		pm_damage_add(damage, file, WAL_HEADER_SIZE + loss.offset, loss.bytes,
			"%llu entries of the text index are cut or damaged",
			(unsigned long long)loss.n);
	return r;
}

int zts_texts_add_fm(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct fm fm = {.data = NULL};
	struct loss loss = {0};
	if (pm_list_room(&t->decoded, t->n_decoded, &t->decoded_room, sizeof(*t->decoded)) < 0)
		return -ENOMEM;
	int r = read_fm(data, &fm, &err);
	if (pm_is_passing(r))
		return r;
	if (r < 0) {
		pm_damage_add(damage, file, err.offset, PM_NO_OFFSET, "%s", err.text);
		return 0;
	}
	size_t before = t->n;
	r = add_entries(t, (struct pm_bytes){fm.data, fm.len}, &loss);
	if (t->n > before)
		t->decoded[t->n_decoded++] = fm.data;
	else
		free(fm.data);
	if (loss.n > 0)
		pm_damage_add(damage, file, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu entries of the text index are damaged", (unsigned long long)loss.n);
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct zts_text *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return pm_bytes_compare(x->raw, y->raw);
}

int zts_texts_freeze(struct zts_texts *t)
{
	size_t kept = 0;
	if (pm_sort(t->items, t->n, sizeof(*t->items), by_id) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) /* several files may contain a copy; any will do */
		if (kept == 0 || t->items[kept - 1].id != t->items[i].id)
			t->items[kept++] = t->items[i];
	t->n = kept;
	return 0;
}

const struct zts_text *zts_texts_find(const struct zts_texts *t, uint64_t id)
{
	if (t->n == 0 || id < t->items[0].id)
		return NULL;
	/* Ids are assigned in ascending order: an entry is at its id, or before it. */
	uint64_t place = id - t->items[0].id;
	if (place < t->n && t->items[place].id == id)
		return &t->items[place];
	size_t end = place < t->n ? (size_t)place : t->n;
	size_t at = PM_LOWER_BOUND(i, 0, end, t->items[i].id < id);
	return at < t->n && t->items[at].id == id ? &t->items[at] : NULL;
}

void zts_texts_done(struct zts_texts *t)
{
	for (size_t i = 0; i < t->n_decoded; i++)
		free(t->decoded[i]);
	free(t->decoded);
	free(t->items);
	*t = (struct zts_texts){.n = 0};
}
