#include "tests/fuzz/shape.h"

#include "formats/nytprof/stream.h"

enum { MOST_DEPTH = 200, MOST_COPIES = 300 };

uint64_t shape_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 29;
}

/* ---- numbers that are often wrong ---- */

static uint64_t number(uint64_t *random)
{
	static const uint64_t worst[] = {0, 1, 2, 0x17, 0x18, 0x7f, 0x80, 0xff, 0x100, 0xffff,
		0x10000, 0x1fffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
		INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	uint64_t r = shape_random(random);
	return r % 3 ? worst[r / 3 % (sizeof(worst) / sizeof(*worst))] : r / 3 % 300;
}

/* ---- CBOR ---- */

/* The head of an item: its own length, its number; 0 where it is cut. `*ret_open`: no length. */
static size_t head(struct pm_bytes b, size_t at, uint64_t *ret, bool *ret_open)
{
	unsigned low = at < b.len ? b.p[at] & 0x1f : 0;
	size_t n = low < 24 ? 0 : low < 28 ? (size_t)1 << (low - 24) : 0;
	*ret = low;
	*ret_open = low == 31;
	if (b.len <= at || b.len - at <= n)
		return 0;
	for (size_t i = 0; i < n; i++)
		*ret = (i ? *ret << 8 : 0) | b.p[at + 1 + i];
	return n + 1;
}

/* Returns where the item at `at` ends. */
static size_t item(struct shape *s, size_t at, unsigned depth)
{
	struct pm_bytes b = s->payload;
	uint64_t value;
	bool open;
	size_t own = head(b, at, &value, &open), mine = s->n;
	if (own == 0 || depth > MOST_DEPTH || s->n == SHAPE_PARTS)
		return b.len;
	unsigned major = b.p[at] >> 5;
	s->parts[s->n++].at = at;
	at += own;
	uint64_t within = major == 4 ? value : major == 5 ? 2 * (value & UINT32_MAX) : major == 6;
	if (open)
		within = major >= 2 && major <= 5 ? UINT64_MAX : 0;
	else if (major == 2 || major == 3)
		at += value < b.len - at ? (size_t)value : b.len - at;
	for (; within > 0 && at < b.len && s->n < SHAPE_PARTS; within--) {
		bool ends = open && b.p[at] == 0xff;
		at = ends ? at + 1 : item(s, at, depth + 1);
		if (ends)
			break;
	}
	s->parts[mine].len = at - s->parts[mine].at;
	return at;
}

static void with_head(struct pm_text *out, struct pm_bytes part, unsigned which, uint64_t value)
{
	uint64_t was;
	bool open;
	size_t own = head(part, 0, &was, &open);
	unsigned n = 1u << which % 4;
	pm_text_char(out, (char)((part.p[0] & 0xe0) | (24 + which % 4)));
	while (n-- > 0)
		pm_text_char(out, (char)(value >> 8 * n));
	pm_text_add(out, part.p + own, part.len - own);
}

void shape_cbor(struct shape *s, struct pm_bytes payload)
{
	size_t at = 0;
	s->payload = payload;
	s->n = 0;
	s->with_number = with_head;
	while (at < payload.len && s->n < SHAPE_PARTS)
		at = item(s, at, 0);
}

/* ---- records ---- */

static void put_varint(struct pm_text *out, uint32_t v)
{
	unsigned more = v < 0x80 ? 0 : v < 0x4000 ? 1 : v < 0x200000 ? 2 : v < 0x10000000 ? 3 : 4;
	static const uint8_t marks[] = {0, 0x80, 0xc0, 0xe0, 0xff};
	uint32_t top = more == 4 ? 0 : v >> 8 * more;
	pm_text_char(out, (char)(marks[more] | top));
	while (more-- > 0)
		pm_text_char(out, (char)(v >> 8 * more));
}

static void with_varint(struct pm_text *out, struct pm_bytes part, unsigned which, uint64_t value)
{
	uint8_t padded[NYTP_HEAD] = {0};
	memcpy(padded, part.p, part.len < sizeof(padded) ? part.len : sizeof(padded));
	const uint8_t *from = padded + 1;
	uint32_t was;
	for (which %= 6; which > 0; which--)
		from = nytp_varint_decode(from, &was);
	size_t kept = (size_t)(from - padded),
	       end = (size_t)(nytp_varint_decode(from, &was) - padded);
	if (end > part.len) {
		pm_text_bytes(out, part);
		return;
	}
	pm_text_add(out, part.p, kept);
	put_varint(out, (uint32_t)value);
	pm_text_add(out, part.p + end, part.len - end);
}

void shape_records(struct shape *s, struct pm_bytes payload)
{
	size_t at = 0, need;
	struct nytp_record record;
	s->payload = payload;
	s->n = 0;
	s->with_number = with_varint;
	while (payload.len - at > NYTP_HEAD && s->n < SHAPE_PARTS) {
		struct pm_bytes rest = {payload.p + at, payload.len - at};
		int64_t len = nytp_record_decode(rest, false, &record, &need);
		/* What is no record goes with the byte that is wrong. */
		size_t n = len > 0 && (size_t)len < rest.len ? (size_t)len : 1;
		s->parts[s->n++] = (struct shape_part){at, n};
		at += n;
	}
}

/* ---- changes ---- */

static void put_some(struct pm_text *out, const struct shape *s, size_t from, size_t to)
{
	if (from < to)
		pm_text_add(out, s->payload.p + from, to - from);
}

void shape_change(const struct shape *s, uint64_t *random, struct pm_text *out)
{
	if (s->n == 0) {
		pm_text_bytes(out, s->payload);
		return;
	}
	struct shape_part a = s->parts[shape_random(random) % s->n];
	struct shape_part b = s->parts[shape_random(random) % s->n];
	struct pm_bytes part = {s->payload.p + a.at, a.len};
	uint64_t r = shape_random(random), copies = r % MOST_COPIES;
	put_some(out, s, 0, a.at);
	switch (r / MOST_COPIES % 8) {
	case 0: break; /* left out */
	case 1:        /* often */
		for (uint64_t i = 0; i <= copies; i++)
			pm_text_bytes(out, part);
		break;
	case 2: put_some(out, s, b.at, b.at + b.len); break; /* another one instead */
	case 3:                                              /* another one before it */
		put_some(out, s, b.at, b.at + b.len);
		pm_text_bytes(out, part);
		break;
	case 4: /* only its beginning */
		pm_text_add(out, part.p, part.len ? shape_random(random) % part.len : 0);
		break;
	default: s->with_number(out, part, (unsigned)(r >> 12), number(random));
	}
	put_some(out, s, a.at + a.len, s->payload.len);
}
