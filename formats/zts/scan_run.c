/*
 * Most of a payload consists of plain calls. A run of them is taken in one loop, which recognises
 * them by their first bytes and has its state in registers. Whatever is not usual, is invalid, or
 * can fail ends the run: only zts_records_next decides on it.
 */
#include "formats/zts/scan_payload.h"

#include "formats/common/work.h"
#include "formats/zts/records.h"

enum {
	BETWEEN_QUESTIONS = 1 << 20, /* bytes */
	/* The two first bytes of what is usual, the first one lowest. */
	HEADS = 0xffff,
	NUMBER_HEADS = ZTS_HEAD_LONE_PAIR << 8 | ZTS_HEAD_INFO,
	RECORD_HEADS = ZTS_HEAD_INDEF << 8 | ZTS_HEAD_RECORD,
};

/* What changes with each record, and what does not. */
struct state {
	struct pm_cur in;          /* up to where to ask for cancellation */
	struct zts_open_record *r; /* the innermost */
	struct zts_open_record *deepest;
	struct zts_open_record *lowest; /* that may end: the reader knows of those around it */
	struct zts_open_record *beyond; /* behind the last that may be open */
};

/*
 * Branches on the width: numbers of a key usually have the same one, and so the processor reads on
 * before it has computed where the next item begins. Only eight bytes can be an invalid number.
 */
static inline bool take_number(
	struct zts_scan_run *run, struct state *s, const uint8_t *p, uint32_t head)
{
	uint32_t key = head >> 16 & 0xff, low = head >> 24;
	uint64_t value = low;
	if (key >= ZTS_KEYS)
		return false;
	if (low <= ZTS_SMALL_MOST) {
		s->in.at += 4;
	} else if (low == ZTS_FOUR_BYTES) {
		value = pm_be32(p + 4);
		s->in.at += 8;
	} else if (low == ZTS_TWO_BYTES) {
		value = pm_be16(p + 4);
		s->in.at += 6;
	} else if (low == ZTS_ONE_BYTE) {
		value = p[4];
		s->in.at += 5;
	} else {
		value = pm_be64(p + 4);
		if (low != ZTS_EIGHT_BYTES || zts_wrong_info(key, value))
			return false;
		s->in.at += 12;
	}
	zts_open_number(run, s->r, key, value);
	return true;
}

static inline bool begin(struct zts_scan_run *run, struct state *s, bool growing)
{
	if (s->r + 1 >= s->beyond)
		return false;
	if (growing) {
		struct zts_tree *t = run->growing->tree;
		const struct zts_record_event e = {.at = s->in.at};
		if (t->n >= t->room || t->n >= PM_LIMIT_TRACE_CALLS)
			return false;
		zts_growing_init_call(&t->calls[t->n], run->growing, &e);
		run->growing->open = t->n++;
	}
	zts_open_begin(run, ++s->r, (uint32_t)s->in.at);
	s->deepest = s->r > s->deepest ? s->r : s->deepest;
	s->in.at += 2;
	return true;
}

static inline bool end(struct zts_scan_run *run, struct state *s, bool growing)
{
	if (s->r < s->lowest || zts_is_given(&s->r->numbers, ZTS_TIMESTAMP))
		return false;
	if (growing) {
		struct zts_tree *t = run->growing->tree;
		struct zts_call *call = &t->calls[run->growing->open];
		zts_numbers_to_call(&s->r->numbers, call);
		call->end = t->n;
		run->growing->open = call->parent;
	}
	s->r--;
	s->in.at++;
	return true;
}

/* How many records may be open in a run. */
static size_t most_open(const struct zts_scan_run *run)
{
	const struct zts_records *r = run->reader;
	size_t deeper = (r->cbor.limit - r->cbor.depth) / 2; /* records below those it knows of */
	size_t most = r->n_told + deeper;
	most = most < PM_LIMIT_CALL_DEPTH ? most : PM_LIMIT_CALL_DEPTH;
	return most < run->room ? most : run->room;
}

/* By value, so that the compiler keeps the state in registers. */
static inline struct state take(struct zts_scan_run *run, struct state s, bool growing)
{
	const uint8_t *p;
	bool taken = true;
	while (taken && (p = pm_cur_peek(&s.in, ZTS_QUICK_BYTES))) {
		uint32_t head = pm_le32(p);
		if ((head & HEADS) == NUMBER_HEADS)
			taken = take_number(run, &s, p, head);
		else if ((head & HEADS) == RECORD_HEADS)
			taken = begin(run, &s, growing);
		else
			taken = (head & 0xff) == ZTS_HEAD_BREAK && end(run, &s, growing);
	}
	return s;
}

bool zts_scan_run(struct zts_scan_run *run)
{
	struct zts_records *r = run->reader;
	bool known = r->n > r->n_told || r->cbor.depth == zts_inner_level(r);
	if (!known || r->n == 0 || r->info_left > 0)
		return true;
	struct zts_open_record *inner = &run->open[r->n - 1];
	struct state s = {.in = r->cbor.in,
		.r = inner,
		.deepest = inner,
		.lowest = &run->open[r->n_told > 1 ? r->n_told : 1],
		.beyond = &run->open[most_open(run)]};
	size_t stop = s.in.at + BETWEEN_QUESTIONS;
	s.in.b.len = s.in.b.len < stop ? s.in.b.len : stop;
	s = run->growing ? take(run, s, true) : take(run, s, false);
	uint32_t told = (uint32_t)r->n_told, deepest = (uint32_t)(s.deepest - run->open) + 1;
	uint32_t depth = r->cbor.depth + 2 * (deepest - told);
	r->cbor.deepest = depth > r->cbor.deepest ? depth : r->cbor.deepest;
	r->cbor.in.at = s.in.at;
	r->n = (size_t)(s.r - run->open) + 1;
	return s.in.at + ZTS_QUICK_BYTES <= stop || !pm_work_cancelled();
}
