/*
 * A slice of memory: the one type for raw input and for text.
 *
 * A slice does not own its memory; the function that returns one defines how long it stays valid.
 * Text slices are not NUL-terminated and may contain any byte.
 */
#ifndef PROFMOUNT_BYTES_H
#define PROFMOUNT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pm_bytes {
	const uint8_t *p;
	size_t len;
};

/* The slice of a NUL-terminated string, without the NUL. NULL gives the empty slice. */
static inline struct pm_bytes pm_bytes_of(const char *s)
{
	return (struct pm_bytes){(const uint8_t *)s, s ? strlen(s) : 0};
}

/* The slice of a literal, where a constant is needed. */
#define PM_BYTES(s)                                                                                \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}

static inline bool pm_bytes_equal(struct pm_bytes a, struct pm_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Bytewise order; a prefix comes before longer slices. */
static inline int pm_bytes_compare(struct pm_bytes a, struct pm_bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.p, b.p, n) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

#endif
