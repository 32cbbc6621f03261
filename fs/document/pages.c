/*
 * https://github.com/apache/parquet-format: README.md (pages), Encodings.md (PLAIN, RLE and
 * bit-packing, RLE_DICTIONARY), parquet.thrift (PageHeader).
 */
#include <endian.h>
#include <string.h>

#include "fs/document/chunk.h"
#include "fs/document/thrift.h"

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
		(uint64_t)n * index_width(pmfs_chunk_texts(c)->n);
}

static void add_indexes(const struct pmfs_chunk *c, struct pm_text *out)
{
	uint32_t n = c->n - c->n_nulls, full = eights(n_stored(c)) * 8;
	unsigned width = index_width(pmfs_chunk_texts(c)->n), room = 0;
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
	bool is_text = c->storage == PMFS_STORE_TEXT && pmfs_chunk_texts(c)->n > 0;
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
		pmfs_chunk_bounds(c, ret);
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
