/* A growing file of the writer: fields in one byte order, gaps full of garbage. */
#ifndef PROFMOUNT_TESTS_HPCTOOLKIT_OUT_H
#define PROFMOUNT_TESTS_HPCTOOLKIT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct out {
	uint8_t *p;
	size_t n, room;
	bool big;
	uint8_t garbage;
};

/* n bytes of garbage at the end; their offset. */
static inline size_t out_room(struct out *o, size_t n)
{
	size_t at = o->n;
	if (o->n + n > o->room) {
		o->room = 2 * o->room + n + 256;
		o->p = realloc(o->p, o->room);
		if (!o->p)
			abort();
	}
	memset(o->p + at, o->garbage, n);
	o->n += n;
	return at;
}

static inline void out_align(struct out *o, size_t to)
{
	while (o->n % to)
		out_room(o, 1);
}

/* An integer of `size` bytes at an offset that has room. */
static inline void out_set(struct out *o, size_t at, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		o->p[at + (o->big ? size - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

static inline void out_set_f64(struct out *o, size_t at, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	out_set(o, at, 8, bits);
}

static inline size_t out_string(struct out *o, const char *s)
{
	size_t at = out_room(o, strlen(s) + 1);
	memcpy(o->p + at, s, strlen(s) + 1);
	return at;
}

#endif
