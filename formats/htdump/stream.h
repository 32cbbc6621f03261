/*
 * A stream after its scan: const, and readable from any event on.
 *
 * No events are kept. An index has the offset of every HTD_CHUNKth event, so event `seq` is found
 * by walking less than a chunk; damaged ranges and changes of byte order are in separate lists.
 */
#ifndef PROFMOUNT_HTDUMP_STREAM_H
#define PROFMOUNT_HTDUMP_STREAM_H

#include "formats/common/damage.h"
#include "formats/common/watch.h"
#include "formats/htdump/late.h"
#include "formats/htdump/records.h"
#include "profmount/format.h"

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
	struct pm_arena texts; /* names and labels */
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
 * Fills `s` except bytes and dialect, which the caller has set; free with htd_stream_done, even
 * after a failure. -ENOMEM; -ENOTSUP if the stream is too long.
 */
int htd_stream_scan(struct htd_stream *s, const char *file, struct pm_damage_list *damage,
	struct pm_error *err);

/*
 * Whether two threads have calls in the first `most` bytes: 1, or 0 if this is the whole stream;
 * -EAGAIN if it is not known; -ENOMEM. Stops at the second thread.
 */
int htd_stream_has_threads(struct pm_bytes bytes, const struct htd_dialect *dialect, uint64_t most);

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
