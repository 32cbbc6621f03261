/*
 * Integers as text. The length is computed first (from the number of leading zeros and one
 * comparison), so digits are written to their final positions, two at a time from the end.
 */
#include "formats/common/number.h"

#include <string.h>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
				 "25262728293031323334353637383940414243444546474849"
				 "50515253545556575859606162636465666768697071727374"
				 "75767778798081828384858687888990919293949596979899";

static unsigned bit_length(uint64_t u)
{
	return 64 - (unsigned)__builtin_clzll(u | 1);
}

size_t pm_u64_format(uint64_t u, char *out)
{
	size_t len = pm_u64_length(u);
	char *p = out + len;
	for (; u >= 100; u /= 100)
		memcpy(p -= 2, two_digits + u % 100 * 2, 2);
	if (u >= 10)
		memcpy(out, two_digits + u * 2, 2);
	else
		*out = (char)('0' + u);
	return len;
}

/* |i|, also of INT64_MIN. */
static uint64_t magnitude(int64_t i)
{
	return i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
}

size_t pm_i64_length(int64_t i)
{
	return (i < 0) + pm_u64_length(magnitude(i));
}

size_t pm_i64_format(int64_t i, char *out)
{
	*out = '-';
	return (i < 0) + pm_u64_format(magnitude(i), out + (i < 0));
}

size_t pm_hex_length(uint64_t u, unsigned width)
{
	size_t len = (bit_length(u) + 3) / 4;
	return len < width ? width : len;
}

size_t pm_hex_format(uint64_t u, unsigned width, char *out)
{
	size_t len = pm_hex_length(u, width);
	for (size_t i = len; i-- > 0; u >>= 4)
		out[i] = "0123456789abcdef"[u & 15];
	return len;
}
