/* The text builder. */
#include "formats/common/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/number.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { UNASKED = 64 << 10, SHRUNK = 16 << 10, FLOWS = 1 << 20 };

/* ---- memory ---- */

void pm_text_done(struct pm_text *t)
{
	pm_arena_free(t->arena, t->p);
	*t = (struct pm_text){.limit = t->limit, .arena = t->arena};
}

void pm_text_clear(struct pm_text *t)
{
	t->len = 0;
}

void pm_text_end(struct pm_text *t, struct pm_text *out)
{
	out->failed |= t->failed;
	out->full |= t->full;
	pm_text_done(t);
}

void pm_text_shrink(struct pm_text *t)
{
	bool much = t->taken > SHRUNK && t->taken - t->len > t->taken / 8;
	char *p = much ? pm_arena_realloc(t->arena, t->p, t->len + 1) : NULL;
	if (p) {
		t->p = p;
		t->room = t->taken = t->len + 1;
	}
}

static size_t limit_of(const struct pm_text *t)
{
	return t->limit ? t->limit : PM_LIMIT_TEXT;
}

/* Takes memory for `taken` bytes in total, which is within the limit. */
static bool take(struct pm_text *t, size_t taken)
{
	char *p = pm_arena_realloc(t->arena, t->p, taken);
	if (!p)
		return false;
	if (t->grown)
		t->grown(t->grown_context, taken - t->taken);
	t->p = p;
	t->taken = taken;
	return true;
}

/* Makes room for `need` bytes in total, which is within the limit. */
static bool grow(struct pm_text *t, size_t need)
{
	size_t limit = limit_of(t), taken = t->taken < 128 ? 128 : t->taken;
	while (taken < need && taken <= limit / 2)
		taken *= 2;
	return take(t, taken < need || taken > limit ? limit : taken);
}

/* Long renderings stop here when they are cancelled. `need` is within the limit. */
static bool make_room(struct pm_text *t, size_t need)
{
	size_t most = limit_of(t) - t->flowed;
	if (need > UNASKED && pm_work_cancelled())
		return false;
	if ((!t->p || need > t->taken) && !grow(t, need))
		return false;
	t->room = t->taken - need > UNASKED ? need + UNASKED : t->taken;
	t->room = t->room < most ? t->room : most;
	return true;
}

void pm_text_expect(struct pm_text *t, size_t n)
{
	if (!t->failed && n > t->taken - t->len && n <= limit_of(t) - t->len)
		take(t, t->len + n); /* failing is reported where the bytes are written */
}

static bool flow(struct pm_text *t)
{
	if (pm_work_cancelled() || !t->flow(t->flow_context, pm_text_view(t)))
		return false;
	t->flowed += t->len;
	t->len = 0;
	return true;
}

char *pm_text_reserve_more(struct pm_text *t, size_t n)
{
	if (t->failed)
		return NULL;
	t->full = n > limit_of(t) - t->flowed - t->len;
	t->failed =
		t->full || (t->flow && t->len >= FLOWS && !flow(t)) || !make_room(t, t->len + n);
	if (!t->failed)
		return t->p + t->len;
	return t->full && t->limit ? NULL : pm_arena_failed(t->arena);
}

int pm_text_status(const struct pm_text *t)
{
	return t->failed ? -ENOMEM : 0;
}

/* ---- plain ---- */

void pm_text_add(struct pm_text *t, const void *p, size_t n)
{
	if (n == 0)
		return;
	char *out = pm_text_reserve(t, n);
	if (!out)
		return;
	memcpy(out, p, n);
	t->len += n;
}

void pm_text_bytes(struct pm_text *t, struct pm_bytes b)
{
	pm_text_add(t, b.p, b.len);
}

void pm_text_str(struct pm_text *t, const char *s)
{
	pm_text_bytes(t, pm_bytes_of(s));
}

void pm_text_printf(struct pm_text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *out = n < 0 ? NULL : pm_text_reserve(t, (size_t)n + 1);
	if (!out) {
		t->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(out, (size_t)n + 1, format, args);
	va_end(args);
	t->len += (size_t)n;
}

/* ---- numbers: the last few bytes below the limit are not for them ---- */

void pm_text_u64(struct pm_text *t, uint64_t u)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_u64_format(u, out);
}

void pm_text_i64(struct pm_text *t, int64_t i)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_i64_format(i, out);
}

void pm_text_f64(struct pm_text *t, double f)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_f64_format(f, out);
}

void pm_text_hex(struct pm_text *t, uint64_t u, unsigned width)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_hex_format(u, width, out);
}

/*
 * ==== escapes ====
 * Text for outputs that cannot contain every character. Each output has a table of replacements;
 * the text between two characters that are replaced is copied as a whole.
 */

#define REPLACEMENT PM_REPLACEMENT

struct escapes {
	const char *ascii[128]; /* replacement; NULL: the character itself */
	bool replaces_nonchars; /* U+FFFE and U+FFFF */
};

static const struct escapes utf8_escapes = {.ascii = {[0] = REPLACEMENT}};

/* clang-format off */
#define JSON_ESCAPES \
	"\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", \
	"\\b",     "\\t",     "\\n",     "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f", \
	"\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017", \
	"\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f", \
	['"'] = "\\\"", ['\\'] = "\\\\",

static const struct escapes json_escapes = {.ascii = {JSON_ESCAPES}};
static const struct escapes script_escapes = {.ascii = {JSON_ESCAPES ['<'] = "\\u003c"}};

static const struct escapes xml_escapes = {
	.ascii = {
		[0x00 ... 0x08] = REPLACEMENT, [0x0b ... 0x0c] = REPLACEMENT, [0x0e ... 0x1f] = REPLACEMENT,
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	},
	.replaces_nonchars = true,
};
/* clang-format on */

static bool is_nonchar(const uint8_t *p, size_t n)
{
	return n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;
}

/* The end of the run, starting at b.p[at], of characters that need no replacement. */
static size_t end_of_plain(struct pm_bytes b, size_t at, const struct escapes *e)
{
	while (at < b.len) {
		size_t n = 1;
		if (b.p[at] < 0x80) {
			if (e->ascii[b.p[at]])
				break;
		} else {
			n = pm_utf8_next(b, at);
			if (n == 0 || (e->replaces_nonchars && is_nonchar(b.p + at, n)))
				break;
		}
		at += n;
	}
	return at;
}

static void add_escaped(struct pm_text *t, struct pm_bytes b, const struct escapes *e)
{
	for (size_t at = 0; at < b.len;) {
		size_t end = end_of_plain(b, at, e);
		pm_text_add(t, b.p + at, end - at);
		if (end == b.len)
			return;
		bool ascii = b.p[end] < 0x80;
		pm_text_str(t, ascii ? e->ascii[b.p[end]] : REPLACEMENT);
		at = end + (ascii ? 1 : pm_utf8_next(b, end) ?: 1);
	}
}

/* True if no byte is NUL or above 0x7f. Most text is like that, so 8 bytes are tested at a time. */
static bool is_plain_ascii(struct pm_bytes b)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	uint64_t word, odd = 0;
	size_t at = 0;
	for (; b.len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, b.p + at, sizeof(word));
		odd |= word | (word - ones); /* a NUL borrows */
	}
	for (; at < b.len; at++)
		odd |= b.p[at] | (b.p[at] - (uint64_t)1);
	return (odd & highs) == 0;
}

void pm_text_utf8(struct pm_text *t, struct pm_bytes b)
{
	if (is_plain_ascii(b))
		pm_text_bytes(t, b);
	else
		add_escaped(t, b, &utf8_escapes);
}

void pm_text_tsv(struct pm_text *t, struct pm_bytes b)
{
	size_t start = t->len;
	pm_text_utf8(t, b);
	for (size_t i = start; !t->failed && i < t->len; i++)
		if (t->p[i] == '\t' || t->p[i] == '\r' || t->p[i] == '\n')
			t->p[i] = ' ';
}

void pm_text_json(struct pm_text *t, struct pm_bytes b)
{
	pm_text_char(t, '"');
	add_escaped(t, b, &json_escapes);
	pm_text_char(t, '"');
}

void pm_text_script(struct pm_text *t, struct pm_bytes b)
{
	pm_text_char(t, '"');
	add_escaped(t, b, &script_escapes);
	pm_text_char(t, '"');
}

void pm_text_xml(struct pm_text *t, struct pm_bytes b)
{
	add_escaped(t, b, &xml_escapes);
}

/* ---- names and messages ---- */

size_t pm_text_shown_char(struct pm_text *t, struct pm_bytes b, size_t at)
{
	bool shown;
	size_t n = pm_utf8_shown(b, at, &shown);
	if (shown)
		pm_text_add(t, b.p + at, n);
	else
		pm_text_str(t, REPLACEMENT);
	return n;
}

/*
 * The end of the run of printable ASCII from `first` on (a space or a later character). Most names
 * are a single run.
 */
static size_t end_of_ascii(struct pm_bytes b, size_t at, uint8_t first)
{
	while (at < b.len && b.p[at] >= first && b.p[at] < 0x7f)
		at++;
	return at;
}

void pm_text_shown(struct pm_text *t, struct pm_bytes b)
{
	for (size_t at = 0; at < b.len;) {
		size_t end = end_of_ascii(b, at, ' ');
		if (end > at)
			pm_text_add(t, b.p + at, end - at);
		at = end < b.len ? end + pm_text_shown_char(t, b, end) : end;
	}
}

/* ---- one line ---- */

/* Length of the space or control character (C0, DEL, C1, U+2028, U+2029) at b.p[at], or 0. */
static size_t blank_at(struct pm_bytes b, size_t at)
{
	const uint8_t *p = b.p + at;
	size_t left = b.len - at;
	if (p[0] <= ' ' || p[0] == 0x7f)
		return 1;
	if (left >= 2 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
		return 2;
	if (left >= 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9))
		return 3;
	return 0;
}

static size_t end_of_blanks(struct pm_bytes b, size_t at)
{
	size_t n;
	while (at < b.len && (n = blank_at(b, at)) > 0)
		at += n;
	return at;
}

/* A blank begins with a byte that begins a character, so walking by characters finds them all. */
static size_t end_of_word(struct pm_bytes b, size_t at)
{
	while ((at = end_of_ascii(b, at, ' ' + 1)) < b.len && blank_at(b, at) == 0)
		at += pm_utf8_next(b, at) ?: 1;
	return at;
}

/* Names made in a reused builder that does not grow must check for cancellation here. */
void pm_text_line(struct pm_text *t, struct pm_bytes b)
{
	if (pm_work_cancelled()) {
		t->failed = true;
		pm_arena_failed(t->arena);
	}
	for (size_t at = 0; at < b.len;) {
		size_t end = end_of_word(b, at);
		pm_text_shown(t, (struct pm_bytes){b.p + at, end - at});
		at = end_of_blanks(b, end);
		if (at > end)
			pm_text_char(t, ' ');
	}
}
