/*
 * Decompression: zlib streams, with ISA-L where it helps, blocks with libdeflate, and LZ4 blocks.
 * Independent of the contents.
 */
#include "formats/common/inflate.h"

#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST /* next_in is const */
#include <libdeflate.h>
#include <lz4.h>
#include <zlib.h>
#ifdef PM_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "formats/common/ahead.h"
#include "formats/common/unzstd.h"
#include "profmount/limits.h"

/*
 * ==== ISA-L ====
 * It inflates zlib streams twice as fast as zlib, if it was available at build time. If ISA-L
 * rejects a stream, zlib is used, which also gives the reason.
 */

#ifdef PM_HAVE_ISAL

struct pm_isal {
	struct inflate_state state;
	struct pm_bytes in;
};

/*
 * Opens a zlib stream (RFC 1950), which must outlive it. NULL if there is no ISA-L, or no memory.
 */
static struct pm_isal *isal_new(struct pm_bytes in)
{
	struct pm_isal *s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	isal_inflate_init(&s->state);
	s->state.crc_flag = ISAL_ZLIB;
	s->state.next_in = (uint8_t *)(uintptr_t)in.p; /* only read */
	s->in = in;
	return s;
}

/* Accepts NULL. Returns NULL. */
static struct pm_isal *isal_free(struct pm_isal *s)
{
	free(s);
	return NULL;
}

/* ISA-L counts input and output in 32 bits. */
static bool isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_ahead_step *ret)
{
	struct inflate_state *z = &s->state;
	uint32_t room = n < UINT_MAX ? (uint32_t)n : UINT_MAX;
	size_t left = s->in.len - (size_t)(z->next_in - s->in.p);
	z->avail_in = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
	z->next_out = out;
	z->avail_out = room;
	int r = isal_inflate(z);
	bool ended = z->block_state == ISAL_BLOCK_FINISH;
	size_t used = (size_t)(z->next_in - s->in.p);
	if (ended) /* whole bytes that were read ahead */
		used -= (size_t)(z->read_in_length > 0 ? z->read_in_length : 0) / 8;
	*ret = (struct pm_ahead_step){.n = room - z->avail_out,
		.in = used,
		.state = ended ? PM_INFLATE_ENDED : PM_INFLATE_MORE};
	return r == ISAL_DECOMP_OK && (ended || ret->n > 0);
}

#else

static struct pm_isal *isal_new(struct pm_bytes in)
{
	(void)in;
	return NULL;
}

static struct pm_isal *isal_free(struct pm_isal *s)
{
	(void)s;
	return NULL;
}

static bool isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_ahead_step *ret)
{
	(void)s, (void)out, (void)n, (void)ret;
	return false;
}

#endif

/*
 * ==== streams ====
 * Around zlib: sizes beyond 32 bits, bounded windows, and where and why a stream is broken.
 *
 * The window of a stream is a part of one buffer:
 *
 * 	buffer  [ consumed | window | room for more ]
 * 	                   ^from    ^to             ^room
 *
 * If there is too little room for a peek, the window moves to the front; if it fills the whole
 * buffer, the buffer doubles. It therefore grows only as far as the stream has data.
 *
 * From the second megabyte on, a thread inflates ahead; for shorter streams this does not pay.
 */

enum { AHEAD_FROM = 1024 * 1024, WINDOW_FIRST = 256 * 1024, GZIP_STEP = 64 * 1024 };

/* windowBits of inflateInit2: the size of the history, and the expected wrapper. */
enum { BITS_RAW = -15, BITS_ZLIB = 15, BITS_GZIP = 15 + 16 };

/* The decompressor; it belongs to the thread while there is one. */
struct source {
	z_stream z;
	struct pm_bytes in;
	enum pm_inflate_kind kind;
	struct pm_isal *isal; /* NULL: zlib inflates */
	struct pm_unzstd *zstd;
	uint64_t given; /* bytes produced by ISA-L */
	uint64_t again; /* how many of them zlib still has to produce again */
};

struct pm_inflate {
	struct source source;
	struct pm_ahead *ahead;    /* NULL: no thread */
	bool alone;                /* no thread will be started */
	struct pm_ahead_step last; /* its first `n` bytes are already in the window */
	uint8_t *buffer; /* NULL for a stored stream, where `from` and `to` are positions in `in` */
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

/* zlib counts its input in 32 bits. */
static void give_input(z_stream *z, struct pm_bytes in)
{
	size_t left = in.len - input_used(z, in);
	z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
}

enum pm_inflate_kind pm_inflate_kind_of(struct pm_bytes b)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	if (b.len >= 2 && b.p[0] == 0x1f && b.p[1] == 0x8b)
		return PM_INFLATE_GZIP;
	return b.len >= sizeof(zstd) && memcmp(b.p, zstd, sizeof(zstd)) == 0 ? PM_INFLATE_ZSTD
									     : PM_INFLATE_STORED;
}

struct pm_inflate *pm_inflate_new(enum pm_inflate_kind kind, struct pm_bytes in)
{
	static const uint8_t nothing[1];
	struct pm_inflate *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->source.kind = kind;
	s->source.in = in.p ? in : (struct pm_bytes){nothing, 0};
	if (kind == PM_INFLATE_STORED) {
		s->to = in.len;
		s->last.state = PM_INFLATE_ENDED;
		return s;
	}
	s->room = WINDOW_FIRST;
	s->buffer = malloc(s->room);
	s->source.z.next_in = s->source.in.p;
	if (!s->buffer || inflateInit2(&s->source.z, bits_of(kind)) != Z_OK) {
		free(s->buffer);
		free(s);
		return NULL;
	}
	if (kind == PM_INFLATE_ZSTD)
		s->source.zstd = pm_unzstd_new();
	if (kind == PM_INFLATE_ZLIB)
		s->source.isal = isal_new(s->source.in);
	return s;
}

struct pm_inflate *pm_inflate_free(struct pm_inflate *s)
{
	if (s && s->buffer) {
		pm_ahead_free(s->ahead);
		inflateEnd(&s->source.z);
		isal_free(s->source.isal);
		pm_unzstd_free(s->source.zstd);
		free(s->buffer);
	}
	free(s);
	return NULL;
}

/* ---- inflating: on the thread, where there is one ---- */

/* A member of a gzip stream has ended; another one may follow. */
static bool next_member(struct source *s)
{
	size_t at = input_used(&s->z, s->in);
	if (s->kind != PM_INFLATE_GZIP || s->in.len - at < 2)
		return false;
	return s->in.p[at] == 0x1f && s->in.p[at + 1] == 0x8b && inflateReset(&s->z) == Z_OK;
}

static struct pm_ahead_step inflate_by_zlib(struct source *s, uint8_t *out, size_t n)
{
	const char *why = NULL;
	uInt room = n < UINT_MAX ? (uInt)n : UINT_MAX;
	give_input(&s->z, s->in);
	s->z.next_out = out;
	s->z.avail_out = room;
	int r = inflate(&s->z, Z_NO_FLUSH);
	struct pm_ahead_step step = {.n = room - s->z.avail_out, .in = input_used(&s->z, s->in)};
	if (r == Z_STREAM_END && !next_member(s))
		step.state = PM_INFLATE_ENDED;
	else if (r == Z_DATA_ERROR)
		why = s->z.msg ? s->z.msg : "the compressed stream is damaged";
	else if (r == Z_NEED_DICT)
		why = "the compressed stream needs a preset dictionary";
	else if (r == Z_MEM_ERROR)
		step.state = PM_INFLATE_FAILED;
	else if (r == Z_BUF_ERROR || (s->z.avail_out > 0 && step.in == s->in.len))
		why = "the compressed stream is cut";
	if (why)
		step.state = PM_INFLATE_BROKEN;
	step.why = why;
	return step;
}

/* Output that has been delivered before is skipped. */
static void drop_again(struct source *s, uint8_t *out, struct pm_ahead_step *step)
{
	size_t n = step->n < s->again ? step->n : (size_t)s->again;
	s->again -= n;
	step->n -= n;
	memmove(out, out + n, step->n);
}

/* If ISA-L cannot continue, zlib starts from the beginning, and continues or reports the error. */
static struct pm_ahead_step inflate_once(void *self, uint8_t *out, size_t n)
{
	struct source *s = self;
	struct pm_ahead_step step;
	if (s->kind == PM_INFLATE_ZSTD)
		return pm_unzstd_step(s->zstd, s->in, out, n);
	if (s->isal && isal_step(s->isal, out, n, &step)) {
		s->given += step.n;
		return step;
	}
	if (s->isal) {
		s->isal = isal_free(s->isal);
		s->again = s->given;
	}
	step = inflate_by_zlib(s, out, n);
	if (s->again)
		drop_again(s, out, &step);
	return step;
}

/* ---- the window ---- */

/* True if there is room after the window; false at the limit or if out of memory. */
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
		s->last.state = PM_INFLATE_FAILED;
		return false;
	}
	s->buffer = grown;
	s->room *= 2;
	return true;
}

/* Fills the room after the window. */
static void fill(struct pm_inflate *s)
{
	uint8_t *room = s->buffer + s->to;
	size_t n = s->room - s->to;
	if (!s->alone && !s->ahead && s->out >= AHEAD_FROM) {
		s->ahead = pm_ahead_new(inflate_once, &s->source);
		s->alone = !s->ahead;
	}
	s->last = s->ahead ? pm_ahead_take(s->ahead, room, n) : inflate_once(&s->source, room, n);
	s->to += s->last.n;
}

struct pm_bytes pm_inflate_peek(struct pm_inflate *s, size_t min)
{
	while (s->to - s->from < min && s->last.state == PM_INFLATE_MORE && make_room(s))
		fill(s);
	const uint8_t *base = s->buffer ? s->buffer : s->source.in.p;
	return (struct pm_bytes){base + s->from, s->to - s->from};
}

void pm_inflate_consume(struct pm_inflate *s, size_t n)
{
	s->from += n;
	s->out += n;
}

struct pm_inflate_status pm_inflate_status(const struct pm_inflate *s)
{
	return (struct pm_inflate_status){.state = s->last.state,
		.in = s->buffer ? s->last.in : s->from,
		.out = s->out,
		.why = s->last.why};
}

/*
 * pm_inflate_block with zlib only: slower, unless the stream is damaged or gives more than n bytes.
 */
static int inflate_prefix(struct pm_bytes in, uint8_t *out, size_t n, struct pm_error *err)
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

/*
 * ==== blocks of known size ====
 * libdeflate is two to three times as fast as zlib if the whole stream and its output fit in
 * memory. It requires finished streams, but ours may only be flushed, so an empty final block is
 * appended to a copy of the input; a finished stream never reaches it. If libdeflate fails, zlib
 * decides and gives the reason.
 */

/* A final stored block without data. A flushed stream ends on a byte boundary. */
static const uint8_t last_block[] = {0x01, 0x00, 0x00, 0xff, 0xff};

/* Deflate adds at most 5 bytes per 64 KiB; longer input is not handled here. */
static bool is_plausible(size_t in, size_t out)
{
	return in > 0 && in / 2 <= out;
}

static bool inflate_whole(struct pm_bytes in, uint8_t *out, size_t n)
{
	bool done = false;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	uint8_t *copy = malloc(in.len + sizeof(last_block));
	if (d && copy) {
		memcpy(copy, in.p, in.len);
		memcpy(copy + in.len, last_block, sizeof(last_block));
		done = libdeflate_deflate_decompress(d, copy, in.len + sizeof(last_block), out, n,
			       NULL) == LIBDEFLATE_SUCCESS;
	}
	free(copy);
	if (d)
		libdeflate_free_decompressor(d);
	return done;
}

int pm_inflate_block(struct pm_bytes in, uint8_t *out, size_t n, struct pm_error *err)
{
	if (is_plausible(in.len, n) && inflate_whole(in, out, n))
		return 0;
	return inflate_prefix(in, out, n, err);
}

uint32_t pm_crc32(uint32_t crc, struct pm_bytes b)
{
	return b.len ? libdeflate_crc32(crc, b.p, b.len) : crc;
}

/* ==== raw LZ4 blocks ==== */

bool pm_unlz4(struct pm_bytes in, uint8_t *out, size_t size)
{
	if (in.len > INT_MAX || size > INT_MAX)
		return false;
	int n = LZ4_decompress_safe((const char *)in.p, (char *)out, (int)in.len, (int)size);
	return n >= 0 && (size_t)n == size;
}
