/* Numbers as text, exact and fast; no locale, no printf. */
#ifndef PROFMOUNT_NUMBER_H
#define PROFMOUNT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of bytes written by these functions; the output is not NUL-terminated. */
#define PM_NUMBER_SIZE 32

/* Each writes at `out` (room for PM_NUMBER_SIZE) and returns the number of bytes written. */
size_t pm_u64_format(uint64_t u, char *out);
size_t pm_i64_format(int64_t i, char *out);

/* Lower case, at least `width` digits (1 to 16), no 0x. */
size_t pm_hex_format(uint64_t u, unsigned width, char *out);

/*
 * The shortest decimal that reads back to the same double (the nearest of the shortest ones).
 * Integral values up to 2^53 in magnitude: plain, without point or exponent; -0 is 0. Others
 * below 1e-5 or from 1e21 up have an exponent (1e-7, 2.5e+300). NaN and infinities: 0 bytes.
 */
size_t pm_f64_format(double f, char *out);

/* The results of the functions above, without writing text. O(1). */
static inline size_t pm_u64_length(uint64_t u)
{
	static const uint64_t powers[] = {0 /* which has a digit too */, 10U, 100U, 1000U, 10000U,
		100000U, 1000000U, 10000000U, 100000000U, 1000000000U, 10000000000U, 100000000000U,
		1000000000000U, 10000000000000U, 100000000000000U, 1000000000000000U,
		10000000000000000U, 100000000000000000U, 1000000000000000000U,
		10000000000000000000U};
	unsigned bits = 64 - (unsigned)__builtin_clzll(u | 1);
	unsigned below = bits * 1233 >> 12; /* bits × log10(2): right or one too low */
	return below + (u >= powers[below]);
}

size_t pm_i64_length(int64_t i);
size_t pm_hex_length(uint64_t u, unsigned width);
size_t pm_f64_length(double f);

#endif
