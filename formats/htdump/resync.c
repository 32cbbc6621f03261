/*
 * Finds the next valid event after damage. Headers have no marker, but they are unlikely to occur
 * by chance: a known class, an id and a timestamp close to those before the damage, for a call also
 * a close end, and another such header after the event. A new dump that was appended to a broken
 * one is recognised by its byte order event and the class description after it.
 *
 * If the program paused after the damage, nothing is close to the events before it. Then
 * consecutive events that are close to each other are accepted, unless there is a better candidate
 * shortly after.
 */
#include "formats/htdump/scan.h"

#define NEAR_ID 10000000u
#define NEAR_NS (3600u * UINT64_C(1000000000))

enum { CHAIN = 8, LAST_CHAIN = 3 /* of events at the end of the stream */, CLOSELY = 4096 };

static bool near(uint64_t a, uint64_t b, uint64_t distance)
{
	return (a < b ? b - a : a - b) <= distance;
}

static bool is_near(const struct htd_scan *c, const struct htd_header *h)
{
	unsigned n = c->n_trusted < HTD_TRUSTED ? c->n_trusted : HTD_TRUSTED;
	for (unsigned i = 0; i < n; i++)
		if (near(h->id, c->trusted[i].id, NEAR_ID) &&
			near(h->timestamp, c->trusted[i].timestamp, NEAR_NS))
			return true;
	return false;
}

static bool is_near_time(const struct htd_scan *c, uint64_t timestamp)
{
	unsigned n = c->n_trusted < HTD_TRUSTED ? c->n_trusted : HTD_TRUSTED;
	for (unsigned i = 0; i < n; i++)
		if (near(timestamp, c->trusted[i].timestamp, NEAR_NS))
			return true;
	return near(timestamp, c->s->last, NEAR_NS);
}

bool htd_ends_near(const struct htd_scan *c, const struct htd_event *e)
{
	uint64_t duration, thread, end;
	if (c->n_trusted == 0 || !htd_event_call(e, &duration, &thread))
		return true;
	return !__builtin_add_overflow(e->header.timestamp, duration, &end) && is_near_time(c, end);
}

/* Cheap enough for every byte of a damaged range: most fail at the class. */
static bool may_begin(const struct htd_scan *c, uint64_t at)
{
	const struct htd_stream *s = c->s;
	struct htd_header h;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &h) ||
		!htd_table_slot(&s->table, h.klass_id))
		return false;
	return h.klass_id == s->dialect.ids.endianness ? h.timestamp == 0 && h.id == 0
						       : (h.timestamp || h.id) && is_near(c, &h);
}

/* What follows: the end, a truncated header, a close one, or a core event without a time. */
static bool goes_on(struct htd_scan *c, uint64_t at)
{
	const struct htd_stream *s = c->s;
	struct htd_header h;
	struct htd_event e;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &h))
		return true;
	if (h.timestamp || h.id)
		return is_near(c, &h);
	return htd_scan_read(c, at, &e) &&
		(e.plan->role == HTD_ROLE_ENDIANNESS || e.plan->role == HTD_ROLE_SYSTEM);
}

static bool is_sound(struct htd_scan *c, uint64_t at)
{
	struct htd_event e;
	if (!may_begin(c, at) || !htd_scan_read(c, at, &e))
		return false;
	return e.plan->role == HTD_ROLE_ENDIANNESS ||
		(htd_ends_near(c, &e) && goes_on(c, at + e.bytes.len));
}

/* The header of an event with a time and a known class. */
static bool dated_header(const struct htd_scan *c, uint64_t at, struct htd_header *ret)
{
	const struct htd_stream *s = c->s;
	return htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, ret) &&
		ret->timestamp && ret->klass_id != s->dialect.ids.endianness &&
		htd_table_slot(&s->table, ret->klass_id);
}

/*
 * Whether events that are close to each other begin here. Their ids must differ: if fields of
 * similar events are mistaken for headers, the ids are equal.
 */
static bool is_chain(struct htd_scan *c, uint64_t at)
{
	struct htd_header h, next;
	struct htd_event e;
	if (!dated_header(c, at, &h))
		return false;
	for (int n = 1; n < CHAIN; n++) {
		if (!htd_scan_read(c, at, &e))
			return false;
		at += e.bytes.len;
		if (at == c->s->bytes.len)
			return n >= LAST_CHAIN;
		if (!dated_header(c, at, &next) || h.id == next.id ||
			!near(h.id, next.id, NEAR_ID) ||
			!near(h.timestamp, next.timestamp, NEAR_NS))
			return false;
		h = next;
	}
	return htd_scan_read(c, at, &e);
}

uint64_t htd_resync(struct htd_scan *c, uint64_t from)
{
	uint64_t len = c->s->bytes.len, chain = len, until = len;
	for (uint64_t at = from; at < until && !c->no_memory; at++) {
		if (is_sound(c, at))
			return at;
		if (chain == len && is_chain(c, at)) {
			chain = at;
			until = len - at > CLOSELY ? at + CLOSELY : len;
		}
	}
	return chain;
}
