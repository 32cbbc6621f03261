/*
 * Events and their fields, and a stream of them after its scan: const, and readable from any event
 * on (docs/formats/htdump.md §events).
 */
#ifndef PROFMOUNT_HTDUMP_STREAM_H
#define PROFMOUNT_HTDUMP_STREAM_H

#include <errno.h>
#include <stdbool.h>

#include "formats/common/cursor.h"
#include "formats/common/damage.h"
#include "formats/common/list.h"
#include "formats/common/text.h"
#include "formats/common/watch.h"
#include "formats/htdump/klass.h"
#include "profmount/format.h"
#include "profmount/table.h"

/* ---- events: the bytes at one place of a stream (records.c) ---- */

enum { HTD_HEADER_SIZE = 0x14 };

struct htd_header {
	uint32_t klass_id;
	uint64_t timestamp, id;
};

struct htd_event {
	struct htd_header header;
	bool big;
	uint64_t at; /* in the stream */
	struct pm_bytes bytes;
	const struct htd_plan *plan;
};

/* A range known to contain no NUL, so that many overlapping searches take the time of one. */
struct htd_no_nul {
	uint64_t from, to;
};

/* The header at `event`, of HTD_HEADER_SIZE bytes. */
static inline void htd_header_load(
	const uint8_t *event, bool timestamp_first, bool big, struct htd_header *ret)
{
	const uint8_t *klass = event + (timestamp_first ? 0x10 : 0x00);
	const uint8_t *timestamp = event + (timestamp_first ? 0x00 : 0x04);
	const uint8_t *id = event + (timestamp_first ? 0x08 : 0x0c);
	*ret = (struct htd_header){
		.klass_id = big ? pm_be32(klass) : pm_le32(klass),
		.timestamp = big ? pm_be64(timestamp) : pm_le64(timestamp),
		.id = big ? pm_be64(id) : pm_le64(id),
	};
}

/* The header at `at`; false if it does not fit. */
static inline bool htd_header_read(
	struct pm_bytes stream, uint64_t at, bool timestamp_first, bool big, struct htd_header *ret)
{
	struct pm_bytes b;
	if (!pm_bytes_sub(stream, at, HTD_HEADER_SIZE, &b))
		return false;
	htd_header_load(b.p, timestamp_first, big, ret);
	return true;
}

/* htd_event_extent of a plan with strings. */
int htd_event_extent_texts(struct pm_bytes stream, uint64_t at, const struct htd_plan *plan,
	struct htd_no_nul *seen, struct pm_bytes *ret);

/*
 * The bytes of an event at `at` with this plan. -ENODATA if the stream ends within it, -E2BIG if a
 * string in it is longer than PM_LIMIT_STRING. `seen` may be NULL.
 */
static inline int htd_event_extent(struct pm_bytes stream, uint64_t at, const struct htd_plan *plan,
	struct htd_no_nul *seen, struct pm_bytes *ret)
{
	if (plan->n_texts)
		return htd_event_extent_texts(stream, at, plan, seen, ret);
	return pm_bytes_sub(stream, at, plan->head, ret) ? 0 : -ENODATA;
}

/* Field i as an integer, sign extended where it has one. 0 unless htd_is_integer. */
uint64_t htd_event_integer(const struct htd_event *e, uint32_t i);

/* Field i as a text. Empty unless it is HTD_KIND_TEXT. */
struct pm_bytes htd_event_text(const struct htd_event *e, uint32_t i);

/* Walks the fields in order, which is cheaper than getting each one. */
struct htd_fields {
	const struct htd_event *e;
	uint32_t i, strings;
	uint64_t base; /* end of the last string */
};

/* The next field's bytes, without a string's NUL; false after the last. */
bool htd_fields_next(struct htd_fields *w, const struct htd_flat **ret, struct pm_bytes *ret_bytes);

/* A scalar field as a cell, EMPTY for text and arrays. */
struct pm_cell htd_value_cell(const struct htd_flat *f, struct pm_bytes bytes, bool big);

/* Any field as text is appended: numbers, [1,2], 0x…; NaN and infinities as words. */
void htd_value_text(struct pm_text *out, const struct htd_flat *f, struct pm_bytes bytes, bool big);

/* The same of field i. */
void htd_event_show(struct pm_text *out, const struct htd_event *e, uint32_t i);
struct pm_cell htd_event_cell(const struct htd_event *e, uint32_t i);

/* As htd_event_call, of any plan. */
bool htd_event_call_any(const struct htd_event *e, uint64_t *ret_duration, uint64_t *ret_thread);

/* The data of a call with a quick plan, of which at least the head is at `event`. */
static inline void htd_call_load(const uint8_t *event, const struct htd_plan *p, bool big,
	uint64_t *ret_duration, uint64_t *ret_thread)
{
	const uint8_t *duration = event + p->duration_at, *thread = event + p->thread_at;
	*ret_duration = big ? pm_be64(duration) : pm_le64(duration);
	if (p->thread_size == 8)
		*ret_thread = big ? pm_be64(thread) : pm_le64(thread);
	else
		*ret_thread = big ? pm_be32(thread) : pm_le32(thread);
}

/* The data of a call; false if the event is not a call, or has a negative duration or thread. */
static inline bool htd_event_call(
	const struct htd_event *e, uint64_t *ret_duration, uint64_t *ret_thread)
{
	const struct htd_plan *p = e->plan;
	if (!p->quick || e->bytes.len < p->head)
		return htd_event_call_any(e, ret_duration, ret_thread);
	htd_call_load(e->bytes.p, p, e->big, ret_duration, ret_thread);
	return true;
}

/* The end of a call; UINT64_MAX if it is beyond 64 bits. */
static inline uint64_t htd_call_end(uint64_t start, uint64_t duration)
{
	uint64_t end;
	return __builtin_add_overflow(start, duration, &end) ? UINT64_MAX : end;
}

/* The label of a call, if it is an unsigned number of 4 or 8 bytes before all strings. */
static inline bool htd_event_label(const struct htd_event *e, uint64_t *ret)
{
	const struct htd_plan *p = e->plan;
	if (!p->label_size || e->bytes.len < p->head)
		return false;
	const uint8_t *label = e->bytes.p + p->label_at;
	if (p->label_size == 8)
		*ret = e->big ? pm_be64(label) : pm_le64(label);
	else
		*ret = e->big ? pm_be32(label) : pm_le32(label);
	return true;
}

/*
 * ---- late events of a kind ----
 * Those after a block of the stream with younger events. A block consists of as many runs as
 * certainly have at most HTD_CHUNK events. They are recorded during the scan, so that ordering
 * calls by time (order.c) needs no pass to find them.
 */

/* A position in time order. */
struct htd_key {
	uint64_t timestamp, id;
	htd_place place;
};

static inline int htd_key_compare(const struct htd_key *x, const struct htd_key *y)
{
	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

struct htd_late {
	struct htd_key before; /* the newest of the blocks before; place 0: there are none */
	struct htd_key newest; /* of all so far */
	uint32_t n;            /* events of the block */
	htd_place *places;     /* of late ones, in stream order while scanning */
	size_t n_places, room;
};

/* True where a run that begins now would begin another block of `n` events so far. */
static inline bool htd_block_is_full(uint32_t n)
{
	return n + HTD_RUN > HTD_CHUNK;
}

/* Adds the next event; `begins`: it begins a run. In a build. */
static inline void htd_late_note(
	struct pm_arena *a, struct htd_late *l, bool begins, const struct htd_key *key)
{
	if (begins && htd_block_is_full(l->n)) {
		l->before = l->newest;
		l->n = 0;
	}
	l->n++;
	if (htd_key_compare(key, &l->newest) > 0) {
		l->newest = *key;
		return;
	}
	if (!l->before.place || htd_key_compare(key, &l->before) > 0)
		return;
	pm_list_grow(a, &l->places, l->n_places, &l->room, sizeof(*l->places));
	l->places[l->n_places++] = key->place;
}

/*
 * ---- the scanned stream (scan.c, stream.c) ----
 * No events are kept. An index has the offset of every HTD_CHUNKth event, so event `seq` is found
 * by walking less than a chunk; damaged ranges and changes of byte order are in separate lists.
 */

/*
 * Maximum number of threads with calls; calls of further threads are not shown. A thread takes
 * about 1 KB.
 */
#define HTD_LIMIT_THREADS (1u << 18)

/* A range without readable events. */
struct htd_gap {
	uint64_t from, to;
};

/* From this offset on, this byte order. */
struct htd_turn {
	uint64_t from;
	bool big;
};

/* A number's label from this place of the stream on. */
struct htd_mapping {
	uint64_t number, at;
	struct pm_bytes label;
};

/* Calls with one thread_id. */
struct htd_thread {
	uint64_t number;
	struct htd_runs calls;
	struct htd_late late; /* its places are sorted by whoever builds the lane */
};

struct htd_stream {
	struct pm_bytes bytes;
	struct pm_watch *watch; /* watch of the file; NULL: the bytes never change */
	struct htd_dialect dialect;
	struct pm_arena arena; /* of what follows, names and labels */
	struct htd_table table;
	uint64_t *index; /* offsets of events 0, HTD_CHUNK … */
	size_t n_index, index_room;
	uint64_t n_events;
	uint64_t n_negative; /* of classes of calls, but with a negative duration or thread_id */
	struct htd_gap *gaps;
	size_t n_gaps, gap_room;
	struct htd_turn *turns; /* the first is at 0 */
	size_t n_turns, turn_room;
	struct htd_mapping *mappings; /* in stream order, without repetitions */
	size_t n_mappings, mapping_room;
	struct htd_thread *threads;
	size_t n_threads, thread_room;
	uint64_t origin, last; /* of the measured time; origin > last: no such event */
	uint64_t version;      /* of the library: three bytes 0xMMmmpp, UINT64_MAX = unknown */
};

/*
 * Fills `s` except bytes, watch and dialect, which the caller has set; free with htd_stream_done,
 * even after a failure. -ENOMEM; -ENOTSUP if the stream is too long.
 */
int htd_stream_scan(struct htd_stream *s, const char *file, struct pm_damage_list *damage,
	struct pm_error *err);

/*
 * Whether two threads have calls in the first `most` bytes: 1, or 0 if this is the whole stream;
 * -EAGAIN if it is not known; -ENOMEM. Stops at the second thread.
 */
int htd_stream_has_threads(struct pm_bytes bytes, const struct htd_dialect *dialect, uint64_t most);

/* What the caller has set remains. */
void htd_stream_done(struct htd_stream *s);

/* ---- reading ---- */

/* A walk over events in stream order. */
struct htd_walk {
	const struct htd_stream *s;
	uint64_t at, seq; /* of the next event */
	size_t gap, turn; /* the next ones */
	bool big;
	/* Events that end until here and have this class have this plan, which has no strings: */
	uint64_t until;
	uint32_t klass_id;
	uint32_t generation; /* of the watch, or else the bytes must be checked again */
	const struct htd_plan *plan;
};

/* Starts at event `seq`; beyond the last one the walk is at its end. O(HTD_CHUNK). */
void htd_walk_start(struct htd_walk *w, const struct htd_stream *s, uint64_t seq);

/*
 * Starts at an event with a known position; free if the walk (otherwise zeroed) is already there.
 * O(log n).
 */
void htd_walk_place(struct htd_walk *w, const struct htd_stream *s, htd_place place);

/* htd_walk_next of any event. */
bool htd_walk_next_any(struct htd_walk *w, struct htd_event *ret);

/* The next event; false at the end. */
static inline bool htd_walk_next(struct htd_walk *w, struct htd_event *ret)
{
	const struct htd_stream *s = w->s;
	const struct htd_plan *plan = w->plan;
	uint64_t at = w->at;
	if (at >= w->until || w->until - at < plan->head || w->seq >= s->n_events ||
		(s->watch && w->generation != pm_watch_generation(s->watch)))
		return htd_walk_next_any(w, ret);
	const uint8_t *p = s->bytes.p + at;
	htd_header_load(p, s->dialect.timestamp_first, w->big, &ret->header);
	if (ret->header.klass_id != w->klass_id)
		return htd_walk_next_any(w, ret);
	ret->big = w->big;
	ret->at = at;
	ret->bytes = (struct pm_bytes){p, plan->head};
	ret->plan = plan;
	w->at = at + plan->head;
	w->seq++;
	return true;
}

/* The event at a position; false if the input has changed. */
bool htd_stream_event(const struct htd_stream *s, htd_place place, struct htd_event *ret);

/* The event's number in the stream. O(log n). */
uint64_t htd_stream_seq(const struct htd_stream *s, htd_place place);

/* Events of one class version, or calls of one thread. */
struct htd_filter {
	const struct htd_runs *runs;
	bool calls;
	uint64_t what; /* thread number, or class version */
};

static inline bool htd_filter_match(const struct htd_filter *f, const struct htd_event *e)
{
	uint64_t duration, thread;
	if (!f->calls)
		return e->plan->klass == f->what;
	return htd_event_call(e, &duration, &thread) && thread == f->what;
}

/* A walk over the filter's events in stream order. */
struct htd_picker {
	struct htd_filter filter;
	size_t run;    /* the next one */
	uint32_t left; /* events in the current run */
	uint64_t from; /* events before this one are skipped */
	struct htd_walk walk;
};

/* Starts at the first such event at or after event `seq`. O(log n). */
void htd_picker_start(struct htd_picker *p, const struct htd_stream *s,
	const struct htd_filter *filter, uint64_t seq);

/* The next event and its number in the stream; false at the end. */
bool htd_picker_next(struct htd_picker *p, struct htd_event *ret, uint64_t *ret_seq);

#endif
