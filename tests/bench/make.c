#include "tests/bench/make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *out;

_Noreturn void make_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

uint64_t make_number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	if (end == text || *end) {
		errno = EINVAL;
		make_die(text);
	}
	return n;
}

void make_folder(const char *path)
{
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		make_die(path);
}

uint32_t make_mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

void out_open(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
	out = fopen(path, "wb");
	if (!out)
		make_die(path);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
}

void out_close(void)
{
	if (fclose(out) != 0)
		make_die("cannot write");
}

void out_bytes(const void *p, size_t n)
{
	if (fwrite(p, 1, n, out) != n)
		make_die("cannot write");
}

void out_int(uint64_t v, unsigned bytes)
{
	uint8_t b[8];
	for (unsigned i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	out_bytes(b, bytes);
}

void out_f64(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	out_int(bits, 8);
}

void out_zeros(uint64_t n)
{
	while (n-- > 0)
		out_int(0, 1);
}

void out_pad_to(uint64_t at)
{
	out_zeros(at - (uint64_t)ftello(out));
}
