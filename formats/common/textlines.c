#include "formats/common/textlines.h"

#include <errno.h>

#include "formats/common/utf8.h"
#include "profmount/limits.h"

char pm_textlines_order(struct pm_bytes b)
{
	if (b.len < 2)
		return 0;
	return b.p[0] == 0xff && b.p[1] == 0xfe ? 'l' : b.p[0] == 0xfe && b.p[1] == 0xff ? 'b' : 0;
}

void pm_textlines_start(struct pm_textlines *l, struct pm_inflate *stream)
{
	*l = (struct pm_textlines){.stream = stream};
	struct pm_bytes w = pm_inflate_peek(stream, 3);
	l->order = pm_textlines_order(w);
	if (l->order)
		l->used = 2;
	else if (w.len >= 3 && memcmp(w.p, "\xef\xbb\xbf", 3) == 0)
		l->used = 3;
}

void pm_textlines_done(struct pm_textlines *l)
{
	pm_text_done(&l->utf8);
	*l = (struct pm_textlines){.stream = NULL};
}

/* ---- UTF-16 ---- */

static void put_utf8(struct pm_text *out, uint32_t c)
{
	if (c < 0x80) {
		pm_text_char(out, (char)c);
	} else if (c < 0x800) {
		pm_text_char(out, (char)(0xc0 | c >> 6));
		pm_text_char(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		pm_text_char(out, (char)(0xe0 | c >> 12));
		pm_text_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		pm_text_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		pm_text_char(out, (char)(0xf0 | c >> 18));
		pm_text_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		pm_text_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		pm_text_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

static uint32_t unit_at(struct pm_bytes b, size_t at, char order)
{
	return order == 'l' ? b.p[at] | (uint32_t)b.p[at + 1] << 8
			    : b.p[at + 1] | (uint32_t)b.p[at] << 8;
}

/* Surrogates without their half, and an odd byte, become U+FFFD. */
static void decode(struct pm_bytes b, char order, struct pm_text *out)
{
	size_t at = 0;
	for (; at + 1 < b.len; at += 2) {
		uint32_t c = unit_at(b, at, order), low;
		if (c >= 0xd800 && c < 0xdc00 && at + 3 < b.len &&
			(low = unit_at(b, at + 2, order)) >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			at += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		put_utf8(out, c);
	}
	if (at < b.len)
		put_utf8(out, 0xfffd);
}

void pm_textlines_decode(struct pm_bytes head, struct pm_text *out)
{
	char order = pm_textlines_order(head);
	if (order)
		decode((struct pm_bytes){head.p + 2, head.len - 2}, order, out);
	else if (head.len >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0)
		pm_text_add(out, head.p + 3, head.len - 3);
	else
		pm_text_bytes(out, head);
}

/* ---- lines ---- */

/* The position of the line end from `at` on, or w.len. */
static size_t find_end(const struct pm_textlines *l, struct pm_bytes w, size_t at)
{
	if (!l->order) {
		const uint8_t *end = memchr(w.p + at, '\n', w.len - at);
		return end ? (size_t)(end - w.p) : w.len;
	}
	for (; at + 1 < w.len; at += 2)
		if (unit_at(w, at, l->order) == '\n')
			return at;
	return w.len;
}

/* Skips the rest of a line that is too long. */
static void skip_line(struct pm_textlines *l)
{
	size_t unit = l->order ? 2 : 1;
	for (;;) {
		struct pm_bytes w = pm_inflate_peek(l->stream, unit);
		if (w.len < unit)
			return;
		size_t end = find_end(l, w, 0);
		pm_inflate_consume(l->stream, end < w.len ? end + unit : w.len & ~(unit - 1));
		if (end < w.len)
			return;
	}
}

/* The usual case: a whole line of bytes that the window has already. */
static bool take_whole(struct pm_textlines *l, struct pm_bytes *ret)
{
	struct pm_bytes ahead = pm_textlines_ahead(l);
	const uint8_t *end = ahead.len ? memchr(ahead.p, '\n', ahead.len) : NULL;
	if (!end)
		return false;
	size_t n = (size_t)(end - ahead.p);
	*ret = (struct pm_bytes){ahead.p, n && end[-1] == '\r' ? n - 1 : n};
	pm_textlines_took(l, n + 1);
	return true;
}

int pm_textlines_next(struct pm_textlines *l, struct pm_bytes *ret)
{
	size_t unit = l->order ? 2 : 1, want = 1, from = 0, end;
	struct pm_bytes w;
	if (take_whole(l, ret))
		return 1;
	pm_inflate_consume(l->stream, l->used);
	l->used = 0;
	l->rest = (struct pm_bytes){NULL, 0};
	if (l->long_line)
		skip_line(l);
	l->long_line = false;
	l->offset = pm_inflate_status(l->stream).out;
	for (;;) {
		w = pm_inflate_peek(l->stream, want);
		end = find_end(l, w, from);
		if (end < w.len || w.len < want || w.len >= PM_LIMIT_WINDOW)
			break;
		from = w.len & ~(unit - 1);
		want = w.len + (w.len < PM_TEXTLINES_STEP ? PM_TEXTLINES_STEP : w.len);
		want = want > PM_LIMIT_WINDOW ? PM_LIMIT_WINDOW : want;
	}
	if (pm_inflate_status(l->stream).state == PM_INFLATE_FAILED)
		return -ENOMEM;
	if (w.len == 0)
		return 0;
	l->cut = end == w.len;
	l->long_line = l->cut && w.len >= PM_LIMIT_WINDOW;
	l->used = l->cut ? w.len : end + unit;
	l->number++;
	*ret = (struct pm_bytes){w.p, end};
	l->next = l->offset + l->used;
	if (!l->order && !l->cut)
		l->rest = (struct pm_bytes){w.p + l->used, w.len - l->used};
	if (l->order) {
		pm_text_clear(&l->utf8);
		decode(*ret, l->order, &l->utf8);
		if (l->utf8.failed)
			return -ENOMEM;
		*ret = pm_text_view(&l->utf8);
	}
	if (ret->len > 0 && ret->p[ret->len - 1] == '\r')
		ret->len--;
	return 1;
}
