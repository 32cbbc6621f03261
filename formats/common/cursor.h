/*
 * The only way from input bytes to values. Check (pm_bytes_sub, pm_bytes_table, pm_bytes_cstr),
 * decode (loads at fixed offsets, or a cursor), use the native copy. No other file does pointer
 * arithmetic on input.
 */
#ifndef PROFMOUNT_CURSOR_H
#define PROFMOUNT_CURSOR_H

#include "profmount/bytes.h"

/* ---- the gate: ranges are (offset, length) ---- */

/* The part [off, off + len) of b; false, and an empty slice, if it is not inside b. */
static inline bool pm_bytes_sub(struct pm_bytes b, uint64_t off, uint64_t len, struct pm_bytes *ret)
{
	*ret = (struct pm_bytes){b.p, 0};
	if (off > b.len || len > b.len - off)
		return false;
	*ret = (struct pm_bytes){b.p + off, (size_t)len};
	return true;
}

/*
 * `count` records at `off`, `stride` bytes apart, of which the reader needs `need`: false if stride
 * < need, if the product overflows, or if they are not inside b.
 */
bool pm_bytes_table(struct pm_bytes b, uint64_t off, uint64_t count, uint64_t stride, uint64_t need,
	struct pm_bytes *ret);

/* Record i of a slice from pm_bytes_table; the caller ensures that i < count. */
static inline const uint8_t *pm_bytes_row(struct pm_bytes table, uint64_t i, uint64_t stride)
{
	return table.p + i * stride;
}

/* The text from `off` to the next NUL (excluded), within PM_LIMIT_STRING; false without a NUL. */
bool pm_bytes_cstr(struct pm_bytes b, uint64_t off, struct pm_bytes *ret);

/* Prefetches [off, off + len), as far as it is inside b, into the processor's cache. */
static inline void pm_bytes_prefetch(struct pm_bytes b, uint64_t off, uint64_t len)
{
	for (uint64_t at = 0; at < len && off < b.len && at < b.len - off; at += 64)
		__builtin_prefetch(b.p + off + at);
}

/*
 * Waits until all of it has been read from disk, for loops that do not check for cancellation;
 * false if the work has been cancelled (formats/common/work.h).
 */
bool pm_bytes_fetch(struct pm_bytes b);

/* ---- loads: unaligned, fixed byte order ---- */

static inline uint16_t pm_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t pm_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t pm_le64(const uint8_t *p)
{
	return pm_le32(p) | (uint64_t)pm_le32(p + 4) << 32;
}

static inline uint16_t pm_be16(const uint8_t *p)
{
	return (uint16_t)(p[1] | p[0] << 8);
}

static inline uint32_t pm_be32(const uint8_t *p)
{
	return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static inline uint64_t pm_be64(const uint8_t *p)
{
	return pm_be32(p + 4) | (uint64_t)pm_be32(p) << 32;
}

/* The double with these bits. */
static inline double pm_f64_of_bits(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline double pm_lef64(const uint8_t *p)
{
	return pm_f64_of_bits(pm_le64(p));
}

static inline double pm_bef64(const uint8_t *p)
{
	return pm_f64_of_bits(pm_be64(p));
}

/* ---- the cursor: sequential reading with sticky failure ---- */

/*
 * Once `bad`, every read returns 0 or an empty slice and does not move, so one test after a group
 * of fields is sufficient. Never loop on a count from the input before comparing it with what is
 * left.
 */
struct pm_cur {
	struct pm_bytes b;
	size_t at;
	bool big; /* byte order of u16 … f64 */
	bool bad; /* a read went beyond the end */
};

static inline struct pm_cur pm_cur_of(struct pm_bytes b, bool big)
{
	return (struct pm_cur){.b = b, .big = big};
}

static inline size_t pm_cur_left(const struct pm_cur *c)
{
	return c->bad ? 0 : c->b.len - c->at;
}

/* The next n bytes, or NULL (and bad). */
static inline const uint8_t *pm_cur_take(struct pm_cur *c, size_t n)
{
	if (c->bad || n > c->b.len - c->at) {
		c->bad = true;
		return NULL;
	}
	const uint8_t *p = c->b.p + c->at;
	c->at += n;
	return p;
}

/* The next n bytes without moving past them, or NULL. */
static inline const uint8_t *pm_cur_peek(const struct pm_cur *c, size_t n)
{
	return n > pm_cur_left(c) ? NULL : c->b.p + c->at;
}

static inline uint8_t pm_cur_u8(struct pm_cur *c)
{
	const uint8_t *p = pm_cur_take(c, 1);
	return p ? *p : 0;
}

static inline uint16_t pm_cur_u16(struct pm_cur *c)
{
	const uint8_t *p = pm_cur_take(c, 2);
	if (!p)
		return 0;
	return c->big ? pm_be16(p) : pm_le16(p);
}

static inline uint32_t pm_cur_u32(struct pm_cur *c)
{
	const uint8_t *p = pm_cur_take(c, 4);
	if (!p)
		return 0;
	return c->big ? pm_be32(p) : pm_le32(p);
}

static inline uint64_t pm_cur_u64(struct pm_cur *c)
{
	const uint8_t *p = pm_cur_take(c, 8);
	if (!p)
		return 0;
	return c->big ? pm_be64(p) : pm_le64(p);
}

double pm_cur_f64(struct pm_cur *c);

/* The next n bytes as a slice. */
struct pm_bytes pm_cur_bytes(struct pm_cur *c, size_t n);

/* Up to the next NUL, which is consumed and not part of the slice; bad if there is none. */
struct pm_bytes pm_cur_cstr(struct pm_cur *c);

#endif
