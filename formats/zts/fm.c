/*
 * Reads an FM file as a whole: the blocks give the last column L of the sorted rotations, and
 * following it gives the text. The rank tables, which are made for searching in the file, are not
 * needed. Does not interpret entries and ids.
 *
 * The text ends with 00, its smallest byte, so row 0 is the rotation that begins with that byte and
 * continues with the beginning of the text: the walk starts there, and the stored number of the
 * starting row is not needed. A text is complete if L has the recorded number of each byte and the
 * walk returns after exactly all of L; the checksums of the file add nothing to that.
 */
#include "formats/zts/fm.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/inflate.h"
#include "profmount/limits.h"

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

int zts_fm_read(struct pm_bytes file, struct zts_fm *ret, struct pm_error *err)
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
	*ret = (struct zts_fm){.data = text, .len = h.length};
	return 0;
}
