#include "formats/common/utf8.h"

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
