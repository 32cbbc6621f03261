/*
 * CBOR (RFC 8949) as a stream of events, for data that may be a section of a longer stream: a
 * sequence of top-level items, arrays left open at the end, breaks of arrays that were opened
 * before the section. Several parts can be fed one after another; open containers stay open between
 * them.
 *
 * Not recursive: open containers are on an explicit stack, with a depth limit set by the caller.
 * Rejected as malformed: reserved initial bytes, maps and strings of indefinite length, unassigned
 * simple values, text that is not UTF-8, a break or the end of a part inside a counted item.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_CBOR_H
#define PROFMOUNT_FORMATS_COMMON_CBOR_H

#include "formats/common/cursor.h"
#include "formats/common/text.h"
#include "profmount/error.h"

enum pm_cbor_kind {
	PM_CBOR_UINT,   /* u */
	PM_CBOR_NEGINT, /* -1 - u */
	PM_CBOR_BYTES,
	PM_CBOR_TEXT,
	PM_CBOR_ARRAY, /* u items follow, then its end */
	PM_CBOR_INDEF, /* an array of indefinite length: items follow, then its end */
	PM_CBOR_MAP,   /* u pairs follow, then its end */
	PM_CBOR_TAG,   /* tag u; one item follows, then its end */
	PM_CBOR_FALSE,
	PM_CBOR_TRUE,
	PM_CBOR_NULL,
	PM_CBOR_UNDEFINED,
	PM_CBOR_FLOAT, /* f */
	PM_CBOR_END,   /* of the innermost open array, map or tag */
	PM_CBOR_BREAK, /* a break while nothing is open */
};

struct pm_cbor_event {
	enum pm_cbor_kind kind;
	enum pm_cbor_kind of; /* of PM_CBOR_END: what ends */
	bool open;            /* of PM_CBOR_END: the data ended without its break */
	size_t at;            /* offset of the item in the part */
	uint64_t u;
	double f;
	struct pm_bytes bytes; /* of BYTES and TEXT: a slice of the part */
};

struct pm_cbor {
	struct pm_cur in;
	struct pm_cbor_level *levels; /* open containers, outermost first */
	uint32_t depth;
	uint32_t room;
	uint32_t limit;
	uint32_t deepest; /* the highest number of levels open at once */
	bool not_finite;  /* there was a NaN or an infinity */
	uint32_t unasked; /* items since the last check for cancellation */
};

/* `limit`: the number of arrays, maps and tags that may be open at once. Free with pm_cbor_done. */
void pm_cbor_init(struct pm_cbor *c, uint32_t limit);

/* Continues with `part`, which must outlive its events. */
void pm_cbor_feed(struct pm_cbor *c, struct pm_bytes part);

/*
 * The next event: 1, 0 at the end of the part, -EINVAL with the reason and the offset in the part,
 * -ENOMEM.
 */
int pm_cbor_next(struct pm_cbor *c, struct pm_cbor_event *ret, struct pm_error *err);

/*
 * Passes over integers of one byte that follow where any number of items may be: events that the
 * caller would ignore. A payload that consists of them may be 340 times as long as its chunk.
 */
void pm_cbor_skip_small(struct pm_cbor *c);

/*
 * Call this after the last part: 1 with the PM_CBOR_END of an open container, 0 if none is left,
 * -EINVAL if the data ends inside a counted item.
 */
int pm_cbor_finish(struct pm_cbor *c, struct pm_cbor_event *ret, struct pm_error *err);

void pm_cbor_done(struct pm_cbor *c);

/*
 * For consumers that recognise a tag with an array of indefinite length by its two bytes, and its
 * end by one: they may move `in` over any number of them, if these are nested directly and the
 * outermost one is where an item may be, and then report how many are open, within the limit. They
 * also update `deepest`. 0 or -ENOMEM.
 */
int pm_cbor_push_tagged(struct pm_cbor *c, uint32_t n);

/* Ends such a tag; false, without any effect, if the data has something else there. */
bool pm_cbor_end_tagged(struct pm_cbor *c);

/* For consumers, if an item is not as expected: `what at byte N of the payload`. */
int pm_cbor_malformed(const struct pm_cbor_event *e, struct pm_error *err, const char *what);

/* Appends what comes behind the minus sign of a PM_CBOR_NEGINT: u + 1, which may need 65 bits. */
void pm_cbor_negated(uint64_t u, struct pm_text *out);

/* One initial byte and its argument; `low` is 31 for a break or an indefinite length. */
struct pm_cbor_head {
	uint8_t major;
	uint8_t low;
	uint64_t value;
};

/* Reads an argument of n bytes near the end of the data. */
uint64_t pm_cbor_read_last(struct pm_cur *in, size_t n);

/* For records of plain integers, without a decoder; false at the end or at a reserved byte. */
static inline bool pm_cbor_read_head(struct pm_cur *in, struct pm_cbor_head *ret)
{
	uint8_t first = pm_cur_u8(in), low = first & 31;
	size_t more = low >= 24 && low <= 27 ? (size_t)1 << (low - 24) : 0;
	const uint8_t *p = pm_cur_peek(in, 8);
	uint64_t value = low;
	if (more && p)
		value = pm_be64(p) >> (64 - 8 * more);
	else if (more)
		value = pm_cbor_read_last(in, more);
	in->at += p ? more : 0;
	*ret = (struct pm_cbor_head){.major = first >> 5, .low = low, .value = value};
	return !in->bad && (low < 28 || low == 31);
}

#endif
