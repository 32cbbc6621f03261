#include "formats/common/utf8.h"

#include <string.h>

static bool is_tail(struct pm_bytes b, size_t at)
{
	return at < b.len && (b.p[at] & 0xc0) == 0x80;
}

/* The second byte has a narrower range after E0, ED, F0, F4: no overlong forms, no surrogates. */
static bool second_fits(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xe0: return second >= 0xa0;
	case 0xed: return second < 0xa0;
	case 0xf0: return second >= 0x90;
	case 0xf4: return second < 0x90;
	default: return true;
	}
}

size_t pm_utf8_next(struct pm_bytes b, size_t at)
{
	if (at >= b.len)
		return 0;
	uint8_t first = b.p[at];
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4 || !is_tail(b, at + 1) || !second_fits(first, b.p[at + 1]))
		return 0;
	if (first < 0xe0)
		return 2;
	if (!is_tail(b, at + 2))
		return 0;
	if (first < 0xf0)
		return 3;
	return is_tail(b, at + 3) ? 4 : 0;
}

bool pm_utf8_valid(struct pm_bytes b)
{
	for (size_t at = 0; at < b.len;) {
		size_t n = pm_utf8_next(b, at);
		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

static uint32_t code_of(const uint8_t *p, size_t n)
{
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

/* Beyond ASCII: C1, and the characters of Unicode 15 in Cf, Zl and Zp. */
static bool is_control(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x80, 0x9f}, {0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd},
		{0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x180e, 0x180e}, {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
		{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe007f}};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code <= ranges[i].last)
			return code >= ranges[i].first;
	return false;
}

size_t pm_utf8_shown(struct pm_bytes b, size_t at, bool *ret_shown)
{
	size_t n = pm_utf8_next(b, at);
	if (n <= 1)
		*ret_shown = n == 1 && b.p[at] >= 0x20 && b.p[at] != 0x7f;
	else
		*ret_shown = !is_control(code_of(b.p + at, n));
	return n ? n : 1;
}

void pm_shown_copy(char *out, size_t size, const char *s)
{
	struct pm_bytes b = pm_bytes_of(s);
	size_t len = 0;
	for (size_t at = 0; at < b.len;) {
		bool shown;
		size_t n = pm_utf8_shown(b, at, &shown);
		const char *from = shown ? s + at : PM_REPLACEMENT;
		size_t more = shown ? n : strlen(PM_REPLACEMENT);
		if (len + more >= size)
			break;
		memcpy(out + len, from, more);
		len += more;
		at += n;
	}
	out[len] = '\0';
}
