/*
 * Bytes → records. Every record is a tag and fields of four kinds: numbers of 1 to 5 bytes,
 * doubles, strings with a length, text up to a line feed. A stream consists of tens of millions of
 * records, mostly of 4 to 8 bytes, so there is one check for each run of fixed fields (NYTP_HEAD)
 * instead of one per field.
 *
 * A stream begins uncompressed; after a `z` record the rest is one zlib stream, whose end is the
 * end of the profile, whatever follows. The last bytes, fewer than a record may need, are copied
 * and padded, so that the decoder needs no second version with more checks.
 */
#include "formats/nytprof/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "profmount/limits.h"

/* ==== one record ==== */

struct decoder {
	const uint8_t *p, *begin, *end;
	size_t need; /* more bytes must be available */
	bool bad;    /* a required string is missing */
};

static const uint8_t *varint_long(const uint8_t *p, uint32_t *ret)
{
	uint32_t first = p[0];
	if (first < 0xe0) {
		*ret = (first & 0x1f) << 16 | pm_be16(p + 1);
		return p + 3;
	}
	if (first < 0xff) {
		*ret = (first & 0x0f) << 24 | (uint32_t)pm_be16(p + 1) << 8 | p[3];
		return p + 4;
	}
	*ret = pm_be32(p + 1);
	return p + 5;
}

static inline const uint8_t *varint(const uint8_t *p, uint32_t *ret)
{
	if (*p < 0x80) {
		*ret = *p;
		return p + 1;
	}
	if (*p < 0xc0) {
		*ret = (*p & 0x3fu) << 8 | p[1];
		return p + 2;
	}
	return varint_long(p, ret);
}

const uint8_t *nytp_varint_decode(const uint8_t *p, uint32_t *ret)
{
	return varint(p, ret);
}

static inline const uint8_t *varints(const uint8_t *p, uint32_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p = varint(p, &ret[i]);
	return p;
}

static inline void take_varints(struct decoder *d, uint32_t *ret, size_t n)
{
	d->p = varints(d->p, ret, n);
}

static inline void take_doubles(struct decoder *d, bool swap, double *ret, size_t n)
{
	for (size_t i = 0; i < n; i++, d->p += 8)
		ret[i] = swap ? pm_bef64(d->p) : pm_lef64(d->p);
}

/* Requests `len` bytes from `p` on, and the fixed fields that may follow them. */
static bool have(struct decoder *d, const uint8_t *p, size_t len)
{
	size_t left = (size_t)(d->end - p);
	if (left >= NYTP_HEAD && len <= left - NYTP_HEAD)
		return true;
	d->need = (size_t)(p - d->begin) + len + NYTP_HEAD;
	return false;
}

/* False if the record cannot be decoded further: see d->need and d->bad. */
static bool take_string(struct decoder *d, struct pm_bytes *ret)
{
	uint32_t len;
	if (*d->p != '\'' && *d->p != '"') {
		d->bad = true;
		return false;
	}
	const uint8_t *text = varint(d->p + 1, &len);
	if (!have(d, text, len))
		return false;
	*ret = (struct pm_bytes){text, len};
	d->p = text + len;
	return true;
}

static void take_line(struct decoder *d, struct pm_bytes *ret)
{
	size_t left = (size_t)(d->end - d->p);
	size_t room = left < PM_LIMIT_STRING ? left : PM_LIMIT_STRING;
	const uint8_t *feed = memchr(d->p, '\n', room);
	if (!feed) {
		d->need = left < PM_LIMIT_STRING ? PM_LIMIT_STRING : 0;
		d->bad = left >= PM_LIMIT_STRING;
		return;
	}
	*ret = (struct pm_bytes){d->p, (size_t)(feed - d->p)};
	d->p = feed + 1;
}

static void take_sub_callers(struct decoder *d, bool swap, struct nytp_record *r)
{
	take_varints(d, r->u, 2);
	if (!take_string(d, &r->s[0]))
		return;
	take_varints(d, r->u + 2, 1);
	take_doubles(d, swap, r->f, 3);
	take_varints(d, r->u + 3, 1);
	take_string(d, &r->s[1]);
}

static void take_fields(struct decoder *d, bool swap, struct nytp_record *r)
{
	switch (r->tag) {
	case NYTP_TIME_BLOCK: take_varints(d, r->u, 5); break;
	case NYTP_DISCOUNT:
	case NYTP_DEFLATE: break;
	case NYTP_SUB_ENTRY: take_varints(d, r->u, 2); break;
	case NYTP_SUB_RETURN:
		take_varints(d, r->u, 1);
		take_doubles(d, swap, r->f, 2);
		take_string(d, &r->s[0]);
		break;
	case NYTP_SUB_CALLERS: take_sub_callers(d, swap, r); break;
	case NYTP_SUB_INFO:
		take_varints(d, r->u, 1);
		if (take_string(d, &r->s[0]))
			take_varints(d, r->u + 1, 2);
		break;
	case NYTP_SRC_LINE:
		take_varints(d, r->u, 2);
		take_string(d, &r->s[0]);
		break;
	case NYTP_NEW_FID:
		take_varints(d, r->u, 6);
		take_string(d, &r->s[0]);
		break;
	case NYTP_PID_START:
		take_varints(d, r->u, 2);
		take_doubles(d, swap, r->f, 1);
		break;
	case NYTP_PID_END:
		take_varints(d, r->u, 1);
		take_doubles(d, swap, r->f, 1);
		break;
	case NYTP_COMMENT:
	case NYTP_ATTRIBUTE:
	case NYTP_OPTION: take_line(d, &r->s[0]); break;
	default:
		d->p = d->begin;
		d->bad = true;
		break;
	}
}

int64_t nytp_record_decode(struct pm_bytes w, bool swap, struct nytp_record *ret, size_t *ret_need)
{
	ret->tag = w.p[0];
	if (ret->tag == NYTP_TIME_LINE) /* most records: handled first */
		return varints(w.p + 1, ret->u, 3) - w.p;
	struct decoder d = {.p = w.p + 1, .begin = w.p, .end = w.p + w.len};
	take_fields(&d, swap, ret);
	*ret_need = d.bad ? (size_t)(d.p - d.begin) : d.need;
	if (d.bad)
		return -EINVAL;
	return d.need ? 0 : d.p - d.begin;
}

/* ==== the stream ==== */

bool nytp_first_line(struct pm_bytes file, unsigned *ret_major, size_t *ret_len)
{
	char line[64];
	unsigned major, minor;
	size_t n = file.len < sizeof(line) - 1 ? file.len : sizeof(line) - 1;
	if (n)
		memcpy(line, file.p, n);
	line[n] = 0;
	char *feed = memchr(line, '\n', n);
	if (!feed || sscanf(line, "NYTProf %4u %4u", &major, &minor) != 2)
		return false;
	*ret_major = major;
	*ret_len = (size_t)(feed - line) + 1;
	return true;
}

/* What follows `at` in the file becomes the stream. */
static int source_set(struct nytp_stream *s, enum pm_inflate_kind kind, uint64_t at)
{
	struct pm_bytes rest;
	pm_inflate_free(s->in);
	s->in = NULL;
	pm_bytes_sub(s->file, at, s->file.len - at, &rest);
	s->base = at;
	s->at = s->limit = 0;
	s->w = (struct pm_bytes){NULL, 0};
	free(s->tail);
	s->tail = NULL;
	s->in = pm_inflate_new(kind, rest);
	return s->in ? 0 : -ENOMEM;
}

int nytp_stream_open(struct nytp_stream *s, struct pm_bytes file, size_t at)
{
	*s = (struct nytp_stream){.file = file};
	return source_set(s, PM_INFLATE_STORED, at);
}

void nytp_stream_close(struct nytp_stream *s)
{
	pm_inflate_free(s->in);
	free(s->tail);
	*s = (struct nytp_stream){.in = NULL};
}

uint64_t nytp_stream_done(const struct nytp_stream *s)
{
	struct pm_inflate_status status = pm_inflate_status(s->in);
	return s->base + status.in + (s->deflated ? 0 : s->at);
}

/* The position of the next record in the stream; if the file is not compressed, in the file. */
static uint64_t place(const struct nytp_stream *s)
{
	return (s->deflated ? 0 : s->base) + pm_inflate_status(s->in).out + s->at;
}

/*
 * Makes `need` bytes from the next record on available. False if the stream does not have them,
 * padding included; -ENOMEM is returned in *ret.
 */
static bool refill(struct nytp_stream *s, size_t need, int *ret)
{
	if (s->tail || need > PM_LIMIT_WINDOW)
		return false;
	pm_inflate_consume(s->in, s->at);
	s->at = 0;
	s->w = pm_inflate_peek(s->in, need);
	s->limit = s->w.len;
	if (s->w.len >= need)
		return true;
	if (s->w.len == 0 || need > s->w.len + NYTP_HEAD)
		return false;
	s->tail = calloc(1, s->limit + NYTP_HEAD);
	if (!s->tail) {
		*ret = -ENOMEM;
		return false;
	}
	memcpy(s->tail, s->w.p, s->limit);
	s->w = (struct pm_bytes){s->tail, s->limit + NYTP_HEAD};
	return true;
}

static int broken(const struct nytp_stream *s, const char *what, struct nytp_break *ret)
{
	struct pm_inflate_status in = pm_inflate_status(s->in);
	uint64_t end = s->file.len;
	ret->offset = !s->deflated              ? place(s)
		: in.state == PM_INFLATE_BROKEN ? s->base + in.in
						: s->base;
	ret->bytes = end - ret->offset;
	if (s->deflated)
		snprintf(ret->what, sizeof(ret->what), "%s, at inflated offset 0x%llx%s%s", what,
			(unsigned long long)place(s), in.why ? ": " : "", in.why ? in.why : "");
	else
		snprintf(ret->what, sizeof(ret->what), "%s", what);
	return -EINVAL;
}

/* No complete record is left: determines whether that is the end, truncation, or damage. */
static int finish(struct nytp_stream *s, struct nytp_break *ret_break)
{
	bool rest = s->at < s->limit;
	ret_break->cut = true;
	if (pm_inflate_status(s->in).state == PM_INFLATE_FAILED)
		return -ENOMEM;
	if (pm_inflate_status(s->in).state == PM_INFLATE_BROKEN)
		return broken(s, "the stream ends unexpectedly", ret_break);
	if (rest && s->limit - s->at > PM_LIMIT_WINDOW)
		return broken(s, "a record is longer than the limit", ret_break);
	return rest ? broken(s, "the stream ends within a record", ret_break) : 0;
}

static int unknown(struct nytp_stream *s, uint8_t tag, struct nytp_break *ret_break)
{
	char what[64];
	ret_break->cut = false;
	snprintf(what, sizeof(what), "no record begins with these bytes (tag 0x%02x)", tag);
	return broken(s, what, ret_break);
}

/* The next record if more has to be read first, or if there is none. */
static int next_carefully(
	struct nytp_stream *s, struct nytp_record *ret, struct nytp_break *ret_break)
{
	size_t need = NYTP_HEAD;
	int r = 0;
	for (;;) {
		if (s->w.len - s->at < need && !refill(s, need, &r))
			return r < 0 ? r : finish(s, ret_break);
		if (s->at == s->limit)
			return finish(s, ret_break);
		struct pm_bytes w = {s->w.p + s->at, s->w.len - s->at};
		int64_t used = nytp_record_decode(w, s->swap, ret, &need);
		if (used < 0 && need >= s->limit - s->at) /* in the padding */
			return finish(s, ret_break);
		if (used < 0 || (ret->tag == NYTP_DEFLATE && s->deflated))
			return unknown(s, ret->tag, ret_break);
		if (used == 0)
			continue;
		if ((size_t)used > s->limit - s->at)
			return finish(s, ret_break);
		s->at += (size_t)used;
		if (ret->tag != NYTP_DEFLATE)
			return 1;
		need = NYTP_HEAD;
		r = source_set(s, PM_INFLATE_ZLIB, place(s));
		if (r < 0)
			return r;
		s->deflated = true;
	}
}

int nytp_stream_next(struct nytp_stream *s, struct nytp_record *ret, struct nytp_break *ret_break)
{
	size_t need, left = s->limit - s->at;
	if (left < NYTP_HEAD)
		return next_carefully(s, ret, ret_break);
	struct pm_bytes w = {s->w.p + s->at, left};
	int64_t used = nytp_record_decode(w, s->swap, ret, &need);
	if (used <= 0 || ret->tag == NYTP_DEFLATE)
		return next_carefully(s, ret, ret_break);
	s->at += (size_t)used;
	return 1;
}
