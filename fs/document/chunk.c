/* A column of a row group in Parquet: its cells, their bounds, its pages. */
#include "fs/document/parquet.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/row.h"
#include "formats/common/utf8.h"
#include "fs/document/thrift.h"

/* Its dictionary: of this row group, or of all. */
static const struct pm_strtab *chunk_texts(const struct pmfs_chunk *c)
{
	return c->laid_out ? &c->dictionary->texts : &c->texts;
}

/*
 * Bounds of a column's values in a row group, which let engines skip it:
 * https://github.com/apache/parquet-format, parquet.thrift (Statistics, ColumnOrder).
 */

/* ---- numbers ---- */

static bool is_less(enum pmfs_storage storage, uint64_t a, uint64_t b)
{
	double x, y;
	switch (storage) {
	case PMFS_STORE_I64: return (int64_t)a < (int64_t)b;
	case PMFS_STORE_U64: return a < b;
	case PMFS_STORE_DOUBLE:
		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
		return x < y;
	case PMFS_STORE_TEXT: break;
	}
	return false;
}

/* For doubles, a zero as minimum is -0 and as maximum +0, as required by parquet.thrift. */
static uint64_t signed_zero(enum pmfs_storage storage, uint64_t bits, bool negative)
{
	uint64_t sign = (uint64_t)1 << 63;
	if (storage != PMFS_STORE_DOUBLE || (bits & ~sign) != 0)
		return bits;
	return negative ? sign : 0;
}

void pmfs_chunk_range(
	enum pmfs_storage storage, uint64_t min, uint64_t max, struct pmfs_chunk_facts *ret)
{
	ret->min = signed_zero(storage, min, true);
	ret->max = signed_zero(storage, max, false);
	ret->has_range = true;
}

static void find_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	uint32_t n = c->n - c->n_nulls;
	if (n == 0)
		return;
	uint64_t min = c->values[0], max = min;
	for (uint32_t i = 1; i < n; i++) {
		if (is_less(c->storage, c->values[i], min))
			min = c->values[i];
		else if (is_less(c->storage, max, c->values[i]))
			max = c->values[i];
	}
	pmfs_chunk_range(c->storage, min, max, ret);
}

/* ---- texts: long ones are truncated ---- */

/* As many complete characters of a text as fit. */
static struct pmfs_bound beginning_of(struct pm_bytes text)
{
	struct pmfs_bound ret = {.is_exact = text.len <= PMFS_BOUND_ROOM};
	size_t n = ret.is_exact ? text.len : PMFS_BOUND_ROOM;
	while (!ret.is_exact && n > 0 && (text.p[n] & 0xc0) == 0x80)
		n--;
	memcpy(ret.p, text.p, n);
	ret.n = (uint8_t)n;
	return ret;
}

/* Greater than all texts with this prefix: its last ASCII character is replaced by the next one. */
static void round_up(struct pmfs_bound *b)
{
	while (b->n > 0 && !((uint8_t)b->p[b->n - 1] < 0x7f))
		b->n--;
	if (b->n > 0)
		b->p[b->n - 1]++;
}

static void find_text_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	struct pm_bytes least = c->texts.items[0], greatest = least;
	for (uint32_t i = 1; i < c->texts.n; i++) {
		struct pm_bytes text = c->texts.items[i];
		if (pm_bytes_compare(text, least) < 0)
			least = text;
		else if (pm_bytes_compare(greatest, text) < 0)
			greatest = text;
	}
	ret->least = beginning_of(least);
	ret->greatest = beginning_of(greatest);
	if (!ret->greatest.is_exact)
		round_up(&ret->greatest);
}

/* Computes the bounds of its values. */
static void chunk_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	if (c->storage != PMFS_STORE_TEXT)
		find_bounds(c, ret);
	else if (c->texts.n > 0)
		find_text_bounds(c, ret);
}

/* ---- cells, and how they can be stored ---- */

#define MOST_EXACT ((double)((uint64_t)1 << 53))

enum { N_PLACES = 1 << 12 };

void pmfs_chunk_begin(struct pm_arena *a, struct pmfs_chunk *c, enum pmfs_storage storage)
{
	bool has_places = storage == PMFS_STORE_TEXT && !c->laid_out;
	if (!c->arena) {
		c->arena = c->scratch.arena = a;
		c->of_texts = pm_arena_scratch(a);
		c->present = pm_arena_alloc(a, PMFS_GROUP_ROWS / 8);
	} else {
		pm_arena_done(c->of_texts);
		memset(c->present, 0, PMFS_GROUP_ROWS / 8);
		if (c->seen_at)
			memset(c->seen_at, 0, N_PLACES * sizeof(*c->seen_at));
	}
	if (has_places && !c->seen_at)
		c->seen_at = pm_arena_array(a, N_PLACES, sizeof(*c->seen_at));
	c->texts = pm_strtab_in(c->of_texts);
	c->storage = storage;
	c->n = c->n_nulls = c->last = 0;
	c->seen = 0;
	c->bytes = 0;
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

static uint64_t number_bits(enum pmfs_storage storage, const struct pm_cell *cell)
{
	bool is_double = storage == PMFS_STORE_DOUBLE;
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

bool pmfs_number_bits(enum pmfs_storage storage, const struct pm_cell *cell, uint64_t *ret)
{
	if (cell->kind == PM_CELL_EMPTY || (cell->kind == PM_CELL_F64 && !isfinite(cell->f)))
		return false;
	enum pm_type type = storage == PMFS_STORE_DOUBLE ? PM_TYPE_FLOAT : PM_TYPE_INTEGER;
	*ret = number_bits(storage, cell);
	return pmfs_storage_for(type, traits_of(cell)) == storage;
}

static bool is_clean(struct pm_bytes text)
{
	return text.len == 0 || (pm_utf8_valid(text) && !memchr(text.p, 0, text.len));
}

/* The bytes of a cell as text as in CSV, before any quoting. */
static struct pm_bytes text_of(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_TEXT && is_clean(cell->text))
		return cell->text;
	pm_text_clear(&c->scratch);
	if (cell->kind == PM_CELL_TEXT) {
		pm_text_utf8(&c->scratch, cell->text);
	} else {
		pm_row_render(&c->scratch, PM_TSV, cell, 1);
		c->scratch.len -= c->scratch.len > 0; /* the line feed */
	}
	return pm_text_view(&c->scratch);
}

static void add_value(struct pmfs_chunk *c, uint64_t value)
{
	uint32_t i = c->n - c->n_nulls;
	if (i == c->room)
		pm_list_grow(c->arena, &c->values, i, &c->room, sizeof(*c->values));
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
		if (c->last == known)
			c->bytes += text.len;
	}
	add_value(c, c->last);
}

static struct pmfs_seen *seen_at(const struct pmfs_chunk *c, struct pm_bytes text)
{
	return &c->seen_at[pm_hash_u64((uint64_t)(uintptr_t)text.p) % N_PLACES];
}

/*
 * Most texts are at the same address as in an earlier row: comparing the bytes there is cheaper
 * than hashing them. Bytes of a text that lasts are not compared again, because it may be long, and
 * be that of all rows.
 */
static bool add_seen(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	const struct pmfs_seen *seen = seen_at(c, cell->text);
	bool is_same = cell->lasts && cell->text.p == seen->lasting.p &&
		cell->text.len == seen->lasting.len;
	if (seen->index == 0 ||
		(!is_same && !pm_bytes_equal(cell->text, c->texts.items[seen->index - 1])))
		return false;
	add_value(c, seen->index - 1);
	return true;
}

static void add_text_cell(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	bool is_text = cell->kind == PM_CELL_TEXT;
	if (is_text && cell->text.len > 0 && add_seen(c, cell))
		return;
	uint32_t n_nulls = c->n_nulls;
	add_text(c, text_of(c, cell));
	if (is_text && c->n_nulls == n_nulls && c->texts.n > 0)
		*seen_at(c, cell->text) = (struct pmfs_seen){
			.lasting = cell->lasts ? cell->text : (struct pm_bytes){NULL, 0},
			.index = c->last + 1};
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
		add_value(c, number_bits(c->storage, cell));
}

/* ---- columns that are laid out ---- */

static int set_index(struct pmfs_dictionary *d, uint32_t number, uint32_t index)
{
	size_t before = d->room;
	if (pm_list_room_in(d->texts.arena, &d->index_of, number, &d->room, sizeof(*d->index_of)) <
		0)
		return -ENOMEM;
	if (d->room > before)
		memset(d->index_of + before, 0, (d->room - before) * sizeof(*d->index_of));
	d->index_of[number] = index;
	return 0;
}

int pmfs_dictionary_add(struct pmfs_dictionary *d, uint32_t number, struct pm_bytes text)
{
	struct pm_text clean = {.p = NULL};
	if (number < d->room && d->index_of[number] != 0)
		return 0;
	if (text.len == 0)
		return set_index(d, number, 1);
	if (!is_clean(text)) {
		pm_text_utf8(&clean, text);
		text = pm_text_view(&clean);
	}
	uint32_t n = d->texts.n;
	uint32_t index = clean.failed ? UINT32_MAX : pm_strtab_add(&d->texts, text);
	if (index == n)
		d->bytes += text.len;
	pm_text_done(&clean);
	return index == UINT32_MAX ? -ENOMEM : set_index(d, number, index + 2);
}

/* Replaces the table's numbers of texts by indexes. */
static int find_indexes(const struct pmfs_dictionary *d, const struct pm_strip *strip, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = (uint64_t)strip->values[i];
		uint32_t index = !strip->known[i] ? 1 : number < d->room ? d->index_of[number] : 0;
		if (index == 0)
			return -EIO;
		strip->known[i] = index > 1;
		strip->values[i] = (int64_t)index - 2;
	}
	return 0;
}

int pmfs_chunk_take(struct pmfs_chunk *c, const struct pm_strip *strip, uint32_t n)
{
	uint64_t *values = (uint64_t *)strip->values;
	uint32_t n_known = 0;
	int r = c->storage == PMFS_STORE_TEXT ? find_indexes(c->dictionary, strip, n) : 0;
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		c->present[i >> 3] |= (uint8_t)(strip->known[i] << (i & 7));
		values[n_known] = values[i];
		n_known += strip->known[i];
	}
	c->values = values;
	c->n = n;
	c->n_nulls = n - n_known;
	return 0;
}

/*
 * ---- pages ----
 *
 * https://github.com/apache/parquet-format: README.md (pages), Encodings.md (PLAIN, RLE and
 * bit-packing, RLE_DICTIONARY), parquet.thrift (PageHeader).
 */

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };

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
	bool equal = !c->laid_out && (c->n_nulls == 0 || c->n_nulls == c->n);
	return equal ? (uint64_t)c->n << 1 : (uint64_t)eights(c->n) << 1 | 1;
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

/*
 * Number of values for which the page has space; readers stop at the last one that belongs to a
 * row.
 */
static uint32_t n_stored(const struct pmfs_chunk *c)
{
	return c->laid_out ? c->n : c->n - c->n_nulls;
}

/* The indexes are one run as well, padded to a multiple of eight. */
static uint64_t indexes_length(const struct pmfs_chunk *c)
{
	uint32_t n = eights(n_stored(c));
	return 1 + varint_length((uint64_t)n << 1 | 1) +
		(uint64_t)n * index_width(chunk_texts(c)->n);
}

static void add_indexes(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint32_t n = c->n - c->n_nulls, full = eights(n_stored(c)) * 8;
	unsigned width = index_width(chunk_texts(c)->n), room = 0;
	uint64_t bits = 0;
	pm_text_char(out, (char)width);
	pmfs_thrift_varint(out, (uint64_t)(full / 8) << 1 | 1);
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
	size_t bytes = (size_t)n_stored(c) * 8;
	uint8_t *p = (uint8_t *)pm_text_reserve(out, bytes);
	if (!p)
		return;
	memset(p + (size_t)n * 8, 0, bytes - (size_t)n * 8);
	for (uint32_t i = 0; i < n; i++, p += 8) {
		uint64_t value = htole64(c->values[i]);
		memcpy(p, &value, sizeof(value));
	}
	out->len += bytes;
}

static void add_dictionary(const struct pm_strtab *texts, struct pm_text *out)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < texts->n; i++)
		size += 4 + texts->items[i].len;
	if (size > INT32_MAX) {
		out->failed = out->full = true;
		return;
	}
	page_header(out, DICTIONARY_PAGE, size, texts->n, PLAIN);
	for (uint32_t i = 0; i < texts->n; i++) {
		add_le(out, texts->items[i].len, 4);
		pm_text_bytes(out, texts->items[i]);
	}
}

int pmfs_dictionary_end(struct pmfs_dictionary *d)
{
	if (d->texts.n > 0)
		add_dictionary(&d->texts, &d->page);
	pm_text_shrink(&d->page);
	return d->page.full ? -EFBIG : d->page.failed ? -ENOMEM : 0;
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
	bool is_text = c->storage == PMFS_STORE_TEXT && chunk_texts(c)->n > 0;
	size_t before = out->len;
	*ret = (struct pmfs_chunk_facts){.n = c->n, .n_nulls = c->n_nulls, .seen = c->seen};
	if (is_text) {
		if (c->laid_out)
			pm_text_bytes(out, pm_text_view(&c->dictionary->page));
		else
			add_dictionary(&c->texts, out);
		ret->dictionary = (uint32_t)(out->len - before);
	}
	if (!c->laid_out)
		chunk_bounds(c, ret);
	uint64_t size =
		4 + levels_length(c) + (is_text ? indexes_length(c) : (uint64_t)n_stored(c) * 8);
	page_header(out, DATA_PAGE, size, c->n, is_text ? RLE_DICTIONARY : PLAIN);
	add_levels(c, out);
	if (is_text)
		add_indexes(c, out);
	else
		add_numbers(c, out);
	ret->bytes = (uint32_t)(out->len - before);
}
