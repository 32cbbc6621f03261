/* Numbers as text. */
#include "formats/common/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * ==== integers ====
 * The length is computed first (from the number of leading zeros and one comparison), so digits are
 * written to their final positions, two at a time from the end.
 */

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

/*
 * ==== doubles ====
 * The shortest decimal that reads back, by Raffaello Giulietti's Schubfach.
 *
 * The interval of numbers that read back as the double v extends to the halfway points to its
 * neighbours. It is scaled by a power of ten such that it is between 1 and 10 units wide. It then
 * contains an integer, and at most one multiple of ten. The result is that multiple if there is
 * one, else the integer nearest to v. Scaling needs only 128 bits of the power of ten, because no
 * scaled double that is not an integer is close enough to one for further bits to matter.
 */

/* digits × 10^exponent; no trailing zeros. */
struct decimal {
	uint64_t digits;
	int exponent;
};

struct u128 {
	uint64_t high, low;
};

static struct u128 multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (struct u128){(uint64_t)(product >> 64), (uint64_t)product};
}

/* ---- powers of ten ---- */

enum {
	POWER_STEP = 27,               /* 5^26 is the last that leaves 64 bits a bit to spare */
	POWER_FIRST = -11 * POWER_STEP /* the exponent of great_powers[0] */
};

/* The first 192 bits of every POWER_STEP-th power of ten, most significant first. */
static const uint64_t great_powers[][3] = {
	{0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36},
	{0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7},
	{0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662},
	{0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418},
	{0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d},
	{0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396},
	{0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3},
	{0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec},
	{0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901},
	{0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8},
	{0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7},
	{0x8000000000000000, 0x0000000000000000, 0x0000000000000000},
	{0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000},
	{0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000},
	{0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28},
	{0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3},
	{0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f},
	{0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5},
	{0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c},
	{0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde},
	{0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47},
	{0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c},
	{0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37},
	{0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2},
};

/* 5^0 to 5^26. As first bits they are 10^0 to 10^26 as well. */
static const uint64_t small_powers[POWER_STEP] = {1U, 5U, 25U, 125U, 625U, 3125U, 15625U, 78125U,
	390625U, 1953125U, 9765625U, 48828125U, 244140625U, 1220703125U, 6103515625U, 30517578125U,
	152587890625U, 762939453125U, 3814697265625U, 19073486328125U, 95367431640625U,
	476837158203125U, 2384185791015625U, 11920928955078125U, 59604644775390625U,
	298023223876953125U, 1490116119384765625U};

/*
 * The first 128 bits of 10^k plus one in the last place, -292 <= k <= 324. A product of 192 and
 * 64 bits errs in its last 64 bits only, and for no k does a carry from there reach the first 128.
 */
static struct u128 power_of_ten(int k)
{
	unsigned index = (unsigned)(k - POWER_FIRST);
	const uint64_t *great = great_powers[index / POWER_STEP];
	uint64_t small = small_powers[index % POWER_STEP];
	small <<= __builtin_clzll(small);

	struct u128 last = multiply(great[2], small);
	unsigned __int128 middle = (unsigned __int128)great[1] * small + last.high;
	unsigned __int128 first = (unsigned __int128)great[0] * small + (uint64_t)(middle >> 64);
	if (!(first >> 127))
		first = first << 1 | ((uint64_t)middle >> 63);
	first++;
	return (struct u128){(uint64_t)(first >> 64), (uint64_t)first};
}

/* ---- the shortest decimal ---- */

/*
 * power × c / 2^128, rounded down, with the last bit set where anything was cut off: the excess
 * of the power counts for less than 2^-68, what is cut off, if anything, for more than 2^-66.
 */
static uint64_t scale(struct u128 power, uint64_t c)
{
	struct u128 low = multiply(power.low, c);
	unsigned __int128 product = (unsigned __int128)power.high * c + low.high;
	bool cut = (uint64_t)product != 0 || low.low >> 61 != 0;
	return (uint64_t)(product >> 64) | cut;
}

/* Inline, so that dividing by a constant is a multiplication. */
static inline void strip(struct decimal *d, uint64_t power, int zeros)
{
	if (d->digits % power == 0) {
		d->digits /= power;
		d->exponent += zeros;
	}
}

static struct decimal strip_zeros(struct decimal d)
{
	strip(&d, 100000000, 8);
	strip(&d, 100000000, 8);
	strip(&d, 10000, 4);
	strip(&d, 100, 2);
	strip(&d, 10, 1);
	return d;
}

/*
 * The shortest decimal between `low` and `high`, and of these the one nearest to v. All three are
 * in quarters of a unit 10^k.
 */
static struct decimal choose(uint64_t low, uint64_t v, uint64_t high, int k)
{
	uint64_t units = v / 4, tens = units / 10;
	if (units >= 10) {
		bool below_fits = low <= 40 * tens;
		bool above_fits = 40 * tens + 40 <= high;
		if (below_fits != above_fits)
			return strip_zeros((struct decimal){tens + above_fits, k + 1});
	}
	bool below_fits = low <= 4 * units;
	bool above_fits = 4 * units + 4 <= high;
	if (below_fits != above_fits)
		return (struct decimal){units + above_fits, k};
	uint64_t half = 4 * units + 2;
	bool up = v > half || (v == half && units % 2 == 1);
	return (struct decimal){units + up, k};
}

/*
 * Most doubles in profiles were decimals with a few places. If the nearest integer n to f × 10^9
 * has at most 15 digits, n and 10^9 are doubles, so n / 10^9 is rounded as n × 10^-9 would be when
 * it is read. If that is f, then no other decimal of up to 15 digits reads as f, so none is
 * shorter.
 */
static bool has_few_places(double f, struct decimal *ret)
{
	if (!(f < 999999))
		return false;
	uint64_t n = (uint64_t)(f * 1e9 + 0.5);
	*ret = (struct decimal){n, -9};
	return (double)n / 1e9 == f;
}

/* Of a positive finite double that is not integral or above 2^53. */
static struct decimal shortest(double f)
{
	struct decimal decimal;
	if (has_few_places(f, &decimal))
		return strip_zeros(decimal);
	uint64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	uint64_t c = bits & (((uint64_t)1 << 52) - 1);
	int q = (int)(bits >> 52 & 0x7ff);
	bool near_below = c == 0 && q > 1; /* a power of two: the neighbour below is nearer */
	if (q)
		c |= (uint64_t)1 << 52;
	q = (q ? q : 1) - 1075; /* f = c × 2^q */

	/* floor(log10(width of the interval)), floor(log2(10^-k)): exact over the range of q */
	int k = (q * 1262611 - (near_below ? 524031 : 0)) >> 22;
	int shift = q + (-k * 1741647 >> 19) + 1;
	struct u128 power = power_of_ten(-k);
	uint64_t low = scale(power, (4 * c - 2 + near_below) << shift);
	uint64_t v = scale(power, 4 * c << shift);
	uint64_t high = scale(power, (4 * c + 2) << shift);
	/* a tie is read as the neighbour whose last bit is 0: the ends belong to an even c */
	return choose(low + c % 2, v, high - c % 2, k);
}

/* ---- text ---- */

static bool is_plain_integer(double f)
{
	return f >= -0x1p53 && f <= 0x1p53 && f == (double)(int64_t)f;
}

/* The exponent that d, of n digits, has in scientific notation. */
static int scientific(struct decimal d, int n)
{
	return n - 1 + d.exponent;
}

static bool wants_exponent(int e)
{
	return e < -5 || e >= 21;
}

size_t pm_f64_length(double f)
{
	if (is_plain_integer(f))
		return pm_i64_length((int64_t)f);
	if (!isfinite(f))
		return 0;
	struct decimal d = shortest(fabs(f));
	size_t sign = signbit(f) ? 1 : 0, n = pm_u64_length(d.digits);
	int e = scientific(d, (int)n);
	if (wants_exponent(e)) /* d.ddde±x */
		return sign + n + (n > 1) + 2 + pm_u64_length((uint64_t)abs(e));
	if (e < 0) /* 0.00ddd */
		return sign + 1 + (size_t)-e + n;
	if (d.exponent >= 0) /* ddd00 */
		return sign + (size_t)e + 1;
	return sign + n + 1; /* d.ddd */
}

/* Writes n digits with a point after the first `whole`, unless these are all. */
static char *add_digits(char *p, uint64_t digits, size_t n, size_t whole)
{
	if (n == whole)
		return p + pm_u64_format(digits, p);
	pm_u64_format(digits, p + 1);
	memmove(p, p + 1, whole);
	p[whole] = '.';
	return p + n + 1;
}

static char *add_zeros(char *p, size_t n)
{
	memset(p, '0', n);
	return p + n;
}

size_t pm_f64_format(double f, char *out)
{
	if (is_plain_integer(f))
		return pm_i64_format((int64_t)f, out);
	if (!isfinite(f))
		return 0;
	struct decimal d = shortest(fabs(f));
	size_t n = pm_u64_length(d.digits);
	int e = scientific(d, (int)n);
	char *p = out;
	if (signbit(f))
		*p++ = '-';
	if (wants_exponent(e)) {
		p = add_digits(p, d.digits, n, 1);
		*p++ = 'e';
		*p++ = e < 0 ? '-' : '+';
		p += pm_u64_format((uint64_t)abs(e), p);
	} else if (e < 0) {
		p = add_zeros(p, (size_t)-e + 1);
		p[e] = '.';
		p = add_digits(p, d.digits, n, n);
	} else if (d.exponent >= 0) {
		p = add_digits(p, d.digits, n, n);
		p = add_zeros(p, (size_t)d.exponent);
	} else {
		p = add_digits(p, d.digits, n, (size_t)e + 1);
	}
	return (size_t)(p - out);
}
