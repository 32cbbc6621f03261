/*
 * zlib, wrapped: sizes beyond 32 bits, bounded windows, and an answer to "where and why did it
 * break". Knows nothing of what the bytes mean.
 *
 * The window of a stream is a part of one buffer:
 *
 *	buffer  [ consumed | window | room for more ]
 *	                   ^from    ^to             ^room
 *
 * When it is too short for a peek, the window moves to the front; when it fills the whole buffer,
 * the buffer doubles. So it grows only as far as the stream really delivers.
 */
#include "formats/common/inflate.h"

#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

#include "profmount/limits.h"

enum { WINDOW_FIRST = 256 * 1024, GZIP_STEP = 64 * 1024 };

/* windowBits of inflateInit2: the size of the history, and which wrapper is expected. */
enum { BITS_RAW = -15, BITS_ZLIB = 15, BITS_GZIP = 15 + 16 };

struct pm_inflate {
	z_stream z;
	struct pm_bytes in;
	enum pm_inflate_kind kind;
	enum pm_inflate_state state;
	const char *why;
	uint8_t *buffer; /* NULL for a stored stream: there `from` and `to` are places in `in` */
	size_t from, to, room;
	uint64_t out;
};

static int bits_of(enum pm_inflate_kind kind)
{
	return kind == PM_INFLATE_RAW ? BITS_RAW : kind == PM_INFLATE_GZIP ? BITS_GZIP : BITS_ZLIB;
}

static size_t input_used(const z_stream *z, struct pm_bytes in)
{
	return (size_t)(z->next_in - in.p);
}

/* zlib counts what it may read in 32 bits. */
static void give_input(z_stream *z, struct pm_bytes in)
{
	size_t left = in.len - input_used(z, in);
	z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
}

struct pm_inflate *pm_inflate_new(enum pm_inflate_kind kind, struct pm_bytes in)
{
	static const uint8_t nothing[1];
	struct pm_inflate *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->kind = kind;
	s->in = in.p ? in : (struct pm_bytes){nothing, 0};
	if (kind == PM_INFLATE_STORED) {
		s->to = in.len;
		s->state = PM_INFLATE_ENDED;
		return s;
	}
	s->room = WINDOW_FIRST;
	s->buffer = malloc(s->room);
	s->z.next_in = s->in.p;
	if (!s->buffer || inflateInit2(&s->z, bits_of(kind)) != Z_OK) {
		free(s->buffer);
		free(s);
		return NULL;
	}
	return s;
}

struct pm_inflate *pm_inflate_free(struct pm_inflate *s)
{
	if (s && s->buffer)
		inflateEnd(&s->z);
	if (s)
		free(s->buffer);
	free(s);
	return NULL;
}

static void broke(struct pm_inflate *s, const char *why)
{
	s->state = PM_INFLATE_BROKEN;
	s->why = why;
}

/* True with room behind the window, false at the limit or without memory. */
static bool make_room(struct pm_inflate *s)
{
	if (s->from) {
		memmove(s->buffer, s->buffer + s->from, s->to - s->from);
		s->to -= s->from;
		s->from = 0;
	}
	if (s->to < s->room)
		return true;
	if (s->room >= PM_LIMIT_WINDOW)
		return false;
	uint8_t *grown = realloc(s->buffer, s->room * 2);
	if (!grown) {
		broke(s, "no memory to inflate it");
		return false;
	}
	s->buffer = grown;
	s->room *= 2;
	return true;
}

/* One member of a gzip stream ended; another may follow. */
static bool next_member(struct pm_inflate *s)
{
	size_t at = input_used(&s->z, s->in);
	if (s->kind != PM_INFLATE_GZIP || s->in.len - at < 2)
		return false;
	return s->in.p[at] == 0x1f && s->in.p[at + 1] == 0x8b && inflateReset(&s->z) == Z_OK;
}

/* Inflates once into the room behind the window. */
static void step(struct pm_inflate *s)
{
	uInt room = (uInt)(s->room - s->to);
	give_input(&s->z, s->in);
	s->z.next_out = s->buffer + s->to;
	s->z.avail_out = room;
	int r = inflate(&s->z, Z_NO_FLUSH);
	s->to += room - s->z.avail_out;
	if (r == Z_STREAM_END && !next_member(s))
		s->state = PM_INFLATE_ENDED;
	else if (r == Z_DATA_ERROR)
		broke(s, s->z.msg ? s->z.msg : "the compressed stream is damaged");
	else if (r == Z_NEED_DICT)
		broke(s, "the compressed stream needs a preset dictionary");
	else if (r == Z_MEM_ERROR)
		broke(s, "no memory to inflate it");
	else if (r == Z_BUF_ERROR || (s->z.avail_out > 0 && input_used(&s->z, s->in) == s->in.len))
		broke(s, "the compressed stream is cut");
}

struct pm_bytes pm_inflate_peek(struct pm_inflate *s, size_t min)
{
	while (s->to - s->from < min && s->state == PM_INFLATE_MORE && make_room(s))
		step(s);
	const uint8_t *base = s->buffer ? s->buffer : s->in.p;
	return (struct pm_bytes){base + s->from, s->to - s->from};
}

void pm_inflate_consume(struct pm_inflate *s, size_t n)
{
	s->from += n;
	s->out += n;
}

struct pm_inflate_status pm_inflate_status(const struct pm_inflate *s)
{
	return (struct pm_inflate_status){.state = s->state,
		.in = s->buffer ? input_used(&s->z, s->in) : s->from,
		.out = s->out,
		.why = s->why};
}

int pm_inflate_block(struct pm_bytes in, uint8_t *out, size_t n, struct pm_error *err)
{
	z_stream z = {.next_in = in.p};
	size_t done = 0, before;
	int r = Z_OK;
	if (inflateInit2(&z, BITS_RAW) != Z_OK)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory to inflate it");
	do {
		size_t left = n - done;
		before = done + input_used(&z, in);
		give_input(&z, in);
		z.next_out = out + done;
		z.avail_out = left < UINT_MAX ? (uInt)left : UINT_MAX;
		r = inflate(&z, Z_NO_FLUSH);
		done = (size_t)(z.next_out - out);
	} while (r == Z_OK && done < n && done + input_used(&z, in) > before);
	size_t used = input_used(&z, in);
	const char *why = r == Z_DATA_ERROR ? "the compressed data is damaged"
		: r == Z_STREAM_END         ? "the compressed data ends too early"
					    : "the compressed data is cut";
	inflateEnd(&z);
	if (done == n)
		return 0;
	return pm_error_set(err, r == Z_MEM_ERROR ? -ENOMEM : -EINVAL, NULL, used,
		"%s: %zu of %zu bytes", why, done, n);
}

uint32_t pm_crc32(uint32_t crc, struct pm_bytes b)
{
	return b.len ? (uint32_t)crc32_z(crc, b.p, b.len) : crc;
}

void pm_gzip(struct pm_text *out, struct pm_bytes in)
{
	z_stream z = {.next_in = in.p};
	int r = deflateInit2(
		&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, BITS_GZIP, 8, Z_DEFAULT_STRATEGY);
	out->failed |= r != Z_OK;
	while (r == Z_OK) {
		uint8_t *room = (uint8_t *)pm_text_reserve(out, GZIP_STEP);
		if (!room)
			break;
		give_input(&z, in);
		bool last = z.avail_in == in.len - input_used(&z, in);
		z.next_out = room;
		z.avail_out = GZIP_STEP;
		r = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
		out->len += GZIP_STEP - z.avail_out;
	}
	out->failed |= r != Z_STREAM_END;
	deflateEnd(&z);
}
