/* Nanoseconds per double: pm_f64_format and pm_f64_length against snprintf %.17g, in one run. */
#include "formats/common/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 20 };

static double clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t random_u64(void)
{
	static uint64_t state = 1;
	state += 0x9e3779b97f4a7c15;
	uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double any_double(void)
{
	uint64_t bits;
	double f;
	do {
		bits = random_u64();
		memcpy(&f, &bits, sizeof(f));
	} while (!isfinite(f));
	return f;
}

static double any_count(void)
{
	return (double)(random_u64() >> (random_u64() % 53 + 11));
}

static double any_seconds(void)
{
	return (double)(random_u64() % 100000000000) / 1e6;
}

static double any_sum(void)
{
	return (double)(random_u64() % 100000000000) * 1e-9 * 3;
}

static size_t print_format(double f, char *out)
{
	return (size_t)snprintf(out, PM_NUMBER_SIZE, "%.17g", f);
}

static size_t length_only(double f, char *out)
{
	(void)out;
	return pm_f64_length(f);
}

static double run(const double *values, size_t (*format)(double, char *))
{
	char out[PM_NUMBER_SIZE];
	volatile size_t bytes = 0;
	double before = clock_ns();
	for (size_t i = 0; i < COUNT; i++)
		bytes += format(values[i], out);
	return (clock_ns() - before) / COUNT;
}

int main(void)
{
	static const struct {
		const char *name;
		double (*next)(void);
	} kinds[] = {
		{"random bits", any_double},
		{"integers", any_count},
		{"microseconds", any_seconds},
		{"sums", any_sum},
	};
	double *values = malloc(COUNT * sizeof(*values));
	if (!values)
		return 1;
	printf("%-14s%12s%12s%12s\n", "ns/double", "pm_format", "pm_length", "%.17g");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (size_t i = 0; i < COUNT; i++)
			values[i] = kinds[k].next();
		printf("%-14s%12.1f%12.1f%12.1f\n", kinds[k].name, run(values, pm_f64_format),
			run(values, length_only), run(values, print_format));
	}
	free(values);
	return 0;
}
