/* formats/common/number: exact, shortest, and lengths that agree with the text. */
#include "formats/common/number.h"

#include "tests/unittest.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t random_state;

static uint64_t random_u64(void)
{
	random_state += 0x9e3779b97f4a7c15;
	uint64_t z = (random_state ^ random_state >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double f64_of(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* ---- integers ---- */

static void check_u64(uint64_t u)
{
	char want[PM_NUMBER_SIZE], got[PM_NUMBER_SIZE + 1];
	snprintf(want, sizeof(want), "%" PRIu64, u);
	size_t n = pm_u64_format(u, got);
	got[n] = 0;
	assert_string_equal(got, want);
	assert_int_equal(pm_u64_length(u), n);
}

static void check_i64(int64_t i)
{
	char want[PM_NUMBER_SIZE], got[PM_NUMBER_SIZE + 1];
	snprintf(want, sizeof(want), "%" PRId64, i);
	size_t n = pm_i64_format(i, got);
	got[n] = 0;
	assert_string_equal(got, want);
	assert_int_equal(pm_i64_length(i), n);
}

static void check_hex(uint64_t u, unsigned width)
{
	char want[PM_NUMBER_SIZE], got[PM_NUMBER_SIZE + 1];
	snprintf(want, sizeof(want), "%0*" PRIx64, (int)width, u);
	size_t n = pm_hex_format(u, width, got);
	got[n] = 0;
	assert_string_equal(got, want);
	assert_int_equal(pm_hex_length(u, width), n);
}

static void check_integer(uint64_t u)
{
	check_u64(u);
	check_i64((int64_t)u);
	check_i64((int64_t)(0 - u));
	for (unsigned width = 1; width <= 16; width += 5)
		check_hex(u, width);
}

static void test_integers_agree_with_printf_around_powers(void **state)
{
	for (unsigned shift = 0; shift < 64; shift++)
		for (uint64_t d = 0; d < 3; d++)
			check_integer(((uint64_t)1 << shift) + d - 1);
	uint64_t power = 1;
	for (unsigned digits = 0; digits < 20; digits++, power *= 10)
		for (uint64_t d = 0; d < 3; d++)
			check_integer(power + d - 1);
	check_integer(UINT64_MAX);
}

static void test_integers_of_every_size_agree_with_printf(void **state)
{
	for (int i = 0; i < 100000; i++)
		check_integer(random_u64() >> (random_u64() % 64));
}

static void test_hex_pads_to_each_width(void **state)
{
	for (unsigned width = 1; width <= 16; width++) {
		check_hex(0, width);
		check_hex(0xabc, width);
		check_hex(UINT64_MAX, width);
	}
}

/* ---- doubles ---- */

static size_t format_f64(double f, char *out)
{
	size_t n = pm_f64_format(f, out);
	out[n] = 0;
	assert_true(n < PM_NUMBER_SIZE);
	assert_int_equal(pm_f64_length(f), n);
	return n;
}

/* The significant digits of a number's text; returns how many. */
static size_t significant(const char *text, char *digits)
{
	size_t n = 0;
	for (; *text && *text != 'e'; text++)
		if (*text >= '0' && *text <= '9' && (n || *text != '0'))
			digits[n++] = *text;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = 0;
	return n;
}

static void check_reads_back(double f, const char *text)
{
	double back = strtod(text, NULL);
	if (memcmp(&back, &f, sizeof(f)) != 0)
		fail_msg("%a was written as %s", f, text);
}

/* One digit less never reads back; where printf's nearest of as many digits does, it is ours. */
static void check_f64(double f)
{
	char text[PM_NUMBER_SIZE + 1], digits[PM_NUMBER_SIZE];
	char other[64], other_digits[64];
	format_f64(f, text);
	check_reads_back(f, text);
	size_t n = significant(text, digits);
	if (n > 1) {
		snprintf(other, sizeof(other), "%.*e", (int)n - 2, f);
		if (strtod(other, NULL) == f)
			fail_msg("%a was written as %s, not as %s", f, text, other);
	}
	snprintf(other, sizeof(other), "%.*e", (int)n - 1, f);
	significant(other, other_digits);
	if (strtod(other, NULL) == f && strcmp(digits, other_digits) != 0)
		fail_msg("%a was written as %s, not as %s", f, text, other);
}

static void check_f64_and_neighbours(double f)
{
	check_f64(f);
	check_f64(nextafter(f, INFINITY));
	if (f > 0)
		check_f64(nextafter(f, 0));
}

static void test_f64_of_random_bits_is_shortest_and_reads_back(void **state)
{
	for (int i = 0; i < 1000000; i++) {
		double f = f64_of(random_u64());
		if (isfinite(f))
			check_f64(f);
	}
}

static void test_f64_of_random_decimals_is_shortest_and_reads_back(void **state)
{
	for (int i = 0; i < 200000; i++) {
		double power = pow(10, (double)(random_u64() % 24));
		check_f64((double)(random_u64() >> (random_u64() % 64)) / power);
	}
}

static void test_f64_around_every_power_of_two(void **state)
{
	for (int e = -1074; e <= 1023; e++)
		check_f64_and_neighbours(ldexp(1, e));
}

static void test_f64_around_every_power_of_ten(void **state)
{
	char text[PM_NUMBER_SIZE];
	for (int e = -323; e <= 308; e++) {
		for (int digit = 1; digit <= 9; digit++) {
			snprintf(text, sizeof(text), "%de%d", digit, e);
			double f = strtod(text, NULL);
			if (isfinite(f))
				check_f64_and_neighbours(f);
		}
	}
}

static void test_f64_of_the_smallest_and_largest(void **state)
{
	for (uint64_t bits = 1; bits < 20000; bits++) {
		check_f64(f64_of(bits));
		check_f64(f64_of(0x7ff0000000000000 - bits));
		check_f64(f64_of(0x0010000000000000 - 10000 + bits));
	}
}

/* Where scaling by a power of ten ends closest to an integer. */
static void test_f64_that_scales_to_almost_an_integer(void **state)
{
	check_f64(ldexp(8887055249355788, 664));
	check_f64(ldexp(8887055249355788, 665));
	check_f64(ldexp(6685530990800801, -867));
	check_f64(ldexp(5592117679628511, 164));
}

static const struct {
	double f;
	const char *text;
} f64_rows[] = {
	{0.0, "0"},
	{-0.0, "0"},
	{1, "1"},
	{-1, "-1"},
	{0.5, "0.5"},
	{-0.1, "-0.1"},
	{0.1 + 0.2, "0.30000000000000004"},
	{123456.789, "123456.789"},
	{1e-5, "0.00001"},
	{1.5e-5, "0.000015"},
	{-9.9e-6, "-9.9e-6"},
	{1e-7, "1e-7"},
	{9007199254740991.0, "9007199254740991"},
	{9007199254740992.0, "9007199254740992"},
	{-9007199254740992.0, "-9007199254740992"},
	{9007199254740994.0, "9007199254740994"},
	{4503599627370495.5, "4503599627370495.5"},
	{18446744073709551616.0, "18446744073709552000"},
	{-123456789012345680000.0, "-123456789012345680000"},
	{999999999999999900000.0, "999999999999999900000"},
	{1e21, "1e+21"},
	{2.5e300, "2.5e+300"},
	{DBL_MAX, "1.7976931348623157e+308"},
	{DBL_MIN, "2.2250738585072014e-308"},
	{-DBL_TRUE_MIN, "-5e-324"},
	{9.5367431640625e-7, "9.5367431640625e-7"},
	{2e23, "2e+23"},
	{9.007199254740993e16, "90071992547409940"},
	{NAN, ""},
	{INFINITY, ""},
	{-INFINITY, ""},
};

static void test_f64_has_the_documented_form(void **state)
{
	for (size_t i = 0; i < COUNT_OF(f64_rows); i++) {
		char text[PM_NUMBER_SIZE + 1];
		format_f64(f64_rows[i].f, text);
		assert_string_equal(text, f64_rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_agree_with_printf_around_powers),
		cmocka_unit_test(test_integers_of_every_size_agree_with_printf),
		cmocka_unit_test(test_hex_pads_to_each_width),
		cmocka_unit_test(test_f64_of_random_bits_is_shortest_and_reads_back),
		cmocka_unit_test(test_f64_of_random_decimals_is_shortest_and_reads_back),
		cmocka_unit_test(test_f64_around_every_power_of_two),
		cmocka_unit_test(test_f64_around_every_power_of_ten),
		cmocka_unit_test(test_f64_of_the_smallest_and_largest),
		cmocka_unit_test(test_f64_that_scales_to_almost_an_integer),
		cmocka_unit_test(test_f64_has_the_documented_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
