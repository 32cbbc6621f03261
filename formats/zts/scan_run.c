/*
 * Most of a payload consists of plain calls. A run of them is taken in one loop, which recognises
 * them by their first bytes and has its state in registers. Whatever is not usual, is invalid, or
 * can fail ends the run: only zts_records_next decides on it.
 */
#include "formats/zts/scan_run.h"

#include "formats/common/work.h"
#include "formats/zts/records_next.h"

enum { BETWEEN_QUESTIONS = 1 << 20 }; /* bytes */

/* Copies of what changes with each record, and what does not. */
struct state {
	struct pm_cur in;
	size_t n;    /* open records */
	size_t told; /* of them, those that the CBOR reader knows of */
	size_t most; /* that may be open */
	size_t deepest;
};

static inline bool take_number(struct zts_scan_run *run, struct state *s, const uint8_t *p)
{
	uint8_t key = p[2], low = p[3];
	if (p[1] != ZTS_HEAD_LONE_PAIR || key >= ZTS_KEYS || low > ZTS_EIGHT_BYTES)
		return false;
	size_t more = low > ZTS_SMALL_MOST ? (size_t)1 << (low - ZTS_SMALL_MOST - 1) : 0;
	uint64_t value = more ? pm_be64(p + 4) >> (64 - 8 * more) : low;
	if (zts_wrong_info(key, value))
		return false;
	zts_open_number(run, &run->open[s->n - 1], key, value);
	s->in.at += 4 + more;
	return true;
}

static inline bool begin(struct zts_scan_run *run, struct state *s, const uint8_t *p)
{
	if (p[1] != ZTS_HEAD_INDEF || s->n >= s->most)
		return false;
	if (run->growing) {
		struct zts_tree *t = run->growing->tree;
		const struct zts_record_event e = {.at = s->in.at};
		if (t->n >= t->room || t->n >= PM_LIMIT_TRACE_CALLS)
			return false;
		zts_growing_init_call(&t->calls[t->n], run->growing, &e);
		run->growing->open = t->n++;
	}
	zts_open_begin(run, s->n, (uint32_t)s->in.at);
	s->n++;
	s->deepest = s->n > s->deepest ? s->n : s->deepest;
	s->in.at += 2;
	return true;
}

static inline bool end(struct zts_scan_run *run, struct state *s)
{
	const struct zts_open_record *r = &run->open[s->n - 1];
	if (s->n == 1 || s->n == s->told || zts_is_given(&r->numbers, ZTS_TIMESTAMP))
		return false;
	if (run->growing) {
		struct zts_tree *t = run->growing->tree;
		struct zts_call *call = &t->calls[run->growing->open];
		zts_numbers_to_call(&r->numbers, call);
		call->end = t->n;
		run->growing->open = call->parent;
	}
	s->n--;
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

bool zts_scan_run(struct zts_scan_run *run)
{
	struct zts_records *r = run->reader;
	bool known = r->n > r->n_told || r->cbor.depth == zts_inner_level(r);
	struct state s = {.in = r->cbor.in,
		.n = r->n,
		.told = r->n_told,
		.most = most_open(run),
		.deepest = r->n};
	const uint8_t *p;
	size_t stop = s.in.at + BETWEEN_QUESTIONS;
	bool taken = known && r->n > 0 && r->info_left == 0;
	while (taken && s.in.at < stop && (p = pm_cur_peek(&s.in, ZTS_QUICK_BYTES))) {
		if (p[0] == ZTS_HEAD_INFO)
			taken = take_number(run, &s, p);
		else if (p[0] == ZTS_HEAD_RECORD)
			taken = begin(run, &s, p);
		else
			taken = p[0] == ZTS_HEAD_BREAK && end(run, &s);
	}
	uint32_t depth = r->cbor.depth + 2 * (uint32_t)(s.deepest - r->n_told);
	r->cbor.deepest = depth > r->cbor.deepest ? depth : r->cbor.deepest;
	r->cbor.in.at = s.in.at;
	r->n = s.n;
	return s.in.at < stop || !pm_work_cancelled();
}
