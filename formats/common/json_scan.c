/*
 * Containers are passed over in blocks of 64 bytes, of which quotes, backslashes and brackets are
 * bits of a word: which bits lie inside texts is the parity of the quotes before them. This is the
 * method of simdjson (Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019).
 */
#include "formats/common/json_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/number.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"
#include "profmount/error.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK       64
#define ASKED_EVERY ((size_t)1 << 16) /* bytes between two checks for cancellation */

struct pm_scan pm_scan_of(struct pm_bytes b)
{
	bool marked = b.len >= 3 && memcmp(b.p, "\xef\xbb\xbf", 3) == 0;
	return (struct pm_scan){.b = b, .at = marked ? 3 : 0};
}

static void fail(struct pm_scan *s, int code, bool cut, const char *why)
{
	if (s->code)
		return;
	s->code = code;
	s->cut = cut;
	s->why = why;
}

/* Moves the window to `*keep`, which becomes 0. Whether there are more bytes in it then. */
static bool get_more(struct pm_scan *s, size_t *keep)
{
	if (s->code || !s->more)
		return false;
	size_t from = *keep, had = s->b.len - from;
	int e = pm_work_cancelled() ? PM_CANCELLED : s->more(s, from);
	if (e < 0) {
		fail(s, e, false, NULL);
		return false;
	}
	s->base += from;
	s->at -= from;
	*keep = 0;
	return s->b.len > had;
}

/*
 * The next byte that is no white space, nor one of `also`, or -1. What lies between it and `*keep`
 * remains in the window.
 */
static int next_byte(struct pm_scan *s, size_t *keep, char also)
{
	while (!s->code) {
		const uint8_t *p = s->b.p;
		size_t at = s->at, len = s->b.len;
		while (at < len && (p[at] <= ' ' || p[at] == (uint8_t)also))
			at++;
		s->at = at;
		if (at < len)
			return p[at];
		size_t here = at;
		if (!get_more(s, keep ? keep : &here))
			break;
	}
	return -1;
}

static void cut_here(struct pm_scan *s)
{
	if (!s->code)
		s->at = s->b.len;
	fail(s, -EINVAL, true, "the text ends here");
}

/* ---- texts ---- */

/* In each byte that is `c`, the highest bit; bits above the first such byte may be wrong. */
static inline uint64_t bytes_equal(uint64_t word, uint8_t c)
{
	uint64_t x = word ^ 0x0101010101010101u * c;
	return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* From `at`, which is in a text, to its next quote or backslash; the end of b if it has none. */
static size_t next_mark(struct pm_bytes b, size_t at)
{
	while (b.len - at >= 8) {
		uint64_t word = pm_le64(b.p + at);
		uint64_t found = bytes_equal(word, '"') | bytes_equal(word, '\\');
		if (found)
			return at + (size_t)__builtin_ctzll(found) / 8;
		at += 8;
		if (at % ASKED_EVERY < 8 && pm_work_cancelled())
			return at;
	}
	while (at < b.len && b.p[at] != '"' && b.p[at] != '\\')
		at++;
	return at;
}

/* A text, at its quote. `kept`: false if its bytes are not needed. */
static bool take_text(struct pm_scan *s, bool kept, struct pm_scan_value *ret)
{
	size_t start = ++s->at;
	for (;;) {
		s->at = next_mark(s->b, s->at);
		size_t left = s->b.len - s->at;
		if (left >= 1 && s->b.p[s->at] == '"')
			break;
		if (left >= 2 && s->b.p[s->at] == '\\') {
			ret->escaped = true;
			s->at += 2;
		} else if (pm_work_cancelled()) {
			fail(s, -ENOMEM, false, NULL);
			return false;
		} else if (left == 0 || s->b.p[s->at] == '\\') {
			if (kept && get_more(s, &start))
				continue;
			size_t from = s->at;
			if (!get_more(s, &from)) {
				cut_here(s);
				return false;
			}
			start = 0;
			ret->too_long |= kept;
			kept = false;
		}
	}
	ret->text = (struct pm_bytes){s->b.p + start, s->at - start};
	s->at++;
	return true;
}

/* ---- containers ---- */

struct nest {
	uint64_t depth;
	uint64_t inside;  /* all bits set: the next byte is in a text */
	uint64_t escaped; /* 1: the next byte is */
};

/* A bit for each of 64 bytes that is `c`, once `fold` is set in it. */
static inline uint64_t equal_bits(const uint8_t *p, uint8_t fold, uint8_t c)
{
	uint64_t bits = 0;
#ifdef __SSE2__
	__m128i folds = _mm_set1_epi8((char)fold), wanted = _mm_set1_epi8((char)c);
	for (unsigned i = 0; i < 4; i++) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
		v = _mm_cmpeq_epi8(_mm_or_si128(v, folds), wanted);
		bits |= (uint64_t)(unsigned)_mm_movemask_epi8(v) << 16 * i;
	}
#else
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu, ones = 0x0101010101010101u;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t x = (pm_le64(p + 8 * i) | ones * fold) ^ ones * c;
		uint64_t zero = ~(((x & low) + low) | x | low) >> 7;
		bits |= (zero * 0x0102040810204080u >> 56) << 8 * i;
	}
#endif
	return bits;
}

/* Bit i of the result is the parity of bits 0 to i. */
static inline uint64_t parities(uint64_t bits)
{
	for (unsigned i = 1; i < 64; i *= 2)
		bits ^= bits << i;
	return bits;
}

/* The bits behind a backslash that is not itself behind one. */
static inline uint64_t escapes(struct nest *n, uint64_t slashes)
{
	uint64_t escaped = n->escaped;
	slashes &= ~escaped;
	n->escaped = 0;
	while (slashes) {
		unsigned i = (unsigned)__builtin_ctzll(slashes);
		if (i == 63)
			n->escaped = 1;
		else
			escaped |= (uint64_t)2 << i;
		slashes &= i == 63 ? 0 : ~((uint64_t)3 << i);
	}
	return escaped;
}

/* One block: how many of its bytes belong to the container, 64 if it goes on. */
static inline unsigned nest_block(struct nest *n, const uint8_t *p)
{
	uint64_t slashes = equal_bits(p, 0, '\\'), quotes = equal_bits(p, 0, '"');
	if (slashes | n->escaped)
		quotes &= ~escapes(n, slashes);
	uint64_t inside = parities(quotes) ^ n->inside;
	n->inside = (uint64_t)((int64_t)inside >> 63);
	uint64_t opens = equal_bits(p, 0x20, '{') & ~inside;
	uint64_t closes = equal_bits(p, 0x20, '}') & ~inside;
	unsigned n_closes = (unsigned)__builtin_popcountll(closes);
	if (n->depth > n_closes) {
		n->depth += (unsigned)__builtin_popcountll(opens) - (uint64_t)n_closes;
		return BLOCK;
	}
	for (uint64_t both = opens | closes; both; both &= both - 1) {
		unsigned i = (unsigned)__builtin_ctzll(both);
		n->depth += closes >> i & 1 ? UINT64_MAX : 1;
		if (n->depth == 0)
			return i + 1;
	}
	return BLOCK;
}

/* The blocks that are in the window as a whole; true once the container has ended. */
static bool nest_blocks(struct pm_scan *s, struct nest *n)
{
	for (size_t asked = s->at; s->b.len - s->at >= BLOCK;) {
		s->at += nest_block(n, s->b.p + s->at);
		if (n->depth == 0)
			return true;
		if (s->at - asked < ASKED_EVERY)
			continue;
		asked = s->at;
		if (pm_work_cancelled()) {
			fail(s, -ENOMEM, false, NULL);
			return false;
		}
	}
	return false;
}

/* A container, at its bracket. `kept`: false if its bytes are not needed. */
static bool take_container(struct pm_scan *s, bool kept, struct pm_scan_value *ret)
{
	struct nest n = {0};
	size_t start = s->at;
	while (!nest_blocks(s, &n)) {
		if (kept && get_more(s, &start))
			continue;
		uint8_t last[BLOCK];
		size_t left = s->b.len - s->at;
		memset(last, ' ', sizeof(last));
		if (left)
			memcpy(last, s->b.p + s->at, left);
		struct nest ending = n;
		unsigned used = nest_block(&ending, last);
		if (!s->code && ending.depth == 0) {
			s->at += used;
			break;
		}
		/* It goes on: too long to be kept, if the text does not end here. */
		start = s->at;
		if (!get_more(s, &start)) {
			cut_here(s);
			return false;
		}
		ret->too_long |= kept;
		kept = false;
	}
	ret->text = (struct pm_bytes){s->b.p + start, s->at - start};
	return true;
}

/* ---- values ---- */

static bool in_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
		c == '+' || c == '.' || c == '_' || c == '$';
}

/* A number or a literal. One at the very end of a text is cut: there may have been more of it. */
static bool take_word(struct pm_scan *s, struct pm_scan_value *ret)
{
	size_t start = s->at;
	do {
		while (s->at < s->b.len && in_word(s->b.p[s->at]))
			s->at++;
	} while (s->at == s->b.len && get_more(s, &start));
	ret->text = (struct pm_bytes){s->b.p + start, s->at - start};
	if (s->at == s->b.len)
		cut_here(s);
	return !s->code;
}

static enum pm_scan_kind kind_of(uint8_t first)
{
	switch (first) {
	case '{': return PM_SCAN_OBJECT;
	case '[': return PM_SCAN_ARRAY;
	case '"': return PM_SCAN_TEXT;
	case 't': return PM_SCAN_TRUE;
	case 'f': return PM_SCAN_FALSE;
	case 'n': return PM_SCAN_NULL;
	default: break;
	}
	if ((first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.')
		return PM_SCAN_NUMBER;
	return in_word(first) ? PM_SCAN_WORD : PM_SCAN_NOTHING;
}

enum pm_scan_kind pm_scan_peek(struct pm_scan *s)
{
	int c = next_byte(s, NULL, ' ');
	return c < 0 ? PM_SCAN_NOTHING : kind_of((uint8_t)c);
}

bool pm_scan_enter(struct pm_scan *s)
{
	enum pm_scan_kind kind = pm_scan_peek(s);
	if (kind == PM_SCAN_OBJECT || kind == PM_SCAN_ARRAY) {
		s->at++;
		return true;
	}
	bool ends = s->at == s->b.len;
	fail(s, -EINVAL, ends, ends ? "the text ends here" : "an object or an array was expected");
	return false;
}

bool pm_scan_key(struct pm_scan *s, struct pm_bytes *ret)
{
	struct pm_scan_value key = {0};
	int c = next_byte(s, NULL, ',');
	if (c == '}') {
		s->at++;
		return false;
	}
	if (c != '"') {
		fail(s, -EINVAL, c < 0, c < 0 ? "the text ends here" : "a key was expected");
		return false;
	}
	if (!take_text(s, true, &key))
		return false;
	size_t start = (size_t)(key.text.p - s->b.p);
	c = next_byte(s, &start, ' ');
	if (c != ':') {
		fail(s, -EINVAL, c < 0, c < 0 ? "the text ends here" : "a colon was expected");
		return false;
	}
	s->at++;
	*ret = (struct pm_bytes){s->b.p + start, key.text.len};
	return true;
}

bool pm_scan_item(struct pm_scan *s)
{
	/* Nearly always there is one comma, and the value behind it. */
	if (s->b.len - s->at >= 2 && s->b.p[s->at] == ',' && s->b.p[s->at + 1] > ',' &&
		s->b.p[s->at + 1] != ']' && !s->code) {
		s->at++;
		return true;
	}
	int c = next_byte(s, NULL, ',');
	if (c < 0)
		cut_here(s);
	else if (c == ']')
		s->at++;
	return c >= 0 && c != ']';
}

bool pm_scan_top_item(struct pm_scan *s)
{
	return next_byte(s, NULL, ',') >= 0;
}

static bool take(struct pm_scan *s, bool kept, struct pm_scan_value *ret)
{
	*ret = (struct pm_scan_value){.kind = pm_scan_peek(s)};
	ret->at = pm_scan_where(s);
	if (s->code)
		return false;
	if (ret->kind == PM_SCAN_OBJECT || ret->kind == PM_SCAN_ARRAY)
		return take_container(s, kept, ret);
	if (ret->kind == PM_SCAN_TEXT)
		return take_text(s, kept, ret);
	if (ret->kind != PM_SCAN_NOTHING)
		return take_word(s, ret);
	bool ends = s->at == s->b.len;
	fail(s, -EINVAL, ends, ends ? "the text ends here" : "a value was expected");
	return false;
}

enum pm_scan_kind pm_scan_value(struct pm_scan *s, struct pm_scan_value *ret)
{
	static const char *const words[] = {
		[PM_SCAN_TRUE] = "true", [PM_SCAN_FALSE] = "false", [PM_SCAN_NULL] = "null"};
	if (!take(s, true, ret))
		*ret = (struct pm_scan_value){.at = ret->at};
	else if (ret->kind >= PM_SCAN_TRUE && ret->kind <= PM_SCAN_NULL &&
		!pm_bytes_equal(ret->text, pm_bytes_of(words[ret->kind])))
		ret->kind = PM_SCAN_WORD;
	return ret->kind;
}

bool pm_scan_skip(struct pm_scan *s)
{
	struct pm_scan_value v;
	return take(s, false, &v);
}

/* ---- texts as UTF-8 ---- */

static bool is_ascii(struct pm_bytes b)
{
	size_t at = 0;
	for (; b.len - at >= 8; at += 8)
		if (pm_le64(b.p + at) & 0x8080808080808080u)
			return false;
	while (at < b.len && b.p[at] < 0x80)
		at++;
	return at == b.len;
}

/* The four hexadecimal digits at `at`, or -1. */
static int32_t unit_at(struct pm_bytes b, size_t at)
{
	int32_t unit = 0;
	struct pm_bytes digits;
	if (!pm_bytes_sub(b, at, 4, &digits))
		return -1;
	for (size_t i = 0; i < 4; i++) {
		uint8_t c = digits.p[i], letter = (uint8_t)((c | 0x20) - 'a');
		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if (letter < 6)
			unit = unit << 4 | (letter + 10);
		else
			return -1;
	}
	return unit;
}

static void put_code(struct pm_text *out, uint32_t code)
{
	if (code < 0x80) {
		pm_text_char(out, (char)code);
		return;
	}
	unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const uint8_t firsts[] = {0, 0xc0, 0xe0, 0xf0};
	pm_text_char(out, (char)(firsts[more] | code >> 6 * more));
	while (more-- > 0)
		pm_text_char(out, (char)(0x80 | (code >> 6 * more & 0x3f)));
}

/* The escape at `at`, which is a backslash; returns its length. */
static size_t put_escape(struct pm_text *out, struct pm_bytes b, size_t at)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	char c = at + 1 < b.len ? (char)b.p[at + 1] : '\\';
	const char *found = c ? strchr(from, c) : NULL;
	int32_t unit = c == 'u' ? unit_at(b, at + 2) : -1;
	if (unit < 0) {
		/* Also \\ \/ \" and escapes that there are not: the character itself. */
		if (found || (uint8_t)c < 0x80)
			pm_text_char(out, found ? to[found - from] : c);
		return (uint8_t)c < 0x80 ? 2 : 1;
	}
	int32_t next = -1;
	if (unit >> 10 == 0xd800 >> 10 && at + 7 < b.len && b.p[at + 6] == '\\' &&
		b.p[at + 7] == 'u')
		next = unit_at(b, at + 8);
	if (next >= 0 && next >> 10 == 0xdc00 >> 10) {
		put_code(
			out, 0x10000 + ((uint32_t)(unit & 0x3ff) << 10 | (uint32_t)(next & 0x3ff)));
		return 12;
	}
	put_code(out, unit >> 11 == 0xd800 >> 11 ? 0xfffd : (uint32_t)unit);
	return 6;
}

struct pm_bytes pm_scan_unescape(const struct pm_scan_value *v, struct pm_text *scratch)
{
	struct pm_bytes b = v->text;
	if (!v->escaped && (is_ascii(b) || pm_utf8_valid(b)))
		return b;
	pm_text_clear(scratch);
	for (size_t at = 0; at < b.len;) {
		size_t end = at;
		while (end < b.len && b.p[end] != '\\')
			end++;
		struct pm_bytes plain = {b.p + at, end - at};
		if (is_ascii(plain))
			pm_text_bytes(scratch, plain);
		else
			pm_text_utf8(scratch, plain);
		at = end < b.len ? end + put_escape(scratch, b, end) : end;
	}
	return pm_text_view(scratch);
}

/* ---- numbers ---- */

/* A decimal number: its first 19 digits as an integer, times 10^exponent. */
struct decimal {
	bool negative;
	bool more; /* there are further digits that are not 0 */
	uint64_t digits;
	int64_t exponent;
};

#define MOST_DIGITS   19 /* that fit into 64 bits, whatever they are */
#define MOST_EXPONENT ((int64_t)1 << 40)

static bool read_exponent(struct pm_bytes b, size_t at, int64_t *ret)
{
	bool negative = at < b.len && b.p[at] == '-';
	if (at < b.len && (b.p[at] == '-' || b.p[at] == '+'))
		at++;
	if (at == b.len)
		return false;
	int64_t value = 0;
	for (; at < b.len; at++) {
		if (b.p[at] < '0' || b.p[at] > '9')
			return false;
		value = value < MOST_EXPONENT ? value * 10 + (b.p[at] - '0') : value;
	}
	*ret += negative ? -value : value;
	return true;
}

static bool read_decimal(struct pm_bytes b, struct decimal *ret)
{
	struct decimal d = {.negative = b.len && b.p[0] == '-'};
	size_t at = b.len && (b.p[0] == '-' || b.p[0] == '+'), n_digits = 0;
	bool any = false, point = false;
	for (; at < b.len; at++) {
		uint8_t digit = (uint8_t)(b.p[at] - '0');
		if (b.p[at] == '.' && !point) {
			point = true;
			continue;
		}
		if (digit > 9)
			break;
		any = true;
		if (n_digits == MOST_DIGITS) {
			d.more |= digit != 0;
			d.exponent += !point;
			continue;
		}
		d.digits = d.digits * 10 + digit;
		n_digits += d.digits != 0;
		d.exponent -= point;
	}
	*ret = d;
	if (!any || at == b.len)
		return any;
	return (b.p[at] | 0x20) == 'e' && read_exponent(b, at + 1, &ret->exponent);
}

static uint64_t power_of_ten(int64_t n)
{
	uint64_t power = 1;
	while (n-- > 0)
		power *= 10;
	return power;
}

enum pm_decimal pm_scan_decimal(struct pm_bytes number, int scale, int64_t *ret)
{
	struct decimal d;
	*ret = 0;
	if (!read_decimal(number, &d))
		return PM_DECIMAL_NONE;
	if (d.digits == 0)
		return PM_DECIMAL_EXACT;
	int64_t exponent = d.exponent + scale;
	bool rounded = d.more;
	uint64_t u = d.digits, most = (uint64_t)INT64_MAX + d.negative;
	bool beyond = exponent > MOST_DIGITS;
	if (exponent < -MOST_DIGITS) {
		rounded = true;
		u = 0;
	} else if (exponent < 0) {
		uint64_t unit = power_of_ten(-exponent), rest = u % unit;
		u /= unit;
		rounded |= rest != 0;
		/* Halves go up: away from 0 if positive, towards it if negative. */
		u += rest > unit / 2 || (rest == unit / 2 && (!d.negative || d.more));
	} else if (!beyond) {
		beyond = __builtin_mul_overflow(u, power_of_ten(exponent), &u);
	}
	if (beyond || u > most) {
		*ret = d.negative ? INT64_MIN : INT64_MAX;
		return PM_DECIMAL_BEYOND;
	}
	*ret = (int64_t)(d.negative ? 0 - u : u);
	return rounded ? PM_DECIMAL_ROUNDED : PM_DECIMAL_EXACT;
}

double pm_scan_double(struct pm_bytes number)
{
	struct decimal d;
	if (!read_decimal(number, &d))
		return NAN;
	char text[2 * PM_NUMBER_SIZE + 4];
	size_t n = 0;
	if (d.negative)
		text[n++] = '-';
	n += pm_u64_format(d.digits, text + n);
	text[n++] = 'e';
	int64_t exponent = d.exponent > 9999 ? 9999 : d.exponent < -9999 ? -9999 : d.exponent;
	n += pm_i64_format(d.digits ? exponent : 0, text + n);
	text[n] = '\0';
	return strtod(text, NULL);
}
