/*
 * Chrome's trace events (docs/formats/traceevents.md): shared by the files of this folder.
 *
 *	event.c    one event: JSON → its fields
 *	nest.c     calls of a thread → lanes on which they nest; begins and ends → calls
 *	threads.c  processes and threads by their ids
 *	read.c     a file → functions, threads, calls, begins and ends
 *	place.c    these → threads with lanes, contexts, costs, traces
 *	counters.c numbers over time
 *	raw.c      events as they are stored
 *	values.c   numbers of calls that are quantities (-o values)
 *	sampled.c  CPU profiles of V8 among the events
 *	stacks.c   samples beside the events
 *	gpu.c      tables of what GPUs did
 *	format.c   recognises it
 */
#ifndef PROFMOUNT_TRACEEVENTS_H
#define PROFMOUNT_TRACEEVENTS_H

#include "formats/builder/builder.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "profmount/limits.h"

#define TEV_NO_NUMBER INT64_MIN

/* ---- event.c ---- */

/* A pid, a tid: a number, or any text. */
struct tev_id {
	bool is_text;
	bool is_absent;
	int64_t number;
	struct pm_bytes text; /* as it is in the file */
	bool escaped;
};

struct tev_event {
	char phase; /* 0: none, or not of one character */
	bool is_empty;
	bool is_exact;   /* ts and dur are whole nanoseconds */
	bool has_more;   /* than the members below */
	int64_t ts, dur; /* ns; TEV_NO_NUMBER: absent, or no number in 63 bits */
	struct tev_id pid, tid;
	struct pm_scan_value name, cat, scope, args; /* PM_SCAN_NOTHING: absent */
	struct pm_scan_value id, local_id;           /* id or id2.global; id2.local */
	uint64_t at;                                 /* in the text */
	struct pm_bytes text;                        /* all of it */
};

/* Whether a member of an event is one that struct tev_event has. */
bool tev_is_field(struct pm_bytes key);

/*
 * Reads the object that is next in the scanner; its values are valid until it moves on. False if
 * the text is cut or broken in it, or it is too long.
 */
bool tev_event_read(struct pm_scan *s, struct tev_event *ret);

/* The value of a key of an object; PM_SCAN_NOTHING if it has none. The last of equal keys. */
struct pm_scan_value tev_member(const struct pm_scan_value *object, const char *key);

/* ---- nest.c ---- */

/* 24 bytes, as there are millions. */
struct tev_call {
	int64_t ts;
	uint32_t dur;      /* ns; TEV_WIDE: see struct tev_wide */
	uint32_t function; /* later the context */
	uint32_t thread;   /* or async key; later what its children take, in ns */
	uint32_t seq;      /* of its event, or of its begin */
};

#define TEV_WIDE UINT32_MAX

/* Of calls that are long, or were begun and ended by two events. */
struct tev_wide {
	int64_t dur, below;
	uint32_t end_seq; /* PM_NONE: one event */
};

struct tev_calls {
	struct pm_arena *arena, *scratch; /* of calls; of what a function below needs meanwhile */
	struct tev_call *items;
	size_t n, room;
	struct tev_wide *wide;
	size_t n_wide, wide_room;
	struct pm_map wide_of; /* index in `wide` by call */
};

/* What follows fails the build of that arena (formats/common/arena.h). */
struct tev_calls tev_calls_in(struct pm_arena *a);

/* end_seq: PM_NONE of calls of one event. */
void tev_calls_add(struct tev_calls *c, const struct tev_call *call, int64_t dur, uint32_t end_seq);

int64_t tev_call_dur(const struct tev_calls *c, uint32_t i);

/* The event that ended it, PM_NONE if it is of one event. */
uint32_t tev_call_end_seq(const struct tev_calls *c, uint32_t i);

/* What the children of a call take; adding to it. */
int64_t tev_call_below(const struct tev_calls *c, uint32_t i);
void tev_call_add_below(struct tev_calls *c, uint32_t i, int64_t ns);

/*
 * Sorts calls, by their indexes, so that a call is behind those that it can nest in: by start,
 * longer ones first, then in file order; calls of two events keep their order among themselves.
 */
void tev_sort(const struct tev_calls *c, uint32_t *order, size_t n);

/*
 * Gives each call, in that order, a lane from 0 and the call that it nests in, or PM_NONE. A call
 * of one event may end up to `tolerance` after its parent. TEV_NO_LANE: more calls overlap than
 * there may be lanes.
 */
#define TEV_NO_LANE UINT32_MAX
void tev_nest(const struct tev_calls *c, const uint32_t *order, size_t n, int64_t tolerance,
	void (*place)(void *context, uint32_t call, uint32_t parent, uint32_t lane), void *context);

/* A begin or an end. */
struct tev_mark {
	int64_t ts;
	uint32_t function; /* of an end: of the same name, PM_NONE if it has none */
	uint32_t name;     /* PM_NONE: an end without one */
	uint32_t thread;   /* of the event */
	uint32_t key;      /* async: of the calls that it belongs to */
	uint32_t seq;
	bool ends;
};

struct tev_paired {
	uint64_t n_unbegun, n_unended;
};

/*
 * Makes calls of the marks of one thread or async key, which it sorts by time. Those that never end
 * last until `last`. Calls get the thread of their begin.
 */
void tev_pair(struct tev_mark *marks, size_t n, int64_t last, struct tev_calls *calls,
	struct tev_paired *ret);

/* ---- raw.c ---- */

/* The file as it is read again. Lives as long as the profile. */
struct tev_raw {
	struct pm_bytes bytes;
	struct tev_spot {
		uint64_t offset, seq; /* in the text, of the event that comes next there */
	} * spots; /* ascending: of every 4096th event, and the first of a list */
	size_t n_spots;
	uint64_t n_events;
	int64_t origin;
	bool lines;
};

/* The tables that the file has events for: `ends[phase]` is how many there are up to its last one.
 */
void tev_raw_add(struct pm_recording *r, const struct tev_raw *raw, const uint32_t ends[128]);

/* ---- read.c ---- */

/* A function of some events: equal texts may be written in several ways. */
struct tev_function {
	struct pm_bytes name, cat, file; /* the recording's */
	struct pm_bytes raw_name, raw_cat;
	uint32_t name_id, plain, recorded;
	bool is_gpu, is_annotation, is_launch, is_total, is_compiler, has_detail;
};

struct tev_process {
	bool is_text, is_comment; /* comments of the writer: Kineto's Spans, Traces */
	bool has_calls;           /* on threads or async lanes */
	int64_t pid;
	struct pm_bytes text, name;
	int64_t last;
	int64_t number; /* of its directory, once threads are numbered */
};

struct tev_thread {
	bool is_text;
	int64_t tid;
	struct pm_bytes text, name;
	uint32_t process;
	int64_t last; /* the latest time of an event; TEV_NO_NUMBER: none */
	uint32_t first_call;
	size_t n_calls;
	uint32_t n_sampled;    /* profiles of it */
	int64_t number;        /* as of its process */
	struct pm_bytes shown; /* as the directory is called, once a table needs it */
};

/* A call on a GPU, or one that launches it: both have the same correlation. */
struct tev_link {
	int64_t correlation;
	uint32_t call;
	bool is_gpu;
};

struct tev_problem {
	uint64_t n, at; /* how many, and where the first one is */
};

/* While it is read: a build in its arena, which has all that is not the recording's. */
struct tev_reading {
	struct pm_arena arena;
	struct pm_recording *r;
	struct pm_error *err;
	struct pm_scan s;
	struct pm_text scratch, key;
	uint32_t n_events;
	struct tev_spot *spots;
	size_t n_spots, spot_room;
	uint32_t phase_end[128]; /* events up to the last one of a phase */
	bool lines;

	struct tev_function *functions;
	size_t n_functions, function_room;
	struct pm_strtab function_keys, names;
	uint32_t *recent; /* functions that are found without composing their key, + 1 */

	struct tev_process *processes;
	size_t n_processes, process_room;
	struct tev_thread *threads;
	size_t n_threads, thread_room;
	struct pm_map numbered; /* threads by pid and tid of 32 bits */
	struct pm_strtab thread_keys, process_keys, async_keys;
	uint32_t *key_threads;
	size_t key_thread_room;

	struct pm_strtab counter_keys;
	struct tev_counter **counters;
	struct tev_number *numbers;
	size_t n_counters, counter_room, n_numbers, number_room;
	uint64_t n_columnless; /* numbers that no column is for */

	struct tev_values *values; /* of values.c; NULL: none are asked for */

	struct tev_calls calls;
	struct tev_link *links;
	size_t n_links, link_room;
	struct tev_mark *marks, *async;
	size_t n_marks, mark_room, n_async, async_room;

	bool is_clang, has_fractions;
	int64_t origin, total_origin; /* the least time, of others than totals and of these */
	int64_t base;                 /* of times since 1970, TEV_NO_NUMBER: none */
	bool at_end;                  /* reading events ended where another one could have begun */
	bool is_full;                 /* there are more events than can be numbered */
	uint64_t n_comments;
	struct pm_strtab sampled_keys;
	struct tev_sampled *sampled; /* of sampled.c */
	size_t n_sampled, sampled_room;

	struct pm_strtab frame_keys;
	struct tev_frame *frames; /* of stacks.c, by key */
	struct tev_stack *stacks;
	size_t n_frames, frame_room, n_stacks, stack_room;

	struct tev_problem no_event, no_ts, no_dur, crowded, too_long;
	struct tev_paired paired;

	uint32_t time, gpu, async_time, sampled_time, n_calls; /* quantities */
	bool has_lanes, has_gpu;
};

static inline void tev_note(struct tev_problem *p, uint64_t at)
{
	if (p->n++ == 0)
		p->at = at;
}

int tev_read(struct pm_recording *r, struct pm_error *err);

/* ---- threads.c ---- */

/* The thread of an event: no pid is 0, no tid is the pid. */
uint32_t tev_thread_of(struct tev_reading *t, const struct tev_event *e);

/* ---- counters.c ---- */

/* Keeps the numbers of a counter's event; then tells the recording of all of them. */
void tev_count(struct tev_reading *t, const struct tev_event *e, uint32_t process);
void tev_counter_series(struct tev_reading *t);

/* ---- values.c ---- */

/*
 * What -o values asks for, before anything is read; NULL: nothing. Then the numbers of each event;
 * their quantities; and what a call costs in them.
 */
struct tev_values *tev_values_new(struct tev_reading *t);
void tev_values_take(struct tev_reading *t, const struct tev_event *e);
void tev_values_quantities(struct tev_reading *t);
void tev_values_add(struct tev_reading *t, const struct tev_calls *calls, uint32_t call,
	uint32_t thread, uint32_t context);

/* Fails if no event has one of the fields: says which there are. */
void tev_values_check(struct tev_reading *t);

/* ---- sampled.c ---- */

/* Whether an event is a part of a profile; takes it; whether there are samples, with times. */
bool tev_is_sampled(const struct tev_event *e);
void tev_sampled_take(struct tev_reading *t, const struct tev_event *e, uint32_t thread);
bool tev_sampled_has(const struct tev_reading *t);

/* Tells the recording of them, after all calls; `only`: there are none. */
void tev_sampled_place(struct tev_reading *t, bool only);

/* A profile of a thread, to be filled. */
struct pm_v8 *tev_sampled_new(struct tev_reading *t, uint32_t thread);

/* ---- stacks.c ---- */

/* Read the value of `stackFrames`, and of `samples`; then, at the end, they become profiles. */
void tev_stack_frames(struct tev_reading *t);
void tev_stack_samples(struct tev_reading *t);
void tev_stacks_end(struct tev_reading *t);

/* ---- gpu.c ---- */

/* Before calls are placed; then of each thread, whose calls are in order; then the table. */
void tev_launches(struct tev_reading *t);

/* ---- place.c ---- */

/* Tells the recording of what was read. */
void tev_place(struct tev_reading *t);

#endif
