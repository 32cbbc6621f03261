/*
 * https://github.com/apache/parquet-format: README.md (pages), Encodings.md (PLAIN, RLE and
 * bit-packing, RLE_DICTIONARY), parquet.thrift (PageHeader).
 */
#include "fs/document/chunk.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/row.h"
#include "formats/common/utf8.h"
#include "fs/document/thrift.h"

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };

#define MOST_EXACT ((double)((uint64_t)1 << 53))

int pmfs_chunk_begin(struct pmfs_chunk *c, enum pmfs_storage storage)
{
	pm_strtab_done(&c->texts);
	pm_arena_done(&c->arena);
	c->texts = (struct pm_strtab){.arena = &c->arena};
	c->storage = storage;
	c->n = c->n_nulls = c->last = 0;
	c->seen = 0;
	c->bytes = 0;
	c->failed = false;
	if (!c->present)
		c->present = malloc(PMFS_GROUP_ROWS / 8);
	if (!c->present)
		return -ENOMEM;
	memset(c->present, 0, PMFS_GROUP_ROWS / 8);
	memset(c->seen_at, 0, sizeof(c->seen_at));
	return 0;
}

void pmfs_chunk_done(struct pmfs_chunk *c)
{
	pm_strtab_done(&c->texts);
	pm_arena_done(&c->arena);
	pm_text_done(&c->scratch);
	free(c->values);
	free(c->present);
	*c = (struct pmfs_chunk){.n = 0};
}

/* ---- cells ---- */

static bool is_exact(uint64_t u)
{
	double d = (double)u;
	return d < 0x1p64 && (uint64_t)d == u;
}

static uint8_t traits_of(const struct pm_cell *cell)
{
	uint8_t seen = PMFS_SEEN_NUMBER;
	switch (cell->kind) {
	case PM_CELL_U64:
		if (cell->u > INT64_MAX)
			seen |= PMFS_SEEN_BEYOND;
		return seen | (is_exact(cell->u) ? 0 : PMFS_SEEN_INEXACT);
	case PM_CELL_I64:
		seen |= cell->i < 0 ? PMFS_SEEN_NEGATIVE : 0;
		return seen |
			(is_exact(cell->i < 0 ? -(uint64_t)cell->i : (uint64_t)cell->i)
					? 0
					: PMFS_SEEN_INEXACT);
	case PM_CELL_F64:
		if (cell->f != trunc(cell->f) || fabs(cell->f) > MOST_EXACT)
			return seen | PMFS_SEEN_FRACTION;
		return seen | (cell->f < 0 ? PMFS_SEEN_NEGATIVE : 0);
	case PM_CELL_EMPTY:
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: break;
	}
	return PMFS_SEEN_TEXT;
}

enum pmfs_storage pmfs_storage_for(enum pm_type type, uint8_t seen)
{
	bool whole = !(seen & PMFS_SEEN_FRACTION);
	if (type == PM_TYPE_TEXT || seen & PMFS_SEEN_TEXT || (type == PM_TYPE_ANY && !seen))
		return PMFS_STORE_TEXT;
	if (type == PM_TYPE_FLOAT && !(whole && seen & PMFS_SEEN_INEXACT))
		return PMFS_STORE_DOUBLE;
	if (!whole)
		return seen & PMFS_SEEN_INEXACT ? PMFS_STORE_TEXT : PMFS_STORE_DOUBLE;
	if (!(seen & PMFS_SEEN_BEYOND))
		return PMFS_STORE_I64;
	return seen & PMFS_SEEN_NEGATIVE ? PMFS_STORE_TEXT : PMFS_STORE_U64;
}

static uint64_t double_bits(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof(u));
	return u;
}

static uint64_t number_bits(const struct pmfs_chunk *c, const struct pm_cell *cell)
{
	bool is_double = c->storage == PMFS_STORE_DOUBLE;
	switch (cell->kind) {
	case PM_CELL_U64: return is_double ? double_bits((double)cell->u) : cell->u;
	case PM_CELL_I64: return is_double ? double_bits((double)cell->i) : (uint64_t)cell->i;
	case PM_CELL_F64: return is_double ? double_bits(cell->f) : (uint64_t)(int64_t)cell->f;
	case PM_CELL_EMPTY:
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: break;
	}
	return 0;
}

/* The bytes of a cell as text as in CSV, before any quoting. */
static struct pm_bytes text_of(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_TEXT && pm_utf8_valid(cell->text) &&
		(cell->text.len == 0 || !memchr(cell->text.p, 0, cell->text.len)))
		return cell->text;
	pm_text_clear(&c->scratch);
	if (cell->kind == PM_CELL_TEXT) {
		pm_text_utf8(&c->scratch, cell->text);
	} else {
		pm_row_render(&c->scratch, PM_TSV, cell, 1);
		c->scratch.len -= c->scratch.len > 0; /* the line feed */
	}
	c->failed |= c->scratch.failed;
	return pm_text_view(&c->scratch);
}

static void add_value(struct pmfs_chunk *c, uint64_t value)
{
	uint32_t i = c->n - c->n_nulls;
	if (i == c->room && pm_list_room(&c->values, i, &c->room, sizeof(*c->values)) < 0) {
		c->failed = true;
		return;
	}
	c->present[c->n >> 3] |= (uint8_t)(1u << (c->n & 7));
	c->values[i] = value;
	c->n++;
	c->bytes += sizeof(value);
}

static void add_null(struct pmfs_chunk *c)
{
	c->n++;
	c->n_nulls++;
}

static void add_text(struct pmfs_chunk *c, struct pm_bytes text)
{
	if (text.len == 0) {
		add_null(c);
		return;
	}
	if (c->texts.n == 0 || !pm_bytes_equal(text, c->texts.items[c->last])) {
		uint32_t known = c->texts.n;
		c->last = pm_strtab_add(&c->texts, text);
		if (c->last == UINT32_MAX) {
			c->failed = true;
			c->last = 0;
		} else if (c->last == known) {
			c->bytes += text.len;
		}
	}
	add_value(c, c->last);
}

/*
 * Most texts are at the same address as in an earlier row: comparing the bytes there is cheaper
 * than hashing them.
 */
static bool add_seen(struct pmfs_chunk *c, struct pm_bytes text)
{
	uint64_t place = pm_hash_u64((uint64_t)(uintptr_t)text.p) % PMFS_CHUNK_PLACES;
	uint32_t index = c->seen_at[place];
	if (index == 0 || !pm_bytes_equal(text, c->texts.items[index - 1]))
		return false;
	add_value(c, index - 1);
	return true;
}

static void add_text_cell(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	bool is_text = cell->kind == PM_CELL_TEXT;
	if (is_text && cell->text.len > 0 && add_seen(c, cell->text))
		return;
	uint32_t n_nulls = c->n_nulls;
	add_text(c, text_of(c, cell));
	if (is_text && c->n_nulls == n_nulls && c->texts.n > 0)
		c->seen_at[pm_hash_u64((uint64_t)(uintptr_t)cell->text.p) % PMFS_CHUNK_PLACES] =
			c->last + 1;
}

void pmfs_chunk_add(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_EMPTY || (cell->kind == PM_CELL_F64 && !isfinite(cell->f))) {
		add_null(c);
		return;
	}
	uint8_t seen = traits_of(cell);
	c->seen |= seen;
	if (c->storage == PMFS_STORE_TEXT)
		add_text_cell(c, cell);
	else if (seen & PMFS_SEEN_TEXT ||
		(c->storage != PMFS_STORE_DOUBLE && seen & PMFS_SEEN_FRACTION))
		add_null(c);
	else
		add_value(c, number_bits(c, cell));
}

/* ---- pages ---- */

static unsigned varint_length(uint64_t u)
{
	unsigned n = 1;
	for (; u >= 0x80; u >>= 7)
		n++;
	return n;
}

static void add_le(struct pm_text *out, uint64_t u, unsigned bytes)
{
	char *p = pm_text_reserve(out, bytes);
	if (!p)
		return;
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (char)(u >> 8 * i);
	out->len += bytes;
}

static void page_header(
	struct pm_text *out, int32_t type, uint64_t size, uint32_t n, int32_t encoding)
{
	struct pmfs_thrift page = {.out = out};
	pmfs_thrift_i32(&page, 1, type);
	pmfs_thrift_i32(&page, 2, (int32_t)size);
	pmfs_thrift_i32(&page, 3, (int32_t)size);
	struct pmfs_thrift header = pmfs_thrift_struct(&page, type == DATA_PAGE ? 5 : 7);
	pmfs_thrift_i32(&header, 1, (int32_t)n);
	pmfs_thrift_i32(&header, 2, encoding);
	if (type == DATA_PAGE) {
		pmfs_thrift_i32(&header, 3, RLE);
		pmfs_thrift_i32(&header, 4, RLE);
	}
	pmfs_thrift_end(&header);
	pmfs_thrift_end(&page);
}

/* Bits of an index into n texts. */
static unsigned index_width(uint32_t n)
{
	unsigned width = 1;
	while (width < 32 && n > (uint32_t)1 << width)
		width++;
	return width;
}

static uint32_t eights(uint32_t n)
{
	return (n + 7) / 8;
}

/* The levels are one run: all equal, or one bit per row. */
static uint64_t levels_header(const struct pmfs_chunk *c)
{
	return c->n_nulls == 0 || c->n_nulls == c->n ? (uint64_t)c->n << 1
						     : (uint64_t)eights(c->n) << 1 | 1;
}

static uint64_t levels_length(const struct pmfs_chunk *c)
{
	uint64_t header = levels_header(c);
	return varint_length(header) + (header & 1 ? eights(c->n) : 1);
}

static void add_levels(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint64_t header = levels_header(c);
	add_le(out, levels_length(c), 4);
	pmfs_thrift_varint(out, header);
	if (header & 1)
		pm_text_add(out, c->present, eights(c->n));
	else
		pm_text_char(out, c->n_nulls == 0);
}

/* The indexes are one run as well, padded to a multiple of eight. */
static uint64_t indexes_length(const struct pmfs_chunk *c)
{
	uint32_t n = eights(c->n - c->n_nulls);
	return 1 + varint_length((uint64_t)n << 1 | 1) + (uint64_t)n * index_width(c->texts.n);
}

static void add_indexes(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint32_t n = c->n - c->n_nulls, full = eights(n) * 8;
	unsigned width = index_width(c->texts.n), room = 0;
	uint64_t bits = 0;
	pm_text_char(out, (char)width);
	pmfs_thrift_varint(out, (uint64_t)eights(n) << 1 | 1);
	uint8_t *p = (uint8_t *)pm_text_reserve(out, (size_t)full / 8 * width);
	if (!p)
		return;
	for (uint32_t i = 0; i < full; i++) {
		bits |= (i < n ? c->values[i] : 0) << room;
		for (room += width; room >= 8; room -= 8, bits >>= 8)
			*p++ = (uint8_t)bits;
	}
	out->len += (size_t)full / 8 * width;
}

static void add_numbers(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint32_t n = c->n - c->n_nulls;
	uint8_t *p = (uint8_t *)pm_text_reserve(out, (size_t)n * 8);
	if (!p)
		return;
	for (uint32_t i = 0; i < n; i++, p += 8) {
		uint64_t value = htole64(c->values[i]);
		memcpy(p, &value, sizeof(value));
	}
	out->len += (size_t)n * 8;
}

static void add_dictionary(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < c->texts.n; i++)
		size += 4 + c->texts.items[i].len;
	if (size > INT32_MAX) {
		out->failed = out->full = true;
		return;
	}
	page_header(out, DICTIONARY_PAGE, size, c->texts.n, PLAIN);
	for (uint32_t i = 0; i < c->texts.n; i++) {
		add_le(out, c->texts.items[i].len, 4);
		pm_text_bytes(out, c->texts.items[i]);
	}
}

uint64_t pmfs_chunk_most(const struct pmfs_chunk *c)
{
	enum { HEADERS = 128 }; /* of both pages, including the lengths in them */
	uint64_t values = (uint64_t)(c->n - c->n_nulls) * 8, texts = c->bytes - values;
	if (c->storage == PMFS_STORE_TEXT && c->texts.n > 0)
		values = indexes_length(c);
	return HEADERS + levels_length(c) + values + texts + (uint64_t)c->texts.n * 4;
}

void pmfs_chunk_render(struct pmfs_chunk *c, struct pm_text *out, struct pmfs_chunk_facts *ret)
{
	bool is_text = c->storage == PMFS_STORE_TEXT && c->texts.n > 0;
	uint32_t n = c->n - c->n_nulls;
	size_t before = out->len;
	*ret = (struct pmfs_chunk_facts){.n = c->n, .n_nulls = c->n_nulls, .seen = c->seen};
	if (is_text) {
		add_dictionary(c, out);
		ret->dictionary = (uint32_t)(out->len - before);
	}
	pmfs_chunk_bounds(c, ret);
	uint64_t size = 4 + levels_length(c) + (is_text ? indexes_length(c) : (uint64_t)n * 8);
	page_header(out, DATA_PAGE, size, c->n, is_text ? RLE_DICTIONARY : PLAIN);
	add_levels(c, out);
	if (is_text)
		add_indexes(c, out);
	else
		add_numbers(c, out);
	ret->bytes = (uint32_t)(out->len - before);
}
