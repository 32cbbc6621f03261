/*
 * The only code that formats cells as text, in two ways that must agree to the byte: rendering and
 * measuring. tests/unit/test_row.c compares them.
 */
#include "formats/common/row.h"

#include "formats/common/number.h"
#include "formats/common/utf8.h"

/* What a byte of text requires. */
enum {
	PLAIN = 0,
	BREAK = 1,  /* tab, CR, LF: a space in TSV; quotes the field in CSV */
	QUOTE = 2,  /* quotes the field in CSV */
	TWICE = 4,  /* is doubled in CSV */
	BEYOND = 8, /* not ASCII, or NUL: valid UTF-8 or U+FFFD */
};

static const uint8_t class_of[256] = {
	[0] = BEYOND,
	[0x01 ... 0x08] = QUOTE,
	[0x0b ... 0x0c] = QUOTE,
	[0x0e ... 0x1f] = QUOTE,
	['\t'] = BREAK | QUOTE,
	['\n'] = BREAK | QUOTE,
	['\r'] = BREAK | QUOTE,
	[','] = QUOTE,
	['"'] = QUOTE | TWICE,
	[0x80 ... 0xff] = BEYOND,
};

enum { REPLACEMENT = 3 }; /* bytes of U+FFFD */

/* Whether 8 bytes are plain. A byte below n sets its highest bit in (bytes - n) & ~bytes. */
static bool is_plain(const uint8_t *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t bytes, comma, quote;
	memcpy(&bytes, p, sizeof(bytes));
	comma = bytes ^ ones * ',';
	quote = bytes ^ ones * '"';
	uint64_t control = (bytes - ones * 0x20) & ~bytes;
	uint64_t special = ((comma - ones) & ~comma) | ((quote - ones) & ~quote);
	return ((bytes | control | special) & ones << 7) == 0;
}

static uint8_t classes(struct pm_bytes text)
{
	uint8_t all = PLAIN;
	size_t i = 0;
	while (text.len - i >= 8 && is_plain(text.p + i))
		i += 8;
	if (text.len >= 8 && text.len - i < 8 && is_plain(text.p + text.len - 8))
		return PLAIN;
	for (; i < text.len; i++)
		all |= class_of[text.p[i]];
	return all;
}

/* Bytes of the text with everything but plain ASCII replaced, before any quoting. */
static uint64_t utf8_length(struct pm_bytes text)
{
	uint64_t len = 0;
	for (size_t at = 0; at < text.len;) {
		size_t n = text.p[at] ? pm_utf8_next(text, at) : 0;
		len += n ? n : REPLACEMENT;
		at += n ? n : 1;
	}
	return len;
}

static uint64_t count_quotes(struct pm_bytes text)
{
	uint64_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '"';
	return n;
}

uint64_t pm_row_text_length(enum pm_form form, struct pm_bytes text)
{
	uint8_t all = classes(text);
	uint64_t len = all & BEYOND ? utf8_length(text) : text.len;
	if (form == PM_CSV && all & QUOTE)
		len += 2 + (all & TWICE ? count_quotes(text) : 0);
	return len;
}

static void add_csv_quoted(struct pm_text *out, struct pm_bytes text)
{
	pm_text_char(out, '"');
	for (size_t at = 0; at < text.len;) {
		const uint8_t *quote = memchr(text.p + at, '"', text.len - at);
		size_t n = quote ? (size_t)(quote - text.p) + 1 - at : text.len - at;
		pm_text_utf8(out, (struct pm_bytes){text.p + at, n});
		if (quote)
			pm_text_char(out, '"');
		at += n;
	}
	pm_text_char(out, '"');
}

static void text_render(struct pm_text *out, enum pm_form form, struct pm_bytes text)
{
	uint8_t all = classes(text);
	if (form == PM_CSV && all & QUOTE)
		add_csv_quoted(out, text);
	else if (form == PM_TSV && all & BREAK)
		pm_text_tsv(out, text);
	else if (all & BEYOND)
		pm_text_utf8(out, text);
	else
		pm_text_bytes(out, text);
}

/* Appends a number to `out`, which has room for it. */
static size_t number_render(char *out, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_U64: return pm_u64_format(cell->u, out);
	case PM_CELL_I64: return pm_i64_format(cell->i, out);
	case PM_CELL_F64: return pm_f64_format(cell->f, out);
	case PM_CELL_HEX:
		out[0] = '0';
		out[1] = 'x';
		return 2 + pm_hex_format(cell->u, 1, out + 2);
	case PM_CELL_ID: return pm_hex_format(cell->u, cell->width, out);
	case PM_CELL_EMPTY:
	case PM_CELL_TEXT: break;
	}
	return 0;
}

static uint64_t cell_length(enum pm_form form, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_EMPTY: return 0;
	case PM_CELL_U64: return pm_u64_length(cell->u);
	case PM_CELL_I64: return pm_i64_length(cell->i);
	case PM_CELL_F64: return pm_f64_length(cell->f);
	case PM_CELL_HEX: return 2 + pm_hex_length(cell->u, 1);
	case PM_CELL_ID: return pm_hex_length(cell->u, cell->width);
	case PM_CELL_TEXT: return pm_row_text_length(form, cell->text);
	}
	return 0;
}

void pm_row_render(struct pm_text *out, enum pm_form form, const struct pm_cell *cells, uint32_t n)
{
	/* A number, its separator, and the two bytes of 0x. */
	enum { ROOM = PM_NUMBER_SIZE + 3 };
	char separator = form == PM_CSV ? ',' : '\t';
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].kind == PM_CELL_TEXT) {
			if (i)
				pm_text_char(out, separator);
			text_render(out, form, cells[i].text);
			continue;
		}
		char *p = pm_text_reserve(out, ROOM);
		if (!p)
			return;
		if (i)
			*p++ = separator;
		p += number_render(p, &cells[i]);
		out->len = (size_t)(p - out->p);
	}
	pm_text_char(out, '\n');
}

uint64_t pm_row_length(enum pm_form form, const struct pm_cell *cells, uint32_t n)
{
	uint64_t len = n ? n : 1; /* n - 1 separators and the line feed */
	for (uint32_t i = 0; i < n; i++)
		len += cell_length(form, &cells[i]);
	return len;
}

void pm_row_header(struct pm_text *out, enum pm_form form, const struct pm_table *table)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (i)
			pm_text_char(out, form == PM_CSV ? ',' : '\t');
		text_render(out, form, pm_bytes_of(pm_table_column(table, i)));
	}
	pm_text_char(out, '\n');
}
