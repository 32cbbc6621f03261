/*
 * Bytes → one record. Every record is a tag and fields of four kinds: numbers of 1 to 5 bytes,
 * doubles, strings with a length, text up to a line feed. Only this file accesses the bytes of a
 * stream; it does not interpret the fields.
 *
 * A stream consists of tens of millions of records, mostly of 4 to 8 bytes, so there is one check
 * for each run of fixed fields (NYTP_HEAD) instead of one per field.
 */
#include "formats/nytprof/records.h"

#include <errno.h>

#include "formats/common/cursor.h"
#include "profmount/limits.h"

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
